"""Run commands in this process (fast), or in a separate process as users do."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from victorpy.batch.record import _standard_input
from victorpy.commands import main, run

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)) * 40  # a file that is not a web page

Ended = subprocess.CompletedProcess[Any]


def run_process(*command: object, **options: Any) -> Ended:
    """Run Python with these arguments; see subprocess.run for the options."""
    options = {"capture_output": True, "timeout": 300, "env": ENVIRONMENT} | options
    return subprocess.run([sys.executable, *map(str, command)], check=False, **options)


def run_here(
    command: Callable[[list[str]], int],
    *arguments: object,
    cwd: Path | None = None,
    input: bytes = b"",
    text: bool = False,
) -> Ended:
    """Run a command in this process: starting a new one takes a second."""
    written = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in written)
    stdin = io.TextIOWrapper(io.BytesIO(input))
    _standard_input.cache_clear()  # it is read once per process
    with redirect_stdout(out), redirect_stderr(err), chdir(cwd or Path.cwd()), mock.patch.object(sys, "stdin", stdin):
        try:
            code = command(list(map(str, arguments)))
        except SystemExit as ended:
            code = int(ended.code or 0)
    contents = [stream.getvalue() for stream in written]
    return Ended([], code, *(content.decode() if text else content for content in contents))


victor = partial(run_here, main)
clean, learn = partial(run_here, partial(run, "clean")), partial(run_here, partial(run, "learn"))
clean_process, learn_process = partial(run_process, ROOT / "clean.py"), partial(run_process, ROOT / "learn.py")
victor_process = partial(run_process, "-m", "victorpy")


def start_clean(*arguments: object, stderr: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start clean.py in a session of its own."""
    command = [sys.executable, str(ROOT / "clean.py"), *map(str, arguments)]
    return subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True)


def wait_until(condition: Callable[[], object], seconds: float = 120) -> None:
    """Wait for an event."""
    stop = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < stop, f"nothing happened within {seconds} s"
        time.sleep(0.01)


def kill_clean_when(condition: Callable[[], object], *arguments: object) -> int:
    """Start clean.py, kill it as soon as a condition holds, and return its process number."""
    with start_clean(*arguments) as process:
        wait_until(lambda: condition() or process.poll() is not None)
        process.kill()
    return process.pid


def manifest_has(directory, lines):
    """Return a function that checks whether a run has written this many manifest lines."""
    path = directory / "manifest.jsonl"
    return lambda: path.exists() and path.read_bytes().count(b"\n") >= lines


def left_of(sessions):
    """Return the processes of some sessions that are still running."""
    left = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        left += [stat.parent.name] if int(session) in sessions and state != "Z" else []
    return left


def cpu_seconds(session):
    """Return the CPU time of all processes of a session."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:13])) if int(fields[3]) == session else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def only_line(stderr: bytes | str) -> str:
    """Return standard error, which must be a single line for a user's mistake."""
    text = stderr if isinstance(stderr, str) else stderr.decode()
    assert text.count("\n") == 1, text
    return text


def refused(ended: Ended) -> str:
    """Return the one line that a refused command prints."""
    assert ended.returncode == 2, ended.stderr
    assert not ended.stdout
    return only_line(ended.stderr)


def names_in(directory: Path) -> list[str]:
    """Return the names of files and folders, except what plain runs remember."""
    return sorted(path.name for path in directory.iterdir() if path.name != ".victor")


def write_files(directory: Path, files: dict[str, bytes | str]) -> Path:
    """Write files by their names, with the folders that they are in."""
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return directory
