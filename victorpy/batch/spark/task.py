"""The functions that Spark tasks call. They read and clean records in guarded child processes.

If a page ended the process of a task, Spark would repeat the task in another process, which would die of the same page,
until Spark gives up the job. So the process that Spark started only waits. Its children read, learn sites and clean.
They stay alive from task to task, with their loaded model.
"""

from __future__ import annotations

import json
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any

import pyarrow as pa
from more_itertools import constrained_batches

from victorpy.batch.inputs import InputFile, Mark, find_files
from victorpy.batch.local.by_site import Ref, bucket_of, clean_site
from victorpy.batch.local.dedup import as_pickle, as_replica
from victorpy.batch.local.guard import Ended, Guard, cleaning_guard, cleaning_tasks, run_tasks
from victorpy.batch.local.reading import read_guarded, reading_guard
from victorpy.batch.outcome import Outcome, describe_place, row
from victorpy.batch.plan import Plan
from victorpy.batch.record import Origin, Record
from victorpy.batch.sinks import as_line, table_row, table_schema
from victorpy.batch.sources import ReadOptions, source_of
from victorpy.batch.sources.rows import check_columns, field_record
from victorpy.dedup.base import Detector, Signed
from victorpy.errors import DataError
from victorpy.outputs import find_output

BATCH_ROWS = 64
BATCH_BYTES = 8_000_000
"""Maximum size of a batch of rows."""
SPLIT_BYTES = 128_000_000
"""Larger files of lines and tables are read by several tasks."""

SENT = "sent:"
"""Prefix of the name of a model that Spark sends to all machines."""

Batches = Iterable[pa.RecordBatch]


# Rows for Spark.


class Form(Enum):
    """The columns in which tasks return cleaned records."""

    TABLE = "the columns of a table"
    LINES = "a line of JSON"
    SIGNED = "the pickled record, until replicas are known"


def _schema(*names: str, **types: Any) -> Any:
    return pa.schema([(name, types.get(name, pa.string())) for name in names])


SITE_SCHEMA = _schema("site", "file", "position", "record", position=pa.int64(), record=pa.binary())
"""Records with their site."""
SIGNED_SCHEMA = _schema(
    *("place", "length", "signature", "description", "ended"),
    **{"length": pa.int64(), "signature": pa.binary(), "ended": pa.binary()},
)
"""Cleaned records before replicas are known. Sorting by place gives the order of the output."""
KEY_SCHEMA = _schema("key", "place", key=pa.binary())


def result_schema(plan: Plan, form: Form) -> Any:
    """Return the columns of cleaned records."""
    if form is Form.SIGNED:
        return SIGNED_SCHEMA
    if form is Form.LINES:
        return _schema("line", "status", "kind", "size", size=pa.int64())
    return table_schema(find_output(plan.format).columns)


def _results(plan: Plan, form: Form, ended: Iterable[Ended], site: str = "") -> Iterator[pa.RecordBatch]:
    """Return cleaned records as rows."""
    columns = find_output(plan.format).columns

    def result_row(mark: Mark, record: Record, outcome: Outcome) -> dict[str, Any]:
        if form is Form.SIGNED:
            signed = outcome.signed or Signed(b"", 0)
            return {
                "place": f"{site}{mark.file:09d} {mark.position:020d}",
                "length": signed.length,
                "signature": signed.signature,
                "description": json.dumps(describe_place(record, outcome)),
                "ended": as_pickle(record, outcome),
            }
        if form is Form.TABLE:
            return table_row(record, outcome, columns)
        line = as_line(row(record, outcome, columns)).decode().removesuffix("\n")
        return {"line": line, "status": str(outcome.status), "kind": str(outcome.kind or ""), "size": outcome.size}

    rows = ((result_row(*record), len(record[2].text)) for record in ended)
    return _in_batches(rows, result_schema(plan, form))


def _in_batches(rows: Iterable[tuple[dict[str, Any], int]], schema: Any) -> Iterator[pa.RecordBatch]:
    """Put rows, which come with their sizes, into batches."""
    for batch in constrained_batches(rows, BATCH_BYTES, BATCH_ROWS, get_len=lambda pair: pair[1], strict=False):
        yield pa.RecordBatch.from_pylist([fields for fields, _ in batch], schema=schema)


def _rows(batches: Batches) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()


# The functions that Spark calls.


def clean_pages(plan: Plan, form: Form, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Clean the pages in the rows, or in the files that the rows name."""

    def ended() -> Iterator[Ended]:
        with _cleaning_child(plan) as guard:
            yield from run_tasks(cleaning_tasks(_records(plan, batches)), guard)

    return _results(plan, form, ended())


def group_pages(plan: Plan, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Return the pages in the rows, or in the files that the rows name, as records with their site."""

    def site_row(mark: Mark, record: Record) -> tuple[dict[str, Any], int]:
        content = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
        site = record.site(plan.site_key).encode("utf-8", "backslashreplace").decode()
        file = f"{mark.file:09d} {record.origin.source}"
        return {"site": site, "file": file, "position": record.origin.position, "record": content}, len(content)

    return _in_batches((site_row(mark, record) for mark, record in _records(plan, batches)), SITE_SCHEMA)


def _records(plan: Plan, batches: Batches) -> Iterator[tuple[Mark, Record]]:
    """Read the records of a frame of pages, or of a frame of units."""
    for fields in _rows(batches):
        if "unit" in fields:
            unit: InputFile = pickle.loads(fields["unit"])  # written by the driver
            with _child("read", plan.limits, lambda: reading_guard(plan.limits)) as guard:
                for record in read_guarded(guard, unit, plan.read):
                    yield Mark(unit.number, record.origin.position), record
        else:
            origin = Origin(str(fields.get("source") or ""), int(fields.get("position") or 0))
            yield Mark(0, origin.position), field_record(fields, origin, plan.read)


def clean_grouped(plan: Plan, form: Form, site: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Clean the records of one site. Sites have the same order as in a local run."""
    return _results(plan, form, _clean_site(plan, site, batches), f"{bucket_of(site):02d} {site}\0")


def add_keys(detector: Detector, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Return a row for every key of every signature."""
    for batch in batches:
        rows = [
            {"key": key, "place": fields["place"]}
            for fields in batch.to_pylist()
            for key in detector.keys(fields["signature"])
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=KEY_SCHEMA)


def finish_signed(plan: Plan, form: Form, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Turn signed rows into rows of the output."""

    def decided() -> Iterator[Ended]:
        for fields in _rows(batches):
            record, outcome = pickle.loads(fields["ended"])  # written by `_results`
            repeats = fields["repeats"]
            yield Mark(0, 0), record, outcome if repeats is None else as_replica(outcome, repeats)

    return _results(plan, form, decided())


def _clean_site(plan: Plan, site: str, batches: Batches) -> Iterator[Ended]:
    """Clean a site. Its records are spilled to the local disk, and memory holds only their offsets."""
    with tempfile.TemporaryDirectory(prefix="victor-site-") as directory, _cleaning_child(plan) as guard:
        path = Path(directory, "records")
        places: list[tuple[str, int, int, int]] = []
        with path.open("wb") as file:
            for fields in _rows(batches):
                content = fields["record"]
                places.append((fields["file"], fields["position"], file.tell(), len(content)))
                file.write(content)
        # In the order of the inputs, whatever their order here.
        refs = [Ref(str(path), offset, length) for _, _, offset, length in sorted(places)]
        yield from clean_site(plan, site, refs, Path(directory, "model"), guard)


# The files that tasks read.


def find_units(inputs: Sequence[str], options: ReadOptions) -> Iterator[InputFile]:
    """Find the input files, and divide large files of lines and tables."""
    for number, file in enumerate(find_files(inputs)):
        if source_of(file.path) is None:
            raise DataError(
                f"{file.name}: Spark cannot clean single page files; give WARC files, JSON lines or Parquet files"
            )
        cuts = [(0, 0)]
        if file.path.is_file() and file.path.suffix == ".parquet":
            cuts = _row_cuts(file.path, options)
        elif file.path.is_file() and file.path.suffix in {".jsonl", ".ndjson"}:
            cuts = _line_cuts(file.path)
        for (start, offset), end in zip(cuts, [*(start for start, _ in cuts[1:]), None], strict=True):
            yield file._replace(start=start, end=end, offset=offset, base=str(Path.cwd()), number=number)


def _line_cuts(path: Path) -> list[tuple[int, int]]:
    """Cut a file of lines. Return the number and offset of each stretch's first record."""
    cuts = [(0, 0)]
    if path.stat().st_size <= SPLIT_BYTES:
        return cuts
    records = offset = 0
    is_blank = True  # blank lines are not records
    with path.open("rb") as file:
        while piece := file.readline(1 << 20):
            offset += len(piece)
            is_blank = is_blank and not piece.strip()
            if piece.endswith(b"\n"):
                records += not is_blank
                is_blank = True
                if offset - cuts[-1][1] >= SPLIT_BYTES:
                    cuts.append((records, offset))
    return cuts


def _row_cuts(path: Path, options: ReadOptions) -> list[tuple[int, int]]:
    """Cut a table between row groups. The task that reads a damaged file reports the damage."""
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names, metadata = file.schema_arrow.names, file.metadata
    except (pa.ArrowException, OSError):
        return [(0, 0)]
    check_columns(path, names, options)
    cuts, rows, size = [0], 0, 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if size + group.total_byte_size > SPLIT_BYTES and rows > cuts[-1]:
            cuts.append(rows)
            size = 0
        rows, size = rows + group.num_rows, size + group.total_byte_size
    return [(row, 0) for row in cuts]


# Children, which stay alive from task to task.

_guards: dict[tuple[str, Any], Guard] = {}


@contextmanager
def _cleaning_child(plan: Plan) -> Iterator[Guard]:
    """Take or start a child that cleans, with the path of a sent model on this machine."""
    method, sent = plan.method, (plan.method.model or "").partition(SENT)
    if sent[1]:
        from pyspark import SparkFiles

        method = replace(method, model=SparkFiles.get(sent[2]))
    plan = replace(plan, method=method, limits=replace(plan.limits, jobs=1))
    with _child("clean", plan, lambda: cleaning_guard(plan)) as guard:
        yield guard


@contextmanager
def _child(purpose: str, key: Any, start: Callable[[], Guard]) -> Iterator[Guard]:
    """Take or start the child for a purpose. An interrupted child is not used again."""
    guard = _guards.pop((purpose, key), None)
    if guard is None:
        for other in [known for known in _guards if known[0] == purpose]:
            _guards.pop(other).stop()  # belongs to an earlier job
        guard = start()
    try:
        yield guard
    except BaseException:
        guard.stop()
        raise
    _guards[purpose, key] = guard
