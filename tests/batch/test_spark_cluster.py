"""Spark with executors that are processes of their own: one is killed in the middle, and nothing changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.batchpages import ENVIRONMENT, ROOT, crawl, poison_model
from support.spark_cluster import LIMITS, lines_of, run_locally

from victorpy.methods import Method

pytestmark = pytest.mark.spark

if not Path("/proc/self/stat").exists():
    pytest.skip("no /proc to find executors in", allow_module_level=True)

TESTS = Path(__file__).parents[1]


def test_killed_executor_changes_nothing(tmp_path, monkeypatch):
    (tmp_path / "poison").mkdir()
    model = poison_model(tmp_path / "poison")
    for number in range(2):
        crawl(tmp_path / "in" / f"{number}.warc.gz", 20, {1: ("HANGS", "CRASHES")[number], 15: "RAISES"})
    program = [sys.executable, str(TESTS / "support" / "spark_cluster.py"), "in", "out", str(model)]
    variables = {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    ended = subprocess.run(
        program,
        check=False,
        capture_output=True,
        timeout=240,
        env={**ENVIRONMENT, **variables},
        cwd=tmp_path,
        text=True,
    )
    assert ended.stdout.splitlines()[-1:] == ["killed 1 pages 40"], ended.stderr[-3000:]
    monkeypatch.chdir(tmp_path)
    expected, _ = run_locally(["in"], tmp_path / "local", method=Method(model=str(model)), limits=LIMITS)
    assert lines_of(tmp_path / "out") == expected
