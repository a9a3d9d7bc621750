"""Spark jobs on clusters of separate processes, with bad pages and a killed executor, give the lines of local runs.

The tests of a file run in one worker, and these take long, so they have a file of their own.
"""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.batchpages import crawl, poison_model
from support.commands import ENVIRONMENT, ROOT
from support.spark_cluster import LIMITS, POISON, lines_of, run_locally

from victorpy.methods import Method

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return poison_model(tmp_path_factory.mktemp("poison"))


@pytest.fixture(scope="module")
def poisoned(model, tmp_path_factory):
    """A directory with archives in `in`, and the lines of the local run."""
    place = tmp_path_factory.mktemp("poisoned")
    for number, poison in enumerate(POISON.values()):
        crawl(place / "in" / f"{number}.warc.gz", 5, {1: poison})
    with contextlib.chdir(place):
        method = Method(model=str(model), allow_code=True)
        return place, run_locally(["in"], Path("local"), method=method, limits=LIMITS)[0]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="executors are found in /proc")
@pytest.mark.parametrize("cluster", ["local-cluster", "standalone"])
def test_resumed_job_with_bad_pages_and_a_killed_executor_gives_lines_of_the_local_run(cluster, poisoned, model):
    place, expected = poisoned
    program = [sys.executable, ROOT / "tests" / "support" / "spark_cluster.py", "in", cluster, model, cluster]
    variables = {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    ended = subprocess.run(
        program,
        check=False,
        capture_output=True,
        timeout=900,
        env={**ENVIRONMENT, **variables},
        cwd=place,
        text=True,
    )
    assert ended.stdout.splitlines()[-1:] == ["killed 1 pages 20 of them now 10"], ended.stderr[-3000:]
    assert lines_of(place / cluster) == expected
