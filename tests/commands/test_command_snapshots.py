"""Snapshots of what commands print and write, without paths, times and versions."""

import gzip
import itertools
import json
import os
import re
import runpy
import time

import pytest
from support.cases import CASES
from support.commands import victor, victor_process, write_files
from support.randompages import RandomPage
from support.snapshots import ROOT, SAMPLES, check, digest

from victorpy.batch.local import run

LINES = [line for line in (CASES / "transcripts.txt").read_text().splitlines() if not line.startswith("#")]
VOLATILE = re.compile(
    r"\d[\d,]*(?:\.\d+)?(?:e-\d+)?(?= (?:s|ms|seconds|MB|pages/s)\b)"
    r"|\b\d{4}-\d\d-\d\d(?:T[\d:.+]+Z?)?\b|\b0\.\d+\.\d+(?:\.dev\d+)?\b|\b\d+:\d\d\b"
)
TIMED = re.compile(r'"(?:seconds|cpu|began|seconds-now|cpu-now|victorpy)": ?(?:"[^"]*"|[\d.e-]+|\{[^}]*\})')


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Pages, archives, annotations of two people, and folders of categories."""
    place = tmp_path_factory.mktemp("inputs")
    pages = {f"p{number}.html": RandomPage(number).html() for number in range(1, 6)}
    lines = [
        {"url": f"http://{name[:2]}.example/{name}", "html": html} for name, html in [*pages.items(), *pages.items()]
    ]
    files = {f"pages/{name}": html for name, html in pages.items()}
    files |= {
        f"folders/{kind}/{n}.html": RandomPage(40 + n).html() + kind * 30 for kind in ("tea", "pots") for n in range(4)
    }
    files |= {
        "crawl.jsonl": "".join(json.dumps(line) + "\n" for line in lines),
        "empty.html": "",
        "list.txt": "pages/p2.html\npages/p1.html\n",
    }
    for number, path in enumerate(path for path in SAMPLES if path.stem.startswith("courier")):
        anno = path.with_suffix(".anno").read_text()
        files[f"first/{'abcdefgh'[number]}.anno"] = anno
        files[f"second/{'abcdefgh'[number]}.anno"] = re.sub("^list\t", "paragraph\t", anno, flags=re.M)
    write_files(place, files)
    runpy.run_path(str(ROOT / "examples" / "small_swde.py"))["build"](place / "swde", pages=3)
    for path in place.rglob("*"):
        os.utime(path, (1e9, 1e9))  # runs remember the times of their inputs
    return place


LONG = re.compile(r"\d+\.\d{5,}")
UNSTABLE = {".sqlite", ".npz"}  # other versions of libraries write other bytes
TIMES = {".runs", "log.json"}


def plain(text, place):
    text = LONG.sub(lambda number: f"{float(number[0]):.4f}", text)
    text = TIMED.sub("TIMED", text.replace(str(place), "PLACE").replace(str(ROOT), "ROOT"))
    return VOLATILE.sub("N", text)


def read(path, place):
    content = path.read_bytes()
    if path.suffix == ".gz":
        content = gzip.decompress(content)
    return plain(content.decode("utf-8", "replace"), place)


@pytest.fixture
def in_this_process(monkeypatch):
    def run_here(*arguments, guarded, **options):
        return run.run_plan(*arguments, guarded=False, **options)

    monkeypatch.setattr("victorpy.commands.clean.run_plan", run_here)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A clock that takes a millisecond per look, so that reports of times are always the same."""
    for name in ("perf_counter", "process_time"):
        monkeypatch.setattr(time, name, map(float, itertools.count(0, 1e-3)).__next__)


@pytest.mark.parametrize("line", LINES)
def test_commands(inputs, tmp_path, line, in_this_process):
    for entry in inputs.iterdir():
        (tmp_path / entry.name).symlink_to(entry)
    found = {}
    start = victor_process if line.startswith("features") else victor  # other tests may have registered features
    for number, command in enumerate(line.split(" && ")):
        ended = start(*command.split(), cwd=tmp_path, text=True)
        found[f"{number} exit"] = str(ended.returncode)
        found[f"{number} errors"] = plain(ended.stderr, tmp_path)[:300]
        output = plain(ended.stdout, tmp_path)
        found[f"{number} output"] = output if len(output) < 200 else digest(output)
    paths = sorted(path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink())
    paths = [path for path in paths if path.suffix not in UNSTABLE and path.name not in TIMES]
    found |= {str(path.relative_to(tmp_path)): digest(read(path, tmp_path)) for path in paths}
    check("transcripts", line, found)
