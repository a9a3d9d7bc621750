"""Stretches: a worker reads some consecutive records of the inputs, cleans them, and writes them to a file of its own.

Cleaned records go to a log, one by one, so that a crash loses nothing but the page that caused it. At the end of the
stretch, the log becomes a segment in the form of the output. Stretches depend only on the inputs, not on the number of
workers, so the same inputs give the same segments.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, Self

from victorpy.base.child import limit_memory
from victorpy.base.files import write_atomically
from victorpy.batch.counts import Counts, Tally
from victorpy.batch.inputs import Group, InputFile, Wanted, read_failed, read_file, unread_record
from victorpy.batch.local.pool import MEMORY_EXIT, PATIENCE, Report, set_deadline
from victorpy.batch.outcome import Outcome, PageCleaner, failure
from victorpy.batch.plan import Plan
from victorpy.batch.record import Kind, Problem, Record
from victorpy.batch.sinks import SINKS, Sink
from victorpy.batch.sources import source_of
from victorpy.cleaner import Cleaner
from victorpy.outputs import find_output

AHEAD_BYTES = 32_000_000
"""Pages that a worker holds in memory, so that another worker can read on while it cleans them."""
REPORT_SECONDS = 0.2
_COPIES = 3
"""Copies of a page in memory while it is read. They do not count for the memory limit of the page."""
_NO_LIMIT = 1 << 60
_FRAME = struct.Struct("<II")  # length and checksum


class Item(NamedTuple):
    """A record, and its outcome if it is known already."""

    record: Record
    outcome: Outcome | None = None
    place: tuple[int, int] | None = None
    """Number and byte offset of the record in its file, if they are not those of its origin."""


Read = Callable[[InputFile], Iterator[Item]]


class Stretch(NamedTuple):
    """Where a stretch begins: a file of a group, and a record of this file."""

    group: int
    number: int = 0
    """Number of the stretch in its group."""
    file: int = 0
    start: int = 0
    offset: int = 0
    """Byte offset of the first record, or 0 if unknown."""

    @property
    def name(self) -> str:
        return f"{self.group:09d}-{self.number:07d}"


class Segment(NamedTuple):
    """A finished stretch."""

    stretch: Stretch
    following: Stretch | None
    """The next stretch of the group, or None if this was the last."""
    last: tuple[int, int]
    """Number of the file among all inputs, and of the record in it, at which the inputs continue."""
    size: int
    checksum: int
    """Checksum of the file, or 0 if its size is enough."""
    tally: dict[str, Any]

    @classmethod
    def load(cls, directory: Path, name: str, suffix: str) -> Self | None:
        """Return the segment that a worker has written, or None if it is missing or damaged."""
        try:
            stretch, following, *others = json.loads((directory / f"{name}.done").read_bytes())
            segment = cls(Stretch(*stretch), Stretch(*following) if following else None, *others)
            path = directory / f"{name}{suffix}"
            is_whole = segment.size == path.stat().st_size and segment.checksum in (0, _checksum(path))
            return segment if is_whole else None
        except (OSError, ValueError):
            return None


@dataclass(frozen=True, slots=True)
class Job:
    """A stretch to be cleaned, and what earlier attempts have shown."""

    stretch: Stretch
    group: Group
    directory: Path
    is_wanted: bool = True
    """Whether to clean the records. If not, they are only read, to find the next stretch."""
    is_careful: bool = False
    """Whether to report every step, because an attempt has failed."""
    bad: Mapping[int, Problem] = field(default_factory=dict)
    """Records that end the worker, by their number in the stretch."""
    unread: Mapping[int, Problem] = field(default_factory=dict)
    """Records that end the worker while it reads them."""


# Logs.


class Log:
    """Pickled records with their outcomes. A torn end, which a kill may leave, is ignored."""

    def __init__(self, path: Path) -> None:
        self.tally, self.count, end = Tally(), 0, 0
        self._file = path.open("r+b" if path.exists() else "w+b", buffering=0)
        for record, outcome, end in read_log(self._file):  # noqa: B007
            self.tally.add(record, outcome)
            self.count += 1
        self._file.truncate(end)
        self._file.seek(end)

    def add(self, record: Record, outcome: Outcome) -> None:
        record = replace(record, payload=b"")
        content = pickle.dumps((record, outcome), pickle.HIGHEST_PROTOCOL)
        self._file.write(_frame(content))
        self.tally.add(record, outcome)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _frame(content: bytes) -> bytes:
    return _FRAME.pack(len(content), zlib.crc32(content)) + content


def read_log(file: BinaryIO | io.FileIO) -> Iterator[tuple[Record, Outcome, int]]:
    """Read the complete records of a log, and the offset of the end of each."""
    end = file.tell()
    while len(head := file.read(_FRAME.size) or b"") == _FRAME.size:
        length, checksum = _FRAME.unpack(head)
        content = file.read(length) or b""
        if len(content) < length or zlib.crc32(content) != checksum:
            return
        end += _FRAME.size + length
        record, outcome = pickle.loads(content)  # written by `Log`
        yield record, outcome, end


def log_length(path: Path) -> int:
    """Return the number of complete records of a log."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        return sum(1 for _ in read_log(file))
    return 0


LOG = "log"
"""The kind of segments that the main process reads itself."""


class LogSink(Sink):
    """Keeps the logs as they are."""

    segment_suffix = ".log"


# The state of a worker.


class Reader(Protocol):
    """Opens the inputs of a run in a worker."""

    def open(self, plan: Plan) -> Read: ...


@dataclass(frozen=True, slots=True)
class FileReader:
    """Reads files, or only the records that a retry wants."""

    def open(self, plan: Plan) -> Read:
        if plan.retry is not None and not plan.by_site:
            wanted = Wanted(read_failed(plan.retry)).select(read_file)
            return lambda file: map(Item, wanted(file._replace(start=0, offset=0), plan.read, file.start))
        return _OpenFile(plan).read


class _OpenFile:
    """Reads files, and goes on with the last file if the next stretch is in it."""

    def __init__(self, plan: Plan) -> None:
        self._options = plan.read
        self._path = Path()
        self._end: int | None = None
        self._records: Iterator[Record] = iter(())
        self._last: Record | None = None

    def read(self, file: InputFile) -> Iterator[Item]:
        position = -1 if self._last is None else self._last.origin.position
        is_same = (self._path, self._end) == (file.path, file.end) and position >= 0
        if not (is_same and (position == file.start or (position < file.start and not file.offset))):
            self._path, self._end = file.path, file.end
            self._records = read_file(file, self._options, file.start)
            self._last = next(self._records, None)
        while self._last is not None:
            if self._last.origin.position >= file.start:
                yield Item(self._last)
            self._last = next(self._records, None)


@dataclass(slots=True)
class _State:
    plan: Plan
    pages: PageCleaner
    read: Read
    sink: Sink
    is_guarded: bool
    memory: int


_states: list[_State] = []
"""The state of this worker process."""


def start_worker(plan: Plan, reader: Reader, to: str, is_guarded: bool = True) -> int:
    """Load the model. Returns the memory that reading takes in addition to that of a page."""
    if to == "parquet":
        _prepare_arrow()
    sink = (LogSink if to == LOG else SINKS.get(to))(to, Path(plan.output or ""), find_output(plan.format))
    extra = _COPIES * (plan.most_bytes or 0) + AHEAD_BYTES
    _load_site.cache_clear()
    _states[:] = [_State(plan, PageCleaner(plan), reader.open(plan), sink, is_guarded, plan.limits.memory + extra)]
    return extra


def state() -> _State:
    """Return what `start_worker` has loaded."""
    return _states[0]


@lru_cache(maxsize=1)
def _prepare_arrow() -> None:
    """Load the library that reads and writes tables.

    Its allocator and its threads reserve gigabytes of address space, which would count for the memory limit. So use the
    system allocator, and read a small table before the limit is set.
    """
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # Arrow reads this variable when it is imported
    with suppress(ImportError):
        import pyarrow.parquet

        pyarrow.set_memory_pool(pyarrow.system_memory_pool())
        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)
        table = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table({"page": ["tea"]}), table)
        for _ in pyarrow.parquet.ParquetFile(table).iter_batches():
            pass


def clean_checked(record: Record, cleaner: Cleaner | None = None) -> Outcome:
    """Clean a record. If memory runs out, the worker exits, and a new worker tries the record again.

    If memory ran out while reading the record, the record fails without another attempt.
    """
    worker = state()
    if worker.is_guarded:
        set_deadline(worker.plan.limits.deadline)
    outcome = worker.pages.clean(record, cleaner)
    if outcome.kind is Kind.MEMORY and record.problem is None and worker.is_guarded:
        os._exit(MEMORY_EXIT)
    return outcome


# Reading and cleaning a stretch.


class _Reading:
    """The records of a stretch. Another worker can start with the next stretch as soon as it is known."""

    def __init__(self, job: Job, report: Report) -> None:
        self._job, self._report = job, report
        self.following: Stretch | None = None
        self.done = 0
        """Bytes of files with many pages that have been read."""
        self.at = job.group.files[job.stretch.file].number, job.stretch.start
        """Number of the file among all inputs, and of the next record in it."""
        self._end: int | None = None
        first = job.group.files[job.stretch.file]
        source = source_of(first.path)
        self._is_table = source is not None and source.cut is not None
        self._is_whole = self._is_table and first.end is None
        """Whether the stretch ends where a table can be divided, and not after some records."""
        if first.base:
            with suppress(OSError):  # reading the file reports the error
                os.chdir(first.base)
        if self._is_table:
            self._allow(_NO_LIMIT)
            _prepare_arrow()
            self._allow(4 * state().memory)
        if self._is_whole and source is not None and source.cut is not None:
            self._end = source.cut(first.path, state().plan.read, job.stretch.start, job.group.records)
            if self._end is not None:
                self.following = job.stretch._replace(number=job.stretch.number + 1, start=self._end)

    def _allow(self, memory: int) -> None:
        if state().is_guarded:
            set_deadline(state().plan.limits.deadline + PATIENCE)
            limit_memory(memory)

    def clean(self, record: Record, cleaner: Cleaner | None) -> Outcome:
        """Clean a record. The memory that a library holds to read a table does not count."""
        if not self._is_table:
            return clean_checked(record, cleaner)
        self._allow(state().memory)
        outcome = clean_checked(record, cleaner)
        self._allow(4 * state().memory)
        return outcome

    def items(self) -> Iterator[Item]:
        """Read the records, ahead of time if the next stretch begins where this one ends."""
        items = self._read()
        ahead: list[Item] = []
        is_known = self._is_whole
        if not self._is_table and not self._job.is_careful:
            size = 0
            for item in items:
                ahead.append(item)
                size += len(item.record.payload)
                if size > AHEAD_BYTES:
                    break
            else:
                is_known = True
        if is_known:
            self._report(("following", self.following))
        ahead.reverse()
        while ahead:
            yield ahead.pop()
        yield from items
        if not is_known:
            self._report(("following", self.following))

    def _read(self) -> Iterator[Item]:
        job, count = self._job, 0
        stretch, files, worker = job.stretch, job.group.files, state()
        for index in range(stretch.file, len(files)):
            file = files[index]
            if index == stretch.file and (stretch.start or self._end):
                file = file._replace(start=stretch.start, offset=stretch.offset, end=self._end or file.end)
            position = file.start
            reached = file.offset if file.offset or not file.start else None
            records = worker.read(file)
            while True:
                if worker.is_guarded:
                    set_deadline(worker.plan.limits.deadline + PATIENCE)
                if job.is_careful:
                    self._report(("read", count))
                problem = job.unread.get(count)
                item = next(records, None) if problem is None else Item(unread_record(file, position, *problem))
                if item is None:
                    break
                record = item.record
                position, offset = item.place or (record.origin.position, record.offset)
                if count == job.group.records and not self._is_whole:
                    self.following = Stretch(stretch.group, stretch.number + 1, index, position, offset)
                    self.at = file.number, position
                    return
                yield item
                count, position = count + 1, position + 1
                if reached is not None:
                    self.done += max(record.reached - reached, 0)
                reached = max(record.reached, reached or 0)
                if record.origin.rest:
                    break
            if reached is not None and self._end is None and source_of(file.path) is not None:
                with suppress(OSError):
                    self.done += max(file.path.stat().st_size - reached, 0)
        last = files[-1].number
        self.at = (last + 1, 0) if self._end is None else (last, self._end)


def run_stretch(job: Job, report: Report) -> Segment | None:
    """Clean a stretch and write its segment. If the stretch is not wanted, only report where the next one begins."""
    worker, stretch = state(), job.stretch
    reading = _Reading(job, report)
    if not job.is_wanted:
        for _ in reading.items():
            pass
        report(("progress", {}, 0, reading.done))
        return None
    cleaner = _load_site(job.group.model) if isinstance(job.group.model, str) else None
    path = job.directory / f"{stretch.name}.log"
    cleaned = Counts()
    sent, reported_at = 0, time.monotonic()
    with Log(path) as log:
        if log.count:
            report(("found", log.tally.counts.as_dict()))
        for number, (record, outcome, _) in enumerate(reading.items()):
            if number < log.count:
                continue
            if outcome is None:
                if job.is_careful:
                    report(("clean", number))
                problem = job.bad.get(number)
                if problem is None and isinstance(job.group.model, Problem):
                    problem = record.problem or job.group.model
                outcome = failure(problem) if problem else reading.clean(record, cleaner)  # noqa: PLW2901
                cleaned.add(outcome)
            log.add(record, outcome)
            if time.monotonic() - reported_at > REPORT_SECONDS:
                report(("progress", dict(cleaned.statuses), cleaned.bytes, reading.done - sent))
                cleaned, sent, reported_at = Counts(), reading.done, time.monotonic()
        if worker.is_guarded:
            set_deadline(0)
        report(("progress", dict(cleaned.statuses), cleaned.bytes, reading.done - sent))
        tally = log.tally.as_dict()
    target = path.with_suffix(worker.sink.segment_suffix)
    if target != path:
        temporary = path.with_suffix(".tmp")
        with worker.sink.segment(temporary) as write, path.open("rb") as file:
            for record, outcome, _ in read_log(file):
                write(record, outcome)
        temporary.replace(target)
    segment = Segment(stretch, reading.following, reading.at, target.stat().st_size, _checksum(target), tally)
    write_atomically(path.with_suffix(".done"), json.dumps(segment).encode(), alone=True)
    if target != path:
        path.unlink()
    return segment


def join_segments(paths: list[Path], target: Path, report: Report) -> str:
    """Make a part of some segments. Returns its digest."""
    import hashlib

    state().sink.join(paths, target)
    with target.open("rb") as file:
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            checksum = zlib.crc32(piece, checksum)
    return checksum


@lru_cache(maxsize=2)  # the pages of a site are cleaned one after the other
def _load_site(model: str) -> Cleaner:
    from victorpy.batch.site_model import from_bytes

    return from_bytes(state().pages.cleaner, Path(model).read_bytes())


# Spilled records, which wait until the pages of their site are known.


def pack(record: Record) -> bytes:
    """Return a record as compressed bytes."""
    content = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
    try:
        import zstandard
    except ImportError:
        return zlib.compress(content, 1)
    return zstandard.ZstdCompressor(level=1).compress(content)


def unpack(content: bytes) -> Record:
    """Return the record that `pack` has made bytes of. Never unpack untrusted bytes."""
    if content[:1] == b"x":
        pickled = zlib.decompress(content)
    else:
        import zstandard

        pickled = zstandard.ZstdDecompressor().decompress(content)
    record: Record = pickle.loads(pickled)
    return record


class Spill:
    """A file of packed records, each of which can be read alone."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, path.open("wb")

    def add(self, packed: bytes) -> InputFile:
        """Add a record, and return its place."""
        offset = self._file.tell()
        self._file.write(_frame(packed))
        return spilled_page(self._path, offset)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def spilled_page(path: Path, offset: int) -> InputFile:
    """Return the place of a spilled record as a file to be read."""
    return InputFile(path, path, path.name, offset=offset)


def read_spilled(page: InputFile) -> bytes:
    """Read a packed record."""
    with page.path.open("rb") as file:
        file.seek(page.offset)
        return file.read(_FRAME.unpack(file.read(_FRAME.size))[0])


def spill_stretch(job: Job, report: Report) -> Segment:
    """Write the records of a stretch to a spill file. The tally lists their sites and places."""
    worker, stretch = state(), job.stretch
    reading = _Reading(job, report)
    wanted = Wanted(read_failed(worker.plan.retry)) if worker.plan.retry else None
    pages: list[tuple[str, int, bool]] = []
    path = job.directory / f"{stretch.name}.spill"
    with Spill(path) as spill:
        for item in reading.items():
            page = spill.add(pack(item.record))
            is_wanted = wanted is None or item.record in wanted
            pages.append((item.record.site(worker.plan.site_key), page.offset, is_wanted))
    if worker.is_guarded:
        set_deadline(0)
    report(("progress", {}, 0, reading.done))
    segment = Segment(stretch, reading.following, reading.at, path.stat().st_size, 0, {"pages": pages})
    write_atomically(path.with_suffix(".done"), json.dumps(segment).encode(), alone=True)
    return segment


@dataclass(frozen=True, slots=True)
class SpillReader:
    """Reads files, and single records of spill files."""

    def open(self, plan: Plan) -> Read:
        read = FileReader().open(plan)
        return lambda file: iter([Item(unpack(read_spilled(file)))]) if file.path.suffix == ".spill" else read(file)
