"""Clean a stretch in a worker: read some consecutive records, clean them, and write them to a log.

Stretches depend only on the inputs, not on the number of workers, so the same inputs give the same logs. If the output
of a stretch depends only on its records, the worker also writes it as a piece of output.
"""

from __future__ import annotations

import io
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypedDict

from victorpy.base.child import limit_memory
from victorpy.base.plain import checked
from victorpy.batch.inputs import Group, InputFile, Stamps, Wanted, is_unread, read_failed, read_file, unread_record
from victorpy.batch.local.logs import (
    EXPANSION_ERRORS,
    PIECE,
    SPILL,
    Log,
    Segment,
    Spill,
    Stretch,
    pack,
    piece_checksum,
    read_log,
    read_spilled,
    unpack,
)
from victorpy.batch.local.pool import MEMORY_EXIT, PATIENCE, Report, set_deadline
from victorpy.batch.outcome import Counts, Outcome, PageCleaner, failure, stored_outcome
from victorpy.batch.plan import Plan
from victorpy.batch.record import Kind, Origin, Problem, Record, Status, place_of
from victorpy.batch.sinks import Sink, make_sink
from victorpy.batch.sources import source_of
from victorpy.batch.store import Store
from victorpy.cleaner import Cleaner
from victorpy.errors import DataError

AHEAD_BYTES = 32_000_000
"""Maximum bytes of pages that a worker reads ahead, so that another worker can continue reading."""
REPORT_SECONDS, _SPILLED_AT_ONCE = 0.2, 100
"""Interval between reports of progress while pages are cleaned, and number of spilled pages between reports."""
_COPIES = 3
"""Number of copies of a page in memory while it is read. They do not count towards the memory limit."""
_NO_LIMIT = 1 << 60


@dataclass(frozen=True, slots=True)
class Job:
    """A stretch to be cleaned, and the problems that earlier attempts found."""

    stretch: Stretch
    group: Group
    directory: Path
    is_wanted: bool = True
    """Whether to clean the records. If not, they are only read, to find the next stretch."""
    has_piece: bool = False
    """Whether to write the piece of output."""
    is_careful: bool = False
    """Whether to report every step, because an attempt has failed."""
    bad: Mapping[int, Problem] = field(default_factory=dict)
    """Problems of records that ended a worker, by their number in the stretch."""
    unread: Mapping[int, Problem] = field(default_factory=dict)
    """Problems of records that ended a worker while it read them."""


# Rows of an earlier run. If some inputs have changed, the rows of unchanged files are reused.

Item = tuple[Record, Outcome | None]
"""A record, and its outcome if it is already known."""
Read = Callable[[InputFile], Iterator[Item]]


class _Row(TypedDict):
    """The columns that identify a record."""

    url: str
    name: str
    source: str
    position: int
    crawled: str
    text: str | None


class Previous:
    """The parts of an earlier run. Each worker reads them in the order of its inputs."""

    def __init__(self, store: Store, stamps: Stamps) -> None:
        self._stamps = store.previous_stamps()
        self._numbers = stamps.unchanged_from(self._stamps)
        """The earlier number of each input file, or -1 if it is new or has changed."""
        parts, self._last = store.previous_parts()
        self._parts = parts if len(self._stamps) else []
        self._rows: Iterator[dict[str, Any]] = iter(())
        self._row: dict[str, Any] | None = None
        self._part = Path()
        self._key = -1, -1
        """Position of the current row: number of the file, and of the record in it."""

    def open(self, plan: Plan) -> Read:
        """Return a function that reads a file. It returns the outcome of records that do not have to be cleaned."""
        sink = make_sink(plan)

        def read(file: InputFile) -> Iterator[Item]:
            start = file.start
            number, last = int(self._numbers[file.number]), self._last
            is_complete = last is None or number < last[0]
            if number >= 0 and (is_complete or (last is not None and number == last[0])):
                for fields in self._rows_of(sink, number, start):
                    position = fields["position"]
                    if file.end is not None and position >= file.end:
                        return
                    start = position + 1
                    is_known = fields["text"] is not None
                    outcome = stored_outcome(fields, sink.output.columns, self._part) if is_known else None
                    if outcome is None or (plan.plain and outcome.status is Status.FAILED):
                        yield from ((record, None) for record in islice(read_file(file, plan.read, position), 1))
                    else:
                        yield self._record(file, fields, outcome), outcome
                if is_complete:
                    return
                start = max(start, last[1] if last else 0)
            offset = file.offset if start == file.start else 0
            yield from ((record, None) for record in read_file(file._replace(offset=offset), plan.read, start))

        return read

    def _rows_of(self, sink: Sink, number: int, start: int) -> Iterator[dict[str, Any]]:
        if self._row is None or self._key > (number, start):
            self._rows = self._all_rows(sink)
            self._advance()
        while self._row is not None and self._key < (number, start):
            self._advance()
        while self._row is not None and self._key[0] == number:
            yield self._row
            self._advance()

    def _all_rows(self, sink: Sink) -> Iterator[dict[str, Any]]:
        for part in self._parts:
            self._part = part
            try:
                for fields in sink.rows(part):
                    checked(fields, _Row, part)
                    yield fields
            except EXPANSION_ERRORS as error:
                raise DataError(f"{part}: damaged: {error}") from error

    def _advance(self) -> None:
        source = self._row and self._row["source"]
        self._row = next(self._rows, None)
        if self._row is not None:
            is_same = self._row["source"] == source
            number = self._key[0] if is_same else self._stamps.number_of(self._row["source"])
            self._key = number, self._row["position"]

    def _record(self, file: InputFile, fields: dict[str, Any], outcome: Outcome) -> Record:
        name, origin = fields["name"], Origin(fields["source"], fields["position"], is_unread(outcome.reason))
        url = fields["url"] if fields["url"] == name else ""  # otherwise the address was read from the page
        place, reached = file.place, 0
        if source_of(file.path) is not None:
            place, reached = place_of(url, origin), file.path.stat().st_size
        return Record(name, place, url=url, origin=origin, date=fields["crawled"], reached=reached)


# The state of a worker.


class _OpenFile:
    """Reads files. Keeps the last file open, because the next stretch is often in the same file."""

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
                yield self._last, None
            self._last = next(self._records, None)


def _reader(plan: Plan, previous: Previous | None) -> Read:
    """Return a function that reads input files and spilled records. In a retry, it reads only the wanted records."""
    if previous is not None:
        read_inputs = previous.open(plan)
    elif plan.retry is not None and not plan.by_site:
        wanted = Wanted(read_failed(plan.retry))

        def read_inputs(file: InputFile) -> Iterator[Item]:
            records = wanted.read(file._replace(start=0, offset=0), plan.read, file.start)
            return ((record, None) for record in records)
    else:
        read_inputs = _OpenFile(plan).read

    def read(file: InputFile) -> Iterator[Item]:
        return iter([(unpack(read_spilled(file)), None)]) if file.path.suffix == SPILL else read_inputs(file)

    return read


@dataclass(slots=True)
class _State:
    plan: Plan
    pages: PageCleaner
    read: Read
    is_guarded: bool
    memory: int


_states: list[_State] = []
"""The state of this worker process."""


def start_worker(plan: Plan, previous: Previous | None, is_guarded: bool) -> int:
    """Load the model. Returns the number of bytes that reading takes in addition to a page."""
    if plan.to == "parquet":
        _prepare_arrow()
    extra = _COPIES * plan.most_bytes + AHEAD_BYTES
    _load_site.cache_clear()
    _states[:] = [_State(plan, PageCleaner(plan), _reader(plan, previous), is_guarded, plan.limits.memory + extra)]
    return extra


def state() -> _State:
    """Return the state that `start_worker` has loaded."""
    return _states[0]


def allow_seconds(seconds: float) -> None:
    """Set the deadline of a guarded worker, or none if `seconds` is 0."""
    if state().is_guarded:
        set_deadline(seconds)


@lru_cache(maxsize=1)
def _prepare_arrow() -> None:
    """Load the library that reads and writes tables.

    Its allocator and its threads reserve gigabytes of address space, which would count towards the memory limit. So the
    system allocator is used, and a small table is read before the limit is set.
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
    allow_seconds(worker.plan.limits.deadline)
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
        """Number of bytes read so far from files with many pages."""
        first = job.group.files[job.stretch.file]
        self.at = first.number, job.stretch.start
        """Number of the file among all inputs, and of the next record in it."""
        self._end: int | None = None
        if first.base:
            with suppress(OSError):  # reading the file will report the error
                os.chdir(first.base)
        source = source_of(first.path)
        cut = source.cut if source is not None else None
        self._is_table = cut is not None
        self._is_whole = cut is not None and first.end is None
        """Whether the stretch ends where the table can be divided, not after a number of records."""
        if self._is_table:
            self._allow(_NO_LIMIT)
            _prepare_arrow()
            self._allow(4 * state().memory)
        if cut is not None and self._is_whole:
            self._end = cut(first.path, state().plan.read, job.stretch.start, job.group.records)
            if self._end is not None:
                self.following = job.stretch._replace(number=job.stretch.number + 1, start=self._end)

    def _allow(self, memory: int) -> None:
        allow_seconds(state().plan.limits.deadline + PATIENCE)
        if state().is_guarded:
            limit_memory(memory)

    def clean(self, record: Record, cleaner: Cleaner | None) -> Outcome:
        """Clean a record. Memory that is used for reading a table does not count."""
        if not self._is_table:
            return clean_checked(record, cleaner)
        self._allow(state().memory)
        outcome = clean_checked(record, cleaner)
        self._allow(4 * state().memory)
        return outcome

    def items(self) -> Iterator[Item]:
        """Read the records. Reads ahead if this allows another worker to start with the next stretch."""
        items = self._read()
        ahead: list[Item] = []
        is_known = self._is_whole
        if not self._is_table and not self._job.is_careful:
            size = 0
            for item in items:
                ahead.append(item)
                size += len(item[0].payload)
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
                allow_seconds(worker.plan.limits.deadline + PATIENCE)
                if job.is_careful:
                    self._report(("read", count))
                problem = job.unread.get(count)
                item = next(records, None) if problem is None else (unread_record(file, position, *problem), None)
                if item is None:
                    break
                record = item[0]
                position = record.origin.position
                if count == job.group.records and not self._is_whole:
                    self.following = Stretch(stretch.group, stretch.number + 1, index, position, record.offset)
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

    def segment(self, row_bytes: int, tally: dict[str, Any], checksum: int | None = None) -> Segment:
        """Return the segment of the finished stretch."""
        return Segment(self._job.stretch, self.following, self.at, row_bytes, tally, checksum)


def run_stretch(job: Job, report: Report) -> Segment | None:
    """Clean a stretch, and write the records to a log.

    If the stretch is not wanted, only report where the next one begins.
    """
    reading = _Reading(job, report)
    if not job.is_wanted:
        for _ in reading.items():
            pass
        report(("progress", {}, 0, reading.done))
        return None
    path = job.directory / f"{job.stretch.name}.log"
    path.with_suffix(PIECE).unlink(missing_ok=True)  # left by a failed attempt
    with Log(path) as log:
        ended = _clean_records(job, reading, log, report)
        if job.has_piece:
            make_sink(state().plan).write(path.with_suffix(PIECE), ended)
        else:
            for _ in ended:
                pass
        allow_seconds(0)
        return log.end(reading.segment(log.tally.row_bytes, log.tally.as_dict(), piece_checksum(path)))


def _clean_records(job: Job, reading: _Reading, log: Log, report: Report) -> Iterator[tuple[Record, Outcome]]:
    """Clean the records of a stretch and add them to the log. Records that are already in the log are yielded first."""
    model = job.group.model
    cleaner = _load_site(model) if isinstance(model, str) else None
    cleaned, finished = Counts(), log.tally.pages
    sent, reported_at = 0, time.monotonic()
    if finished:
        report(("found", log.tally.as_dict()))
        yield from read_log(log.path)
    for number, (record, outcome) in enumerate(reading.items()):
        if number < finished:
            continue
        if outcome is None:
            if job.is_careful:
                report(("clean", number))
            problem = job.bad.get(number)
            if problem is None and isinstance(model, Problem):
                problem = record.problem or model
            outcome = failure(problem) if problem else reading.clean(record, cleaner)  # noqa: PLW2901
            cleaned.count(outcome)
        log.add(record, outcome)
        yield record, outcome
        if time.monotonic() - reported_at > REPORT_SECONDS:
            report(("progress", dict(cleaned.statuses), cleaned.bytes, reading.done - sent))
            cleaned, sent, reported_at = Counts(), reading.done, time.monotonic()
    report(("progress", dict(cleaned.statuses), cleaned.bytes, reading.done - sent))


def spill_stretch(job: Job, report: Report) -> Segment:
    """Write the records of a stretch to a spill file. The tally lists their sites and places."""
    plan = state().plan
    reading = _Reading(job, report)
    wanted = Wanted(read_failed(plan.retry)) if plan.retry else None
    pages: list[tuple[str, int, bool]] = []
    sent = 0
    path = job.directory / f"{job.stretch.name}{SPILL}"
    with Spill(path) as spill:
        for record, _ in reading.items():
            site = record.site(plan.site_key)
            if plan.part and not is_in_part(site, *plan.part):
                continue
            is_wanted = wanted is None or record in wanted
            pages.append((site, spill.add(pack(record)).offset, is_wanted))
            if len(pages) % _SPILLED_AT_ONCE == 0:
                report(("progress", {}, 0, reading.done - sent))
                sent = reading.done
        allow_seconds(0)
        report(("progress", {}, 0, reading.done - sent))
        return spill.end(reading.segment(0, {"pages": pages}))


def is_in_part(site: str, number: int, count: int) -> bool:
    """Whether a part of the inputs contains a site.

    `part` is the number of the part, from 1, and the number of parts.
    """
    return zlib.crc32(site.encode("utf-8", "surrogatepass")) % count == number - 1


@lru_cache(maxsize=2)  # consecutive pages are usually from the same site
def _load_site(model: str) -> Cleaner:
    from victorpy.batch.site_model import from_bytes

    return from_bytes(state().pages.cleaner, Path(model).read_bytes())
