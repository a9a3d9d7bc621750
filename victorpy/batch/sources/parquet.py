"""Pages as rows of Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from victorpy.batch.reasons import Kind
from victorpy.batch.records import Origin, Record
from victorpy.batch.sources.base import ReadOptions, source
from victorpy.batch.sources.jsonl import broken_record, field_record
from victorpy.errors import DataError, missing

_ROWS = 64  # in memory at a time: pages are large


@source(".parquet", seeks=True)
def read_parquet(path: Path, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read pages from rows, row group by row group; a position is the number of a row, from 0."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise missing("pyarrow", "parquet", f"reading {path}") from error
    size = path.stat().st_size
    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        yield broken_record(Origin(str(path), 0, "row"), Kind.DAMAGED, f"no Parquet file: {error}", size)
        return
    with file:
        names = file.schema_arrow.names
        if options.html_field not in names:
            raise DataError(f"{path}: no column {options.html_field!r} (--html-field); it has: {', '.join(names)}")
        wanted = [name for name in (options.html_field, options.url_field, "content_type") if name in names]
        row = 0
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if row + rows > start:
                yield from _group(file, path, group, row, wanted, options, start)
            row += rows


def _group(
    file: Any, path: Path, group: int, first: int, wanted: list[str], options: ReadOptions, start: int
) -> Iterator[Record]:
    import pyarrow

    row = first
    reached = path.stat().st_size * group // max(file.num_row_groups, 1)
    try:
        for batch in file.iter_batches(_ROWS, row_groups=[group], columns=wanted):
            for fields in batch.to_pylist():
                if row >= start:
                    yield field_record(fields, Origin(str(path), row, "row"), options, reached)
                row += 1
    except (pyarrow.ArrowException, OSError) as error:
        words = f"row group {group} is damaged: {error}"
        yield broken_record(Origin(str(path), row, "row"), Kind.DAMAGED, words, reached)
