"""Measure batch runs: overhead per page, speed-up by a second worker, memory over many pages, and saturation.

    python -m benchmarks.batch --pages DIR [--long-pages DIR] [--many 20000] [--step NAME]... [-o DIR]

Without --pages the sample pages of data/ are repeated. Compare times only within one run. CPU times are those of all
processes of a run together. The step saturation runs up to 64 workers that sleep instead of cleaning, and shows how
much the main process does per page.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.lib.command import make_parser
from benchmarks.lib.pages import ROOT
from benchmarks.lib.pictures import save_picture
from victorpy.batch.local.run import run_plan
from victorpy.batch.plan import Limits, Plan
from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.document import Document, Label, Labelling
from victorpy.labellers.base import PageLabeller
from victorpy.methods import Method
from victorpy.research.report.plots import BLUE, ORANGE

TICK = os.sysconf("SC_CLK_TCK")
STEPS = ("overhead", "jobs", "memory", "saturation")

# Cleaning alone, with one thread as workers have: the same pages in memory, by the same function. Then a simple loop
# that reads the archive, cleans the pages, and writes compressed lines: what the machinery of a batch run is added to.
ALONE = """
import gzip, sys, time
from victorpy.batch.inputs import find_files, read_files
from victorpy.batch.outcome import PageCleaner, row
from victorpy.batch.plan import Plan
from victorpy.batch.sinks import as_line
from victorpy.batch.sources import ReadOptions

def records():
    return read_files(find_files([sys.argv[1]]), ReadOptions())

pages = PageCleaner(Plan(to="jsonl.gz"))
kept = list(records())
pages.clean(kept[0])
wall, cpu = time.perf_counter(), time.process_time()
for record in kept:
    pages.clean(record)
print(len(kept), time.perf_counter() - wall, time.process_time() - cpu)
del kept
wall, cpu = time.perf_counter(), time.process_time()
with gzip.open(sys.argv[2], "wb", 4) as lines:
    for record in records():
        lines.write(as_line(row(record, pages.clean(record))))
print(time.perf_counter() - wall, time.process_time() - cpu)
"""

SLEEP = 0.007  # seconds for a page in the step saturation: about what cleaning takes


class Sample(NamedTuple):
    """Memory of the processes of a run at one moment."""

    seconds: float
    pages: int
    main: float  # memory of the main process, in MB
    workers: float  # memory of all others together


class Ended(NamedTuple):
    """A finished run."""

    seconds: float
    cpu: float
    samples: list[Sample]


def main() -> None:
    """Run the chosen steps."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument("--pages", type=Path, default=ROOT / "data", help="a directory of pages")
    parser.add_argument("--long-pages", type=Path, help="a directory of pages for the step memory (default: the same)")
    parser.add_argument("--many", type=int, default=20_000, help="number of pages of the step memory")
    parser.add_argument("--jobs", type=int, default=2, help="workers of the step memory")
    parser.add_argument("--step", choices=STEPS, action="append", help="only these")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "images", help="directory of the plot")
    arguments = parser.parse_args()
    steps = arguments.step or STEPS
    with tempfile.TemporaryDirectory(prefix="bench-batch-") as place:
        work = Path(place)
        few = work / "few.warc.gz"
        print(f"{write_archive(few, islice(cycle(pages_of(arguments.pages)), page_count(arguments.pages)))} pages")
        if "overhead" in steps:
            write_archive(work / "none.warc", islice(pages_of(arguments.pages), 1))
            overhead(few, work)
        if "jobs" in steps:
            jobs(few, work)
        if "memory" in steps:
            memory(arguments, work)
        if "saturation" in steps:
            saturation(work)


def pages_of(directory: Path) -> list[Path]:
    """Return the pages below a directory."""
    return sorted(path for path in directory.rglob("*") if path.suffix in {".html", ".htm"})


def page_count(directory: Path) -> int:
    """Return the number of pages to clean: enough to measure a time."""
    return max(len(pages_of(directory)), 500)


def write_archive(path: Path, pages: Iterator[Path]) -> int:
    """Write pages as responses of a WARC file. Return their number."""
    number = 0
    with path.open("wb") as file:
        for number, page in enumerate(pages, start=1):
            file.write(archive_record(f"http://{page.parent.name}.example/{number}", page.read_bytes()))
    return number


def archive_record(url: str, page: bytes) -> bytes:
    """Return a page as a response of a WARC file."""
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:bench:{url}>\r\n"
        f"WARC-Target-URI: {url}\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + body + b"\r\n\r\n", 5, mtime=0)


def overhead(archive: Path, work: Path) -> None:
    """Compare a run with one worker with cleaning alone and with a simple loop, in turns."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    walls: dict[str, list[float]] = {}
    cpus: dict[str, list[float]] = {}
    pages = 1
    for turn in range(3):
        command = [sys.executable, "-c", ALONE, str(archive), str(work / "loop.jsonl.gz")]
        said = subprocess.run(command, check=True, capture_output=True, env=environment).stdout.split()
        pages = int(said[0])
        ended = run(archive, work / f"overhead-{turn}", 1)
        times: dict[str, Any] = {
            "cleaning alone": said[1:3],
            "a simple loop": said[3:5],
            "batch, 1 worker": (ended.seconds, ended.cpu),
        }
        for name, (wall, cpu) in times.items():
            walls.setdefault(name, []).append(float(wall))
            cpus.setdefault(name, []).append(float(cpu))
    start = min(run(work / "none.warc", work / f"start-{turn}", 1).cpu for turn in range(2))
    batch = min(cpus["batch, 1 worker"])
    each = 1000 / pages
    for name, seconds in walls.items():
        print(f"{name}: {min(seconds) * each:.2f} ms per page, CPU {min(cpus[name]) * each:.2f} ms")
    print(f"start of a run: {start:.2f} s of CPU")
    for name in ("cleaning alone", "a simple loop"):
        alone = min(cpus[name])
        print(f"CPU over {name}: {batch / alone - 1:+.1%}, without the start {(batch - start) / alone - 1:+.1%}")


def jobs(archive: Path, work: Path) -> None:
    """Compare two workers with one, in turns."""
    ended: dict[int, list[Ended]] = {1: [], 2: []}
    for turn in range(2):
        for count in (1, 2):
            # Looking at the processes takes CPU time that two workers on two cores need.
            ended[count].append(run(archive, work / f"jobs-{count}-{turn}", count, interval=1.0))
    best = {count: min(runs) for count, runs in ended.items()}
    for count, (seconds, cpu, _) in best.items():
        print(f"{count} worker{'s' if count > 1 else ''}: {seconds:.1f} s, CPU {cpu:.1f} s")
    load = os.getloadavg()[0]
    print(f"{best[1].seconds / best[2].seconds:.2f} times; load {load:.1f} on {os.cpu_count()} cores")


def memory(arguments: argparse.Namespace, work: Path) -> None:
    """Measure memory and the time per page over many pages."""
    pages = pages_of(arguments.long_pages or arguments.pages)
    archive = work / "many.warc.gz"
    count = write_archive(archive, islice(cycle(pages), arguments.many))
    ended = run(archive, work / "many", arguments.jobs, interval=1.0)
    samples = [sample for sample in ended.samples if sample.pages > 0]
    quarter = len(samples) // 4
    first, last = samples[quarter : 2 * quarter], samples[3 * quarter :]
    print(f"{count} pages in {ended.seconds:.0f} s, an archive of {archive.stat().st_size / 1e6:.0f} MB")
    for name, part in (("second", first), ("last", last)):
        if part and part[-1].pages > part[0].pages:
            cost = (part[-1].seconds - part[0].seconds) / (part[-1].pages - part[0].pages) * 1000
            main_mb = sum(sample.main for sample in part) / len(part)
            workers = sum(sample.workers for sample in part) / len(part)
            print(f"{name} quarter: {cost:.2f} ms per page, main process {main_mb:.0f} MB, workers {workers:.0f} MB")
    draw(ended.samples, arguments.output / "batch-memory.png")


def saturation(work: Path) -> None:
    """Run workers that sleep for the time of a page, and compare the rate with what the main process allows.

    The workers share this machine's cores, so their own overhead limits the rate too. What counts is the CPU time of
    the main process per page: its inverse is the rate at which it is busy all the time.
    """
    page = b"<p>Tea is made by pouring hot water over the leaves of the tea bush.</p>" * 5
    for workers in (1, 4, 16, 64):
        lines = work / f"sleep-{workers}.jsonl"
        count = 2_000 + 500 * workers
        line = json.dumps({"url": "http://site.example/", "html": page.decode()}) + "\n"
        lines.write_text(line * count)
        plan = Plan((str(lines),), work / f"sleep-{workers}", "jsonl.gz", method=Method("everything"), make=sleeping)
        plan = replace(plan, limits=Limits(jobs=workers))
        wall, cpu = time.perf_counter(), time.process_time()
        run_plan(plan, io.StringIO(), quiet=True)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        ideal = workers / SLEEP
        print(
            f"{workers:3} workers: {count / wall:8,.0f} pages/s of {ideal:7,.0f}; main process {cpu / count * 1e6:5.0f}"
            f" us per page, busy {cpu / wall:4.0%}, full at {count / cpu * SLEEP:,.0f} workers"
        )


class Sleeping(PageLabeller):
    """A method that sleeps for the time of a page, and keeps everything."""

    def label(self, document: Document) -> Labelling:
        time.sleep(SLEEP)
        return Labelling(tuple(Label.PARAGRAPH for _ in document.blocks))


def sleeping() -> Cleaner:
    """Return the cleaner of the step saturation."""
    return Cleaner(Sleeping(), load_config("blocks"))


def draw(samples: list[Sample], path: Path) -> None:
    """Draw memory against pages."""

    def draw_on(figure: Any) -> None:
        axes = figure.subplots()
        pages = [sample.pages for sample in samples]
        axes.plot(pages, [sample.workers for sample in samples], label="workers, together", color=BLUE, linewidth=1)
        axes.plot(pages, [sample.main for sample in samples], label="main process", color=ORANGE, linewidth=1)
        axes.set(xlabel="pages cleaned", ylabel="memory (RSS), MB", ylim=(0, None))
        axes.legend(frameon=False)

    save_picture(draw_on, (7, 3.2), path)
    print(path)


def start(archive: Path, directory: Path, workers: int, shard: int, **options: Any) -> subprocess.Popen[bytes]:
    """Start a run in a session of its own. `options` are those of Popen."""
    command = [sys.executable, str(ROOT / "clean.py"), str(archive), "-q", "-j", str(workers)]
    command += ["--to", "jsonl.gz", "--shard-records", str(shard), "-o", f"{directory}/"]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True, **options)


def run(archive: Path, directory: Path, workers: int, shard: int = 250, interval: float = 0.1) -> Ended:
    """Run to the end, and sample its processes at intervals."""
    begun = time.perf_counter()
    process = start(archive, directory, workers, shard)
    cpu: dict[int, float] = {}
    samples: list[Sample] = []
    while process.poll() is None:
        seen = memory_of(process.pid, cpu)
        rest = sum(size for pid, size in seen.items() if pid != process.pid)
        pages = _pages(directory / "manifest.jsonl")
        samples.append(Sample(time.perf_counter() - begun, pages, seen.get(process.pid, 0.0), rest))
        with suppress(subprocess.TimeoutExpired):
            process.wait(interval)
    return Ended(time.perf_counter() - begun, sum(cpu.values()), samples)


def _pages(manifest: Path) -> int:
    if not manifest.exists():
        return 0
    lines = manifest.read_bytes().splitlines()[1:]
    return sum(_number(line) for line in lines if b'"part"' in line)


def _number(line: bytes) -> int:
    try:
        return int(json.loads(line)["pages"])
    except ValueError:
        return 0


def memory_of(leader: int, cpu: dict[int, float]) -> dict[int, float]:
    """Return the memory of each process of a run, in MB, and store its CPU time."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _fields(entry / "stat")
            if fields and int(fields[3]) == leader:
                cpu[int(entry.name)] = (int(fields[11]) + int(fields[12])) / TICK
                found[int(entry.name)] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return found


def _fields(stat: Path) -> list[str]:
    """Return the fields of /proc/PID/stat after the name; empty if the process has ended."""
    try:
        return stat.read_text().rpartition(")")[2].split()
    except OSError:
        return []


if __name__ == "__main__":
    main()
