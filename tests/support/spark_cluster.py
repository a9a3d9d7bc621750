"""What the tests of Spark share; run as a program, a job on two executors, one of which is killed in the middle.

Arguments of the program: the inputs' directory, the output, the model.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="no PySpark: pip install -e '.[spark]'")
pytest.importorskip("pebble")
pytest.importorskip("fastwarc")
pytest.importorskip("pyarrow")

if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
    pytest.skip("no Java here, which Spark needs", allow_module_level=True)

from victorpy.batch import spark
from victorpy.batch.local.run import run_plan
from victorpy.batch.plan import Limits, Plan
from victorpy.methods import Method

LIMITS = Limits(deadline=5.0, memory=300_000_000)
EXECUTOR = b"CoarseGrainedExecutorBackend"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # short-lived processes do not benefit from optimising compilation
SMALL = {
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.ui.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
}
"""Settings for little work, which takes less time than planning and compiling it well."""


class InterruptedRunError(Exception):
    pass


def quiet(words):
    pass


def stop_after(count):
    """Return a message function that stops the run after this many messages."""
    messages = []

    def say(words):
        messages.append(words)
        if len(messages) > count:
            raise InterruptedRunError

    return say


def run_locally(inputs, directory, **options):
    """Write the local run's JSON lines in one part; return them and the summary."""
    plan = Plan(tuple(inputs), directory, "jsonl", shard_records=100_000, **options)
    summary = run_plan(plan, io.StringIO(), quiet=True)
    return (directory / "part-00000.jsonl").read_bytes(), summary


def lines_of(directory):
    """The lines of all shards."""
    return b"".join(path.read_bytes() for path in sorted(Path(directory).glob("*/part-*")))


def processes():
    """All visible processes: number, parent and command."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            yield int(place.name), parent, (place / "cmdline").read_bytes()
        except OSError:
            continue


def descendants(ancestor, seen):
    children = [number for number, parent, _ in seen if parent == ancestor]
    return children + [number for child in children for number in descendants(child, seen)]


def kill_one_when_busy(killed):
    """Kill one of our executors as soon as it has started to clean."""
    while True:
        seen = list(processes())
        ours = set(descendants(os.getpid(), seen))
        for executor, _, command in seen:
            if executor in ours and EXECUTOR in command:
                below = descendants(executor, seen)
                if any(b"forkserver" in command for number, _, command in seen if number in below):
                    time.sleep(1)
                    os.kill(executor, signal.SIGKILL)
                    killed.append(executor)
                    return
        time.sleep(0.1)


def main(inputs, output, model):
    path = os.environ["PYTHONPATH"]
    started = spark.session("local-cluster[2,1,1024]", **{**SMALL, "spark.executorEnv.PYTHONPATH": path})
    plan = Plan((inputs,), output, "jsonl", method=Method(model=model, allow_code=True), limits=LIMITS)
    killed = []
    threading.Thread(target=kill_one_when_busy, args=(killed,), daemon=True).start()
    try:
        summary = spark.run_plan(started, plan, print)
    finally:
        started.stop()
    print("killed", len(killed), "pages", summary["pages"])


if __name__ == "__main__":
    main(*sys.argv[1:])
