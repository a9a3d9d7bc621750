"""The functions that Spark tasks call. A guarded child process reads and cleans records.

If a page killed the process of a task, Spark would repeat the task. The same page would kill the next process, until
Spark gives up. So the process that Spark starts only waits for a child process, which reads, learns sites and cleans.
The child is reused for later tasks, with its loaded model.
"""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import count, zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
from more_itertools import chunked, constrained_batches
from pyspark.accumulators import Accumulator

from victorpy.base.plain import from_json, to_json
from victorpy.batch.inputs import Group, InputFile, find_files, read_file
from victorpy.batch.local.by_site import Sites, bucket_of
from victorpy.batch.local.flow import Flow
from victorpy.batch.local.logs import SPILL, Entry, Spill, pack, read_log, read_spilled, spilled_page, unpack
from victorpy.batch.local.pool import Workers
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.stretches import spill_stretch, start_worker
from victorpy.batch.outcome import Outcome, describe_failure, describe_place, row
from victorpy.batch.plan import Plan
from victorpy.batch.record import Origin, Record, Status
from victorpy.batch.replicas import decided
from victorpy.batch.sinks import as_line, table_row, table_schema
from victorpy.batch.sources import ReadOptions, source_of
from victorpy.batch.sources.rows import field_record
from victorpy.errors import DataError
from victorpy.outputs import find_output

BATCH_ROWS = 64
BATCH_BYTES = 8_000_000
"""Maximum size of a batch of rows."""
SPLIT_ROWS = 2_000
"""Minimum number of rows in a piece of a table that one task reads."""
STRETCH_RECORDS = 64

SENT = "sent:"
"""Prefix in the name of a model that Spark has sent to all machines."""

Batches = Iterable[pa.RecordBatch]
Ended = tuple[tuple[int, int], Record, Outcome]
"""A cleaned record with its position (number of the file, number in the file) and its outcome."""


# Rows for Spark.


class Form(Enum):
    """The columns in which tasks return cleaned records."""

    TABLE = "the columns of a table"
    LINES = "a line of JSON"
    SIGNED = "the record as JSON, until replicas are known"


@dataclass(frozen=True)
class Work:
    """The work of a task, and the counters that it increases at the end."""

    plan: Plan
    form: Form = Form.TABLE
    pages: Accumulator[int] | None = None
    cpu: Accumulator[float] | None = None
    """CPU seconds for reading and cleaning pages, without Java processes."""


def make_schema(*names: str, **types: Any) -> Any:
    """Return a schema of columns. Columns without a type are strings."""
    return pa.schema([(name, types.get(name, pa.string())) for name in names])


SITE_SCHEMA = make_schema("site", "file", "position", "record", position=pa.int64(), record=pa.binary())
"""Schema of records with their site."""
SIGNED_SCHEMA = make_schema(
    *("place", "site", "signed", "description", "failure", "ended"),
    signed=pa.list_(pa.struct([("signature", pa.binary()), ("length", pa.int64())])),
    ended=pa.binary(),
)
"""Schema of cleaned records before replicas are known. Sorting by place gives the order of the output."""


def result_schema(work: Work) -> Any:
    """Return the columns of cleaned records."""
    if work.form is Form.SIGNED:
        return SIGNED_SCHEMA
    if work.form is Form.LINES:
        return make_schema("line", "status", "kind", "size", size=pa.int64())
    return table_schema(find_output(work.plan.format).columns)


def _results(work: Work, ended: Iterable[Ended], site: str = "") -> Iterator[pa.RecordBatch]:
    """Return cleaned records as rows."""
    form, columns = work.form, find_output(work.plan.format).columns

    def result_row(place: tuple[int, int], record: Record, outcome: Outcome) -> dict[str, Any]:
        if form is Form.SIGNED:
            return {
                "place": f"{site}{place[0]:09d} {place[1]:020d}",
                "site": record.site(work.plan.site_key).encode("utf-8", "backslashreplace").decode(),
                "signed": [signed._asdict() for signed in outcome.signed],
                "description": _line(describe_place(record, outcome)),
                "failure": _line(describe_failure(record, outcome)) if outcome.status is Status.FAILED else None,
                "ended": to_json((record, replace(outcome, signed=()))),
            }
        if form is Form.TABLE:
            return table_row(record, outcome, columns)
        line = _line(row(record, outcome, columns))
        return {"line": line, "status": str(outcome.status), "kind": str(outcome.kind or ""), "size": outcome.size}

    rows = ((result_row(*record), len(record[2].text)) for record in ended)
    return _in_batches(rows, result_schema(work))


def _line(content: dict[str, Any]) -> str:
    return as_line(content).decode().removesuffix("\n")


def _in_batches(rows: Iterable[tuple[dict[str, Any], int]], schema: Any) -> Iterator[pa.RecordBatch]:
    """Collect rows, given with their sizes, into batches."""
    for batch in constrained_batches(rows, BATCH_BYTES, BATCH_ROWS, get_len=lambda pair: pair[1], strict=False):
        yield pa.RecordBatch.from_pylist([fields for fields, _ in batch], schema=schema)


def map_rows(
    batches: Batches, schema: Any, function: Callable[[dict[str, Any]], Iterable[dict[str, Any]]]
) -> Iterator[pa.RecordBatch]:
    """Replace each row by the rows that a function returns for it."""
    for batch in batches:
        rows = [row for fields in batch.to_pylist() for row in function(fields)]
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _rows(batches: Batches) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()


# The functions that Spark calls.


def clean_pages(work: Work, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Clean the pages in the rows, or in the files that the rows name."""

    def cleaned() -> Iterator[Ended]:
        with _child(work) as child, tempfile.TemporaryDirectory(prefix="victor-pages-") as place:
            directory = Path(place)
            groups = _groups(work.plan, _rows(batches), directory)
            for number, (unit, record, outcome) in enumerate(_run_groups(work, child, groups, directory)):
                is_unit = unit.path.suffix != SPILL
                yield (unit.number, record.origin.position) if is_unit else (0, number), record, outcome

    return _results(work, cleaned())


def _groups(plan: Plan, rows: Iterator[dict[str, Any]], directory: Path) -> Iterator[Group]:
    """Yield the files that the rows name. Pages in the rows are first written to files."""
    numbers = count()
    for fields in chunked(rows, STRETCH_RECORDS):
        if "unit" in fields[0]:
            for one in fields:
                yield Group(next(numbers), (from_json(one["unit"], InputFile, "a unit"),), STRETCH_RECORDS)
            continue
        number = next(numbers)
        with Spill(directory / f"{number}{SPILL}") as spill:
            files = [spill.add(pack(_row_record(plan.read, one))) for one in fields]
        yield Group(number, tuple(files), STRETCH_RECORDS)


def _row_record(options: ReadOptions, fields: dict[str, Any]) -> Record:
    origin = Origin(str(fields.get("source") or ""), int(fields.get("position") or 0))
    return field_record(fields, origin, options, reached=0)


def _run_groups(
    work: Work, child: Workers, groups: Iterable[Group], directory: Path, sites: Sites | None = None
) -> Iterator[tuple[InputFile, Record, Outcome]]:
    """Clean groups in the child. Yield the records with their outcomes and the first file of their group."""
    files: dict[int, InputFile] = {}

    def remember(groups: Iterable[Group]) -> Iterator[Group]:
        for group in groups:
            files[group.number] = group.files[0]
            yield group

    flow = Flow(child, remember(groups), directory, ".log", Progress(io.StringIO(), quiet=True))
    flow.after = lambda group: files.pop(group.number, None) and None
    if sites is not None:
        sites.give = flow.give
    for segment in flow.segments():
        first = files[segment.stretch.group]
        log = directory / f"{segment.stretch.name}.log"
        for record, outcome in read_log(log):
            if work.pages is not None:
                work.pages.add(1)
            yield first, record, outcome
        log.unlink()
        if first.path.suffix == SPILL and sites is None:
            first.path.unlink()


def group_pages(work: Work, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Return the pages in the rows, or in the files that the rows name, as packed records with their site."""
    plan = work.plan

    def site_row(file: int, record: Record, packed: bytes) -> tuple[dict[str, Any], int]:
        site = record.site(plan.site_key).encode("utf-8", "backslashreplace").decode()
        name = f"{file:09d} {record.origin.source}"
        return {"site": site, "file": name, "position": record.origin.position, "record": packed}, len(packed)

    def rows() -> Iterator[tuple[dict[str, Any], int]]:
        for fields in _rows(batches):
            if "unit" not in fields:
                record = _row_record(plan.read, fields)
                yield site_row(0, record, pack(record))
                continue
            unit = from_json(fields["unit"], InputFile, "a unit")
            groups = [Group(0, (unit,), STRETCH_RECORDS)]
            with _child(work) as child, tempfile.TemporaryDirectory(prefix="victor-pages-") as place:
                directory = Path(place)
                progress = Progress(io.StringIO(), quiet=True)
                for segment in Flow(child, groups, directory, SPILL, progress, function=spill_stretch).segments():
                    path = directory / f"{segment.stretch.name}{SPILL}"
                    for _, offset, _ in segment.tally["pages"]:
                        packed = read_spilled(spilled_page(path, offset))
                        yield site_row(unit.number, unpack(packed), packed)
                    path.unlink()

    return _in_batches(rows(), SITE_SCHEMA)


def clean_grouped(work: Work, site: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Clean the records of one site. Sites have the same order as in a local run.

    The records are spilled to the local disk, and memory holds only their offsets.
    """

    def cleaned() -> Iterator[Ended]:
        with _child(work) as child, tempfile.TemporaryDirectory(prefix="victor-site-") as place:
            directory = Path(place)
            with Spill(directory / f"pages{SPILL}") as spill:
                places = [(row["file"], row["position"], spill.add(row["record"])) for row in _rows(batches)]
            pages = [page for _, _, page in sorted(places)]  # restore the order of the inputs
            sites = Sites(work.plan, directory, Progress(io.StringIO(), quiet=True), child)
            model = sites.wait_for_model(site, sites.learn(site, pages))
            some = enumerate(chunked(pages, STRETCH_RECORDS))
            groups = (Group(number, tuple(files), STRETCH_RECORDS, model) for number, files in some)
            for number, (_, record, outcome) in enumerate(_run_groups(work, child, groups, directory, sites)):
                yield (0, number), record, outcome

    return _results(work, cleaned(), f"{bucket_of(site):02d} {site}\0")


def finish_signed(work: Work, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Turn signed rows into rows of the output. A decision about a replica changes its row."""
    dedup = work.plan.dedup

    def final() -> Iterator[Ended]:
        for fields in _rows(batches):
            record, outcome = from_json(fields["ended"], Entry, "a cleaned record")
            decision = fields.get("decision")
            yield (0, 0), record, decided(dedup, outcome, decision) if dedup and decision else outcome

    return _results(work, final())


# The files that tasks read.


def find_units(inputs: Sequence[str], options: ReadOptions) -> Iterator[InputFile]:
    """Find the input files. Raises if a file is a page, or a table without pages."""
    for number, file in enumerate(find_files(inputs)):
        source = source_of(file.path)
        if source is None:
            raise DataError(
                f"{file.name}: Spark cannot clean single page files; give WARC files, JSON lines or Parquet files"
            )
        if source.cut is not None and file.path.is_file():
            source.cut(file.path, options, 0, 0)
        yield file._replace(base=str(Path.cwd()), number=number)


def find_cuts(options: ReadOptions, size: int, file: InputFile) -> list[tuple[int, int]]:
    """Return the number and offset of records at which reading can start, at least `size` bytes apart."""
    path, cuts = Path(file.base, file.path), [(0, 0)]
    source = source_of(path)
    if source is not None and source.cut is not None:
        while (row := source.cut(path, options, cuts[-1][0], SPLIT_ROWS)) is not None:
            cuts.append((row, 0))
        return cuts
    for record in read_file(file._replace(path=path), options):
        if record.offset - cuts[-1][1] >= size:
            cuts.append((record.origin.position, record.offset))
    return cuts


def cut_file(file: InputFile, cuts: Sequence[tuple[int, int]]) -> Iterator[InputFile]:
    """Divide a file at the given records, each with its number and offset."""
    for (start, offset), end in zip_longest(cuts, [start for start, _ in cuts[1:]]):
        yield file._replace(start=start, end=end, offset=offset)


# The child, which is reused from task to task.

_children: dict[Plan, Workers] = {}


@contextmanager
def _child(work: Work) -> Iterator[Workers]:
    """Return the child that reads and cleans; start it if necessary. An interrupted child is not reused."""
    method = work.plan.method
    _, is_sent, name = (method.model or "").partition(SENT)
    if is_sent:
        from pyspark import SparkFiles

        method = replace(method, model=SparkFiles.get(name))
    plan = replace(work.plan, method=method, limits=replace(work.plan.limits, jobs=1))
    child = _children.pop(plan, None)
    if child is None:
        for other in list(_children):
            _children.pop(other).stop()  # it belongs to an earlier job
        child = Workers(partial(start_worker, plan, None, is_guarded=True), plan.limits)
    cpu_before = time.process_time() + child.cpu
    try:
        yield child
    except BaseException:
        child.stop()
        raise
    _children[plan] = child
    if work.cpu is not None:
        work.cpu.add(time.process_time() + child.cpu - cpu_before)
