"""Shared fixtures: the shipped configs by the way they cut pages, and a Spark session."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Threads of parallel workers wait for each other in busy loops. Libraries read these variables when they are imported.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from victorpy import Config, load_config  # noqa: E402

# A suite started in the background ignores SIGINT, and so would the programs that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Use the same examples in every run, and allow the time that a busy machine needs.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


LONGEST = ("spark", "processes", "browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the files that take longest, so that parallel workers finish at about the same time."""
    for marker in reversed(LONGEST):
        items.sort(key=lambda item: item.get_closest_marker(marker) is None)


def pytest_runtest_teardown() -> None:
    """Undo what commands do: after one that ran in this process, writing to a closed pipe would end the process."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


@pytest.fixture(scope="session")
def cleaneval_config() -> Config:
    """The thesis's configuration: every tag cuts."""
    return load_config("cleaneval")


@pytest.fixture(scope="session")
def default_config() -> Config:
    """The bundled model's configuration: block-level tags cut."""
    return load_config("default")


@pytest.fixture(scope="session", params=["cleaneval", "default"])
def config(request: pytest.FixtureRequest) -> Config:
    """Each of the shipped configs, for properties that do not depend on how a page is cut."""
    return load_config(request.param)


@pytest.fixture(scope="module")
def session():
    """A real session; its Python processes find victorpy and what the tests share."""
    from support.spark_cluster import SMALL

    from victorpy import spark

    here = Path(__file__).parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{here.parent}{os.pathsep}{here}")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        started = spark.session("local[2]", **SMALL)
        started.sparkContext.setLogLevel("ERROR")
        yield started
        started.stop()
