"""What runs inside the tasks of a Spark job: records read, laid aside and cleaned, each in a guarded child process.

An engine does not survive a page that ends its process: it gives the task to another process, which dies of the same
page, until the job is given up. Here the process that Spark knows only waits; reading, making a site's model and
cleaning are done by children that may die. They are kept from task to task, with the model that they have loaded.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from victorpy.batch.by_site import SAMPLE, Ref, bucket_of, clean_site, site_key
from victorpy.batch.choice import Choice
from victorpy.batch.dedup import Dedup
from victorpy.batch.feeds import batches as in_tasks
from victorpy.batch.guard import Guard, Limits
from victorpy.batch.inputs import Mark
from victorpy.batch.outcome import Outcome, row
from victorpy.batch.reading import Unit, read_unit, reading_guard
from victorpy.batch.records import Origin, Record
from victorpy.batch.sinks.jsonl import as_line
from victorpy.batch.sinks.parquet import table_row, table_schema
from victorpy.batch.sources import ReadOptions
from victorpy.batch.sources.jsonl import field_record
from victorpy.batch.spark_dedup import judged, signed_row, signed_schema
from victorpy.batch.worker import Work
from victorpy.cleaner import Cleaner
from victorpy.outputs import find_output

ROWS = 64
"""Rows that go to Spark together, unless they are large: then fewer do."""
ROWS_BYTES = 8_000_000


@dataclass(frozen=True)
class Cleaning:
    """How pages are cleaned, as every task has to know it."""

    choice: Choice = field(default_factory=Choice)
    format: str = "text"
    limits: Limits = field(default_factory=Limits)
    read: ReadOptions = field(default_factory=ReadOptions)
    sample: int = SAMPLE
    make: Callable[[], Cleaner] | None = None
    """How to have the cleaner, where it is not only to be loaded."""
    dedup: Dedup | None = None
    """How replicas are told, where they are to go."""
    archive: str = ""
    """The name that the model was sent out under, where it does not come with the package."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What the format adds to rows."""
        return find_output(self.format).columns

    def work(self) -> Work:
        """What a child has to know; here is where the model was put on this machine."""
        choice = self.choice
        if self.archive:
            from pyspark import SparkFiles

            place = SparkFiles.get(self.archive)
            choice = replace(choice, method=place) if choice.method else replace(choice, model=place)
        return Work(self.make or choice.load, self.format, most_bytes=self.read.most_bytes, dedup=self.dedup)


# Rows, as Spark gets them.


def result_schema(cleaning: Cleaning, lines: bool = False) -> Any:
    """The columns that tasks give: those of a row, or the row as a line of JSON; and the page's size, to be summed."""
    told = [("line", pa.string()), ("status", pa.string()), ("kind", pa.string())]
    described = told if lines else table_schema(cleaning.columns)
    return pa.schema([*described, ("size", pa.int64())])


def _result_row(record: Record, outcome: Outcome, columns: Sequence[str], lines: bool) -> dict[str, Any]:
    if not lines:
        return {**table_row(record, outcome, columns), "size": outcome.size}
    told = {"status": str(outcome.status), "kind": str(outcome.kind or ""), "size": outcome.size}
    return {"line": as_line(row(record, outcome, columns)).decode().removesuffix("\n"), **told}


def _results(cleaning: Cleaning, lines: bool, ended: Iterable[tuple[Record, Outcome]]) -> Iterator[pa.RecordBatch]:
    columns = cleaning.columns
    rows = ((_result_row(record, outcome, columns, lines), len(outcome.text)) for record, outcome in ended)
    return _in_batches(rows, result_schema(cleaning, lines))


def _in_batches(rows: Iterable[tuple[dict[str, Any], int]], schema: Any) -> Iterator[pa.RecordBatch]:
    """Put rows, each with its size, into batches that are neither long nor large."""
    waiting: list[dict[str, Any]] = []
    size = 0
    for each, length in rows:
        waiting.append(each)
        size += length
        if len(waiting) >= ROWS or size >= ROWS_BYTES:
            yield pa.RecordBatch.from_pylist(waiting, schema=schema)
            waiting, size = [], 0
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, schema=schema)


# What Spark calls.


def clean_units(cleaning: Cleaning, lines: bool, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read the files that the rows name, and clean their pages."""
    for unit in _units(batches):
        yield from _results(cleaning, lines, _cleaned(cleaning, _read(cleaning, unit)))


def clean_rows(cleaning: Cleaning, lines: bool, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Clean the pages that are in the rows."""
    return _results(cleaning, lines, _cleaned(cleaning, _row_records(cleaning, batches)))


def sign_units(cleaning: Cleaning, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Clean the pages of the files that the rows name, to be compared with others before they are written."""
    for unit in _units(batches):
        before = f"{unit.number:09d} {unit.start:020d}"
        yield from _signed(cleaning, before, _cleaned(cleaning, _read(cleaning, unit)))


def sign_laid_aside(cleaning: Cleaning, site: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Clean a site, to be compared with others before it is written; sites are in the order of a local run."""
    yield from _signed(cleaning, f"{bucket_of(site):02d} {site}\0", _cleaned_site(cleaning, site, batches))


def judge_rows(cleaning: Cleaning, lines: bool, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Make the rows of records of which it was decided what they repeat."""
    waiting = (each for batch in batches for each in batch.to_pylist())
    return _results(cleaning, lines, (judged(each["ended"], each["repeats"]) for each in waiting))


def _signed(cleaning: Cleaning, before: str, ended: Iterable[tuple[Record, Outcome]]) -> Iterator[pa.RecordBatch]:
    """Records as they wait for the decision, with places that begin in this way."""
    dedup = cleaning.dedup
    assert dedup is not None
    rows = (
        (signed_row(dedup, f"{before} {number:012d}", replace(record, payload=b""), outcome), len(outcome.text))
        for number, (record, outcome) in enumerate(ended)
    )
    return _in_batches(rows, signed_schema())


def aside_schema() -> Any:
    """The columns of records that are laid aside by their site."""
    return pa.schema(
        [("site", pa.string()), ("file", pa.string()), ("position", pa.int64()), ("record", pa.binary())],
    )


def lay_aside_units(cleaning: Cleaning, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read the files that the rows name, to be laid aside."""
    for unit in _units(batches):
        yield from _aside((f"{unit.number:09d}", record) for record in _read(cleaning, unit))


def lay_aside_rows(cleaning: Cleaning, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Make records of rows with pages, to be laid aside."""
    return _aside((record.origin.source, record) for record in _row_records(cleaning, batches))


def clean_laid_aside(
    cleaning: Cleaning, lines: bool, site: str, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Clean a site."""
    return _results(cleaning, lines, _cleaned_site(cleaning, site, batches))


def _cleaned_site(cleaning: Cleaning, site: str, batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Record, Outcome]]:
    """Clean a site. It goes to this machine's disk as it comes; memory keeps only where its records are."""
    with tempfile.TemporaryDirectory(prefix="victor-site-") as place, _guarded(cleaning) as guard:
        refs = _spill(Path(place, "records"), batches)
        yield from clean_site(site, refs, Path(place, "model"), cleaning.sample, cleaning.limits, guard)


def _spill(path: Path, batches: Iterable[pa.RecordBatch]) -> list[Ref]:
    """Write a site's records to a file; where they are is told in the order of the inputs, however they arrive."""
    found: list[tuple[str, int, int, int]] = []
    with path.open("wb") as file:
        for batch in batches:
            columns = batch.to_pydict()
            for file_key, position, content in zip(
                columns["file"], columns["position"], columns["record"], strict=True
            ):
                found.append((file_key, position, file.tell(), len(content)))
                file.write(content)
    return [Ref(str(path), offset, length) for _, _, offset, length in sorted(found)]


def _aside(records: Iterable[tuple[str, Record]]) -> Iterator[pa.RecordBatch]:
    return _in_batches(map(_aside_row, records), aside_schema())


def _aside_row(ordered: tuple[str, Record]) -> tuple[dict[str, Any], int]:
    file, record = ordered
    content = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
    site = site_key(record).encode("utf-8", "backslashreplace").decode()
    told = {"site": site, "file": file, "position": record.origin.position, "record": content}
    return told, len(content)


def _units(batches: Iterable[pa.RecordBatch]) -> Iterator[Unit]:
    for batch in batches:
        for content in batch.column("unit").to_pylist():
            yield pickle.loads(content)  # the driver's own


def _row_records(cleaning: Cleaning, batches: Iterable[pa.RecordBatch]) -> Iterator[Record]:
    for batch in batches:
        for fields in batch.to_pylist():
            origin = Origin(str(fields.get("source") or ""), int(fields.get("position") or 0))
            yield field_record(fields, origin, cleaning.read, 0)


def _cleaned(cleaning: Cleaning, records: Iterable[Record]) -> Iterator[tuple[Record, Outcome]]:
    marked = ((Mark(0, record.origin.position), record) for record in records)
    with _guarded(cleaning) as guard:
        for task, outcomes in guard.map(in_tasks(marked)):
            for (_, record), outcome in zip(task.told, outcomes, strict=True):
                yield record, outcome


# Children, which stay from task to task.

_guards: dict[tuple[str, Any], Guard] = {}


@contextmanager
def _guarded(cleaning: Cleaning) -> Iterator[Guard]:
    """The child that cleans."""
    with _kept("clean", cleaning, lambda: Guard(cleaning.work(), replace(cleaning.limits, jobs=1))) as guard:
        yield guard


def _read(cleaning: Cleaning, unit: Unit) -> Iterator[Record]:
    """Read a unit's records, in the child that reads."""
    with _kept("read", cleaning.limits, lambda: reading_guard(cleaning.limits)) as guard:
        yield from read_unit(guard, unit, cleaning.read)


@contextmanager
def _kept(purpose: str, key: Any, start: Callable[[], Guard]) -> Iterator[Guard]:
    """Take the child for this purpose, or start it; what was broken off in the middle is not used again."""
    guard = _guards.pop((purpose, key), None)
    if guard is None:
        for other in [known for known in _guards if known[0] == purpose]:
            _guards.pop(other).stop()  # of another job, which is over
        guard = start()
    try:
        yield guard
    except BaseException:
        guard.stop()
        raise
    _guards[purpose, key] = guard
