"""A program for a test: a job on two executors, each a process of its own, one of which is killed in the middle.

Arguments: the inputs' directory, the output, the model. It is no test by itself.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

from victorpy.batch import spark
from victorpy.batch.choice import Choice
from victorpy.batch.guard import Limits

LIMITS = Limits(deadline=1.5, memory=300_000_000)
EXECUTOR = b"CoarseGrainedExecutorBackend"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # what lives for seconds need not be compiled well
SMALL = {
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.ui.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
}
"""Settings for little work: planning and compiling it well would take longer than doing it."""


def processes():
    """All processes that can be seen: number, parent and command."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            yield int(place.name), parent, (place / "cmdline").read_bytes()
        except OSError:
            continue


def descendants(ancestor, seen):
    children = [number for number, parent, _ in seen if parent == ancestor]
    return children + [each for child in children for each in descendants(child, seen)]


def kill_one_when_busy(found):
    """Kill an executor of ours as soon as it has started to clean."""
    while True:
        seen = list(processes())
        ours = set(descendants(os.getpid(), seen))
        for executor, _, command in seen:
            if executor in ours and EXECUTOR in command:
                below = descendants(executor, seen)
                if any(b"forkserver" in command for number, _, command in seen if number in below):
                    time.sleep(1)
                    os.kill(executor, signal.SIGKILL)
                    found.append(executor)
                    return
        time.sleep(0.1)


def main(inputs, output, model):
    path = os.environ["PYTHONPATH"]
    started = spark.session("local-cluster[2,1,1024]", **{**SMALL, "spark.executorEnv.PYTHONPATH": path})
    cleaning = spark.Cleaning(Choice(model=model), limits=LIMITS)
    killed = []
    threading.Thread(target=kill_one_when_busy, args=(killed,), daemon=True).start()
    try:
        summary = spark.run_spark_job(started, spark.SparkJob((inputs,), output, "jsonl", cleaning), print)
    finally:
        started.stop()
    print("killed", len(killed), "pages", summary["pages"])


if __name__ == "__main__":
    main(*sys.argv[1:])
