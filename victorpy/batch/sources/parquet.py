"""Pages as rows of Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from victorpy.batch.reasons import Kind
from victorpy.batch.record import Origin, Record
from victorpy.batch.sources import ReadOptions, source
from victorpy.batch.sources.jsonl import broken_record, field_record
from victorpy.errors import DataError, missing

_ROWS = 1
"""Rows in memory at a time: a table can repeat a large page a thousand times in a few bytes."""

_LARGE_GROUP = 64_000_000
_MOST_EXPANSION = 100
"""A row group larger than `_LARGE_GROUP` and than this many times its file is a bomb: pages shrink to a tenth."""


@source(".parquet", crashes=True)
def read_parquet(path: Path, options: ReadOptions, start: int = 0, offset: int = 0) -> Iterator[Record]:
    """Read pages from rows, row group by row group. A group that cannot be read is one failed record."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise missing("pyarrow", "parquet", f"reading {path}") from error
    # A column name that is not valid text is a ValueError.
    damage = (pyarrow.ArrowException, OSError, ValueError, MemoryError)
    file_size = path.stat().st_size
    try:
        file = pyarrow.parquet.ParquetFile(path)
    except damage as error:
        yield broken_record(Origin(str(path), 0), Kind.DAMAGED, f"no Parquet file: {error}", file_size)
        return
    with file:
        names = file.schema_arrow.names
        if options.html_field not in names:
            raise DataError(f"{path}: no column {options.html_field!r} (`html_field`); it has: {', '.join(names)}")
        columns = [name for name in (options.html_field, options.url_field, "content_type") if name in names]
        next_group_row = 0
        for group in range(file.num_row_groups):
            metadata = file.metadata.row_group(group)
            row, next_group_row = next_group_row, next_group_row + metadata.num_rows
            if next_group_row <= start:
                continue
            reached = file_size * group // file.num_row_groups
            size = metadata.total_byte_size
            if size > max(_LARGE_GROUP, _MOST_EXPANSION * file_size):
                words = f"row group {group} is not read, because it would expand to {size:,} bytes"
                yield broken_record(Origin(str(path), row), Kind.TOO_LARGE, words, reached)
                continue
            try:
                for batch in file.iter_batches(_ROWS, row_groups=[group], columns=columns):
                    for values in zip(*map(_values, batch.columns), strict=True):
                        if row >= start:
                            fields = dict(zip(batch.schema.names, values, strict=True))
                            yield field_record(fields, Origin(str(path), row), options, reached)
                        row += 1
            except damage as error:
                kind, words = Kind.DAMAGED, "is damaged"
                if isinstance(error, MemoryError):
                    kind, words = Kind.MEMORY, "does not fit into memory"
                origin = Origin(str(path), row)
                yield broken_record(origin, kind, f"row group {group} {words}: {error}", reached)


def _values(column: Any) -> list[Any]:
    """Return the values of a column; where text is not valid, its bytes, which may be in the page's own encoding."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_value(scalar) for scalar in column]


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return scalar.as_buffer().to_pybytes()
