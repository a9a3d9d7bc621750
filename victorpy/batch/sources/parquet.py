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

_ROWS = 1
"""In memory at a time: a table can say a large page a thousand times in a few bytes."""

_LARGE_GROUP = 64_000_000
_MOST_EXPANSION = 100
"""A row group that is larger than the one, and than so many times its file, is a bomb: pages shrink to a tenth."""


@source(".parquet", seeks=True, crashes=True)
def read_parquet(path: Path, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read pages from rows, row group by row group; a position is the number of a row, from 0."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise missing("pyarrow", "parquet", f"reading {path}") from error
    size = path.stat().st_size
    try:
        file = pyarrow.parquet.ParquetFile(path)
    except _damage() as error:
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
    row = first
    reached = path.stat().st_size * group // max(file.num_row_groups, 1)
    size = file.metadata.row_group(group).total_byte_size
    if size > max(_LARGE_GROUP, _MOST_EXPANSION * path.stat().st_size):
        words = f"row group {group} is not read, because it would expand to {size:,} bytes"
        yield broken_record(Origin(str(path), row, "row"), Kind.TOO_LARGE, words, reached)
        return
    try:
        for batch in file.iter_batches(_ROWS, row_groups=[group], columns=wanted):
            columns = [_values(column) for column in batch.columns]
            for values in zip(*columns, strict=True):
                if row >= start:
                    fields = dict(zip(batch.schema.names, values, strict=True))
                    yield field_record(fields, Origin(str(path), row, "row"), options, reached)
                row += 1
    except _damage() as error:
        short_of_memory = isinstance(error, MemoryError)
        kind = Kind.MEMORY if short_of_memory else Kind.DAMAGED
        words = f"row group {group} {'does not fit into memory' if short_of_memory else 'is damaged'}: {error}"
        yield broken_record(Origin(str(path), row, "row"), kind, words, reached)


def _values(column: Any) -> list[Any]:
    """A column's values; where it is called text and is none, the bytes, which a page's own encoding may explain."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_value(scalar) for scalar in column]


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return scalar.as_buffer().to_pybytes()


def _damage() -> tuple[type[Exception], ...]:
    """What pyarrow raises where a file is not as it should be; a name that is no text is a ValueError."""
    import pyarrow

    return (pyarrow.ArrowException, OSError, ValueError, MemoryError)
