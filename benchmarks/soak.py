"""Disturb batch runs and compare their output, byte for byte, with that of a run that was left alone.

    python -m benchmarks.soak [--count 50] [--fault NAME]... [--pages 200] [--many 100000]      (make soak)

Processes get signals at random moments, the disk is full, the output directory disappears, a second run starts, or the
input is damaged. After a fault that stops a run, the same command runs again until the run is complete. Every run must
end with an expected exit code, and without a traceback. Finally memory is measured over many small pages.
Exit codes: 0 all well, 1 not.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from benchmarks.batch import archive_record, memory_of, pages_of, run, start
from benchmarks.lib.command import make_parser
from benchmarks.lib.pages import ROOT
from benchmarks.lib.tables import table
from victorpy.batch.store import MANIFEST

BAD_WORDS = ("Traceback", "resource_tracker", "semaphore", "Fatal Python error")
PATIENCE = 300
DISK_MEGABYTES = 64

Process = subprocess.Popen[bytes]
Cause = Callable[["Soak", Process, Path], None]


class Fault(NamedTuple):
    """A disturbance, and the exit codes that it may cause instead of 0."""

    cause: Cause
    codes: tuple[int, ...] = ()


class Soak:
    """The inputs, the output of a run that was left alone, and the runs that are disturbed."""

    def __init__(self, work: Path, pages: int, seed: int) -> None:
        self.work, self.disk = work, work / "disk"
        self.chance = random.Random(seed)
        self.problem = ""
        paths = pages_of(ROOT / "data")
        contents = [paths[number % len(paths)].read_bytes() for number in range(pages)]
        addresses = [f"http://site.example/{number}" for number in range(pages)]
        self.archive, self.lines = work / "pages.warc.gz", work / "pages.jsonl"
        self.ends = {
            self.archive: _write(self.archive, list(map(archive_record, addresses, contents))),
            self.lines: _write(self.lines, list(map(_line, addresses, contents))),
        }
        began = time.perf_counter()
        self.complete(self.archive, work / "reference")
        if self.problem:
            sys.exit(f"soak: the undisturbed run failed: {self.problem}")
        self.seconds = time.perf_counter() - began
        self.expected = tree(work / "reference")
        self.texts = {row["digest"]: row["text"] for row in rows(work / "reference")}

    def start(self, source: Path, directory: Path) -> Process:
        return start(source, directory, 2, 20, stderr=subprocess.PIPE)

    def complete(self, source: Path, directory: Path) -> None:
        """Run to the end without a fault."""
        self.finish(self.start(source, directory), (0,))

    def finish(self, process: Process, codes: tuple[int, ...]) -> int:
        """Wait for the end of a run, and check its exit code and its messages."""
        try:
            _, messages = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            messages, _ = b"", process.wait()
            self.problem = f"the run did not end in {PATIENCE} seconds"
        text = messages.decode(errors="replace")
        if process.returncode not in codes or any(word in text for word in BAD_WORDS):
            self.problem = self.problem or f"exit code {process.returncode}: {text[-1_500:]}"
        return process.returncode

    def disturb(self, fault: Fault, directory: Path, codes: Counter[int]) -> None:
        """Disturb a run once, at a random moment."""
        process = self.start(self.archive, directory)
        with suppress(subprocess.TimeoutExpired):
            process.wait(self.chance.uniform(0.2, 0.95) * self.seconds)
        if process.poll() is not None:  # it was faster this time
            self.finish(process, (0,))
            return
        fault.cause(self, process, directory)
        codes[self.finish(process, (0, *fault.codes))] += 1
        (self.disk / "filler").unlink(missing_ok=True)

    def soak(self, name: str, count: int) -> list[object]:
        """Cause a fault `count` times. Return a row of the table."""
        codes: Counter[int] = Counter()
        runs = equal = 0
        while codes.total() < count and not self.problem:
            directory = (self.disk if name == "disk full" else self.work) / f"run-{runs}"
            runs += 1
            while codes.total() < count and not is_complete(directory) and not self.problem:
                self.disturb(FAULTS[name], directory, codes)
            if not self.problem:
                self.complete(self.archive, directory)
            if not self.problem and tree(directory) != self.expected:
                self.problem = f"the output differs: {_different(tree(directory), self.expected)}"
            equal += not self.problem
            shutil.rmtree(directory, ignore_errors=True)
        return [name, codes.total(), _shown(codes), f"{equal} of {runs}", self.problem]

    def damage(self, name: str, count: int) -> list[object]:
        """Clean damaged inputs. Texts of undamaged pages, and all pages before the damage, are as expected."""
        codes: Counter[int] = Counter()
        for number in range(count):
            whole = self.chance.choice([self.archive, self.lines])
            at = self.chance.randrange(whole.stat().st_size)
            content = whole.read_bytes()
            rest = b"" if name == "truncated input" else self.chance.randbytes(8) + content[at + 8 :]
            damaged, directory = self.work / f"damaged-{whole.name}", self.work / f"damaged-{number}"
            damaged.write_bytes(content[:at] + rest)
            codes[self.finish(self.start(damaged, directory), (0, 1))] += 1
            found = {} if self.problem else {row["digest"]: row for row in rows(directory)}
            texts = {digest: row["text"] for digest, row in found.items() if digest in self.texts}
            before = sum(end <= at for end in self.ends[whole])
            if not self.problem and any(self.texts[digest] != text for digest, text in texts.items()):
                self.problem = f"a text differs from the undamaged run, with damage at {at}"
            if not self.problem and not set(list(self.texts)[:before]) <= found.keys():
                self.problem = f"pages before the damage at {at} are missing"
            shutil.rmtree(directory, ignore_errors=True)
            if self.problem:
                break
        return [name, codes.total(), _shown(codes), "", self.problem]


def _write(path: Path, records: list[bytes]) -> list[int]:
    """Write records to a file, and return where each of them ends."""
    path.write_bytes(b"".join(records))
    return list(accumulate(map(len, records)))


def _line(url: str, page: bytes) -> bytes:
    return json.dumps({"url": url, "html": page.decode("utf-8", "replace")}).encode() + b"\n"


def tree(directory: Path) -> dict[str, bytes]:
    """Return all files of an output directory, except that with the times of runs."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != ".runs")
    return {path.name: path.read_bytes() for path in files}


def rows(directory: Path) -> list[dict[str, str]]:
    """Return the rows of all parts in order."""
    parts = [gzip.decompress(part.read_bytes()) for part in sorted(directory.glob("part-*"))]
    return [json.loads(line) for part in parts for line in part.splitlines()]


def _different(ours: dict[str, bytes], theirs: dict[str, bytes]) -> str:
    return ", ".join(sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)))


def is_complete(directory: Path) -> bool:
    """Whether a run has written its last line."""
    manifest = directory / MANIFEST
    return manifest.exists() and b'"complete"' in manifest.read_bytes()


def _shown(codes: Counter[int]) -> str:
    return ", ".join(f"{count} × {code}" for code, count in sorted(codes.items()))


# Faults.


def to_main(number: signal.Signals) -> Cause:
    """Send a signal to the main process."""

    def cause(soak: Soak, process: Process, directory: Path) -> None:
        send(soak, process.pid, number)

    return cause


def to_worker(number: signal.Signals) -> Cause:
    """Send a signal to a worker, or to the process that starts workers."""

    def cause(soak: Soak, process: Process, directory: Path) -> None:
        others = [pid for pid in memory_of(process.pid, {}) if pid != process.pid and not _is_tracker(pid)]
        if others:
            send(soak, soak.chance.choice(others), number)

    return cause


def _is_tracker(pid: int) -> bool:
    """Whether a process is Python's resource tracker. Without it, Python itself prints tracebacks."""
    try:
        return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True


def send(soak: Soak, pid: int, number: signal.Signals) -> None:
    """Send a signal. A process that was stopped continues after at most two seconds."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        if number is signal.SIGSTOP:
            time.sleep(soak.chance.uniform(0.1, 2))
            os.kill(pid, signal.SIGCONT)


def fill_disk(soak: Soak, process: Process, directory: Path) -> None:
    """Leave no space on the file system of the output."""
    with suppress(OSError), (soak.disk / "filler").open("wb", buffering=0) as filler:
        while filler.write(bytes(1 << 16)):
            pass


def limit_files(soak: Soak, process: Process, directory: Path) -> None:
    """Let no file grow beyond a few bytes. Writing then fails as on a full disk, without a file system of its own."""
    limit = soak.chance.randrange(3_000)
    for pid in memory_of(process.pid, {}):
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, limit))


def remove_directory(soak: Soak, process: Process, directory: Path) -> None:
    """Remove the output in one step. Otherwise the run could write into it meanwhile."""
    with suppress(FileNotFoundError):
        directory.rename(soak.work / "gone")
        shutil.rmtree(soak.work / "gone")


def run_twice(soak: Soak, process: Process, directory: Path) -> None:
    """Start the same command again. It is refused, or begins after the end of the first run."""
    soak.finish(soak.start(soak.archive, directory), (0, 2))


FAULTS = {
    "KILL main process": Fault(to_main(signal.SIGKILL), (-9,)),
    "TERM main process": Fault(to_main(signal.SIGTERM), (143, -15)),  # -15 and -2 while Python is still starting
    "INT main process": Fault(to_main(signal.SIGINT), (130, -2)),
    "STOP and CONT main process": Fault(to_main(signal.SIGSTOP)),
    "KILL a worker": Fault(to_worker(signal.SIGKILL)),
    "TERM a worker": Fault(to_worker(signal.SIGTERM)),
    "INT a worker": Fault(to_worker(signal.SIGINT)),
    "STOP and CONT a worker": Fault(to_worker(signal.SIGSTOP)),
    "disk full": Fault(fill_disk, (2,)),
    "files limited": Fault(limit_files, (2,)),
    "directory removed": Fault(remove_directory, (2,)),
    "second run": Fault(run_twice),
}
DAMAGES = ("truncated input", "damaged input")


# Memory.


def measure_memory(work: Path, pages: int) -> None:
    """Print the memory of a run over many small pages, at ten moments."""
    archive = work / "many.warc.gz"
    with archive.open("wb") as file:
        for number in range(pages):
            page = f"<title>{number}</title><ul><li><a href=/>Home</a></ul><p>Page {number} says that tea is a drink."
            file.write(archive_record(f"http://site{number % 999}.example/{number}", page.encode()))
    samples = run(archive, work / "many", 2, interval=1.0).samples
    cleaned = [sample for sample in samples if sample.pages]
    chosen = [cleaned[len(cleaned) * tenth // 10] for tenth in range(10)] + cleaned[-1:] if cleaned else []
    lines = [[f"{sample.pages:,}", f"{sample.main:.0f}", f"{sample.workers:.0f}"] for sample in chosen]
    print(table(("pages", "main process, MB", "other processes, MB"), lines))


@contextmanager
def mounted(disk: Path) -> Iterator[None]:
    """Mount a small file system, which only root may do."""
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "none", str(disk)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def main() -> None:
    """Cause every fault, and print a table."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument("--count", type=int, default=50, help="how often each fault occurs (default: 50)")
    parser.add_argument("--fault", action="append", choices=[*FAULTS, *DAMAGES], help="only this; may be repeated")
    parser.add_argument("--pages", type=int, default=200, help="pages of each run (default: 200)")
    parser.add_argument("--many", type=int, default=0, help="also measure memory over this many small pages")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it, as do its children
    chosen = arguments.fault or [*FAULTS, *DAMAGES]
    if os.geteuid() != 0 and "disk full" in chosen:
        chosen.remove("disk full")
        print("soak: the fault 'disk full' is left out, because only root can mount a small file system")
    failed = False
    with tempfile.TemporaryDirectory(prefix="soak-") as directory, ExitStack() as stack:
        soak = Soak(Path(directory), arguments.pages, arguments.seed)
        if "disk full" in chosen:
            stack.enter_context(mounted(soak.disk))
        print(table(("fault", "times", "exit codes", "equal outputs", "problem"), []), flush=True)
        for name in chosen:
            soak.problem = ""
            row = soak.damage(name, arguments.count) if name in DAMAGES else soak.soak(name, arguments.count)
            print(f"| {' | '.join(map(str, row))} |", flush=True)
            failed = failed or bool(soak.problem)
        if arguments.many:
            measure_memory(soak.work, arguments.many)
    sys.exit(failed)


if __name__ == "__main__":
    main()
