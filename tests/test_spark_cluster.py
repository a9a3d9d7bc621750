"""Spark with executors that are processes of their own: one is killed in the middle, and nothing changes."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from batchpages import ENVIRONMENT, ROOT, crawl, poison_model

from victorpy.batch.choice import Choice
from victorpy.batch.run import Job, run_job

pytest.importorskip("pyspark", reason="no PySpark: pip install 'victorpy[spark]'")
pytest.importorskip("pebble")
pytest.importorskip("fastwarc")

if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
    pytest.skip("no Java here, which Spark needs", allow_module_level=True)
if not Path("/proc/self/stat").exists():
    pytest.skip("no /proc to find executors in", allow_module_level=True)

from spark_cluster import LIMITS

TESTS = Path(__file__).parent


def test_an_executor_killed_in_the_middle_changes_nothing(tmp_path, monkeypatch):
    (tmp_path / "poison").mkdir()
    model = poison_model(tmp_path / "poison")
    for number in range(2):
        crawl(tmp_path / "in" / f"{number}.warc.gz", 20, {1: ("HANGS", "CRASHES")[number], 15: "RAISES"})
    program = [sys.executable, str(TESTS / "spark_cluster.py"), "in", "out", str(model)]
    told = {"PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}", "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    ended = subprocess.run(
        program, check=False, capture_output=True, timeout=240, env={**ENVIRONMENT, **told}, cwd=tmp_path, text=True
    )
    assert ended.stdout.splitlines()[-1:] == ["killed 1 pages 40"], ended.stderr[-3000:]
    monkeypatch.chdir(tmp_path)
    choice = Choice(model=str(model))
    run_job(Job(("in",), tmp_path / "local", to="jsonl", choice=choice, limits=LIMITS, quiet=True), io.StringIO())
    found = b"".join(path.read_bytes() for path in sorted((tmp_path / "out").glob("*/part-*")))
    assert found == (tmp_path / "local" / "part-00000.jsonl").read_bytes()
