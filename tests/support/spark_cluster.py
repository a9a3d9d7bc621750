"""What the tests of Spark share; run as a program, a resumed job on two executors, one of which is killed.

Arguments of the program: the inputs' directory, the output, the model, and ``local-cluster`` or ``standalone``.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="no PySpark: pip install -e '.[spark]'")
pytest.importorskip("fastwarc")
pytest.importorskip("pyarrow")

if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
    pytest.skip("no Java here, which Spark needs", allow_module_level=True)

import pyspark

from victorpy import spark
from victorpy.batch.local.run import run_plan
from victorpy.batch.plan import Limits, Plan
from victorpy.methods import Method
from victorpy.spark import driver

driver.PROGRESS_SECONDS = 10_000  # tests count the messages
LIMITS = Limits(deadline=1.0, memory=300_000_000)
POISON = {3: "RAISES", 5: "HANGS", 20: "CRASHES", 33: "EATS"}  # by the numbers of pages
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
"""Settings for small jobs, in which planning and compiling would take longer than the work itself."""


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
    return (directory / "part-0000000.jsonl").read_bytes(), summary


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


@contextmanager
def standalone_cluster():
    """Start a master and a worker for two executors, all in processes of their own. Return the master's address."""
    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    directory = str(Path("spark-work").resolve())
    worker = ["worker.Worker", master, "--cores", "2", "--memory", "1g", "--work-dir", directory]
    commands = [["master.Master", "--port", str(port)], worker]
    processes = []
    try:
        for name, *options in commands:
            command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *options]
            variables = {**os.environ, "SPARK_HOME": str(home), "SPARK_DAEMON_JAVA_OPTS": QUICK}
            processes.append(subprocess.Popen([*command, "--host", "127.0.0.1", "--webui-port", "0"], env=variables))
        yield master
    finally:
        for process in processes:
            process.terminate()
            process.wait()


@contextmanager
def local_cluster():
    """Return the address of a cluster inside the driver; only its executors are separate processes."""
    yield "local-cluster[2,1,1024]"


def main(inputs, output, model, kind):
    settings = {**SMALL, "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"]}
    settings |= {"spark.executor.memory": "512m", "spark.executor.cores": "1"}
    method = Method(model=model, allow_code=True)
    plan = Plan((inputs,), output, "jsonl", method=method, limits=LIMITS, shard_files=2)
    killed = []
    with standalone_cluster() if kind == "standalone" else local_cluster() as master:
        started = spark.session(master, **settings)
        try:
            with suppress(InterruptedRunError):
                spark.run_plan(started, plan, stop_after(0))
            threading.Thread(target=kill_one_when_busy, args=(killed,), daemon=True).start()
            summary = spark.run_plan(started, plan, print)
        finally:
            started.stop()
    print("killed", len(killed), "pages", summary["pages"], "of them now", summary["pages-now"])


if __name__ == "__main__":
    main(*sys.argv[1:])
