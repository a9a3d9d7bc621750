"""Pages in rows with named fields: JSON lines, plain or compressed, and Parquet tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.batch.record import Kind, Origin, Problem, Record, broken_record, place_of, size_problem
from victorpy.batch.sources import ReadOptions, source
from victorpy.batch.sources.expanding import expand_gzip
from victorpy.errors import DataError, missing

_PIECE = 1 << 18
_ZSTD_BITE = 1 << 8  # in a decompression bomb, 256 bytes expand to at most a few megabytes

_TABLE_ROWS = 1
"""Table rows in memory at a time. A table can repeat a large page a thousand times in a few bytes."""
_LARGE_GROUP = 64_000_000
_MOST_EXPANSION = 100
"""A row group above `_LARGE_GROUP` bytes is a bomb if it is this many times larger than its file."""


def field_record(fields: Any, origin: Origin, options: ReadOptions, reached: int) -> Record:
    """Return the record of a row."""
    row = fields if isinstance(fields, dict) else {}
    page = row.get(options.html_field)
    if not isinstance(page, (str, bytes)):
        names = ", ".join(map(str, list(row)[:8])) or "none"
        words = f"there is no page in the field {options.html_field!r}; the row has these fields: {names}"
        if page is not None:
            words = f"the field {options.html_field!r} has the value {page!r:.40} instead of a page"
        return broken_record(origin, Kind.READ, words, reached)
    url, content_type = (
        value.decode("utf-8", "replace") if isinstance(value, bytes) else value if isinstance(value, str) else ""
        for value in (row.get(options.url_field), row.get("content_type"))
    )
    problem = size_problem(len(page), options.most_bytes)
    return Record(
        name=url or origin.name,
        place=place_of(url, origin),
        payload=b"" if problem else page.encode("utf-8", "surrogatepass") if isinstance(page, str) else page,
        is_text=isinstance(page, str),
        url=url,
        content_type=content_type,
        origin=origin,
        problem=problem,
        reached=reached,
    )


# JSON lines.


@source(".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
@source(".jsonl.zst", ".ndjson.zst", needs=("zstandard", "batch"))
def read_jsonl(path: Path, options: ReadOptions, start: int, offset: int) -> Iterator[Record]:
    """Read pages from lines. `offset` is the offset of line `start`, for uncompressed files only."""
    most_bytes = 2 * options.most_bytes  # JSON escapes some characters
    lines = _read_lines(path, most_bytes, offset)
    for number, (line, reached, line_offset) in enumerate(lines, start=start if offset else 0):
        if number < start:
            continue
        origin = Origin(str(path), number)
        if isinstance(line, Problem):
            record = broken_record(origin, *line, reached)
        else:
            try:
                record = field_record(json.loads(line), origin, options, reached)
            except (ValueError, RecursionError) as error:
                record = broken_record(origin, Kind.DAMAGED, f"not a line of JSON: {error}", reached)
        yield replace(record, offset=line_offset)


def _read_lines(path: Path, most_bytes: int, offset: int) -> Iterator[tuple[bytes | Problem, int, int]]:
    """Yield each line that is not blank, the offset up to which the file has been read, and the offset of the line.

    The offset of a line in a compressed file is 0. Memory holds at most one line. Damage and lines over the limit
    are yielded as problems.
    """
    too_long = Problem(Kind.TOO_LARGE, f"the line is longer than {most_bytes:,} bytes")
    pieces: list[bytes] = []
    size = 0
    is_plain = path.suffix.lower() not in {".gz", ".zst"}
    with path.open("rb") as file:
        file.seek(offset)
        for piece in chain(_pieces(file, path.name.lower()), [b"\n"]):
            if isinstance(piece, str):
                pieces, size = [], 0  # the line at the damage is incomplete
                yield Problem(Kind.DAMAGED, piece), file.tell(), 0
                continue
            *line_ends, line_begin = piece.split(b"\n")
            for line_end in line_ends:
                size += len(line_end)
                is_too_long = size > most_bytes
                line = b"" if is_too_long else b"".join([*pieces, line_end])
                if is_too_long or line.strip():
                    yield too_long if is_too_long else line, file.tell(), offset if is_plain else 0
                offset += size + 1
                pieces, size = [], 0
            pieces.append(line_begin)
            size += len(line_begin)
            if size > most_bytes:
                pieces.clear()


def _pieces(file: BinaryIO, name: str) -> Iterator[bytes | str]:
    """Yield the expanded bytes of a file as bytes, and damage as a description."""
    if name.endswith(".gz"):
        for stretch in expand_gzip(file):
            while piece := stretch.read():
                yield piece
            if stretch.damage:
                yield stretch.damage
    elif name.endswith(".zst"):
        yield from _expand_zstd(file, name)
    else:
        while piece := file.read(_PIECE):
            yield piece


def _expand_zstd(file: BinaryIO, name: str) -> Iterator[bytes | str]:
    """Expand a file frame by frame. Reading stops at a damaged frame."""
    try:
        import zstandard
    except ImportError as error:
        raise missing("zstandard", "batch", f"reading {name}") from error
    expander: Any = None
    bite = b""
    while bite := bite or file.read(_ZSTD_BITE):
        expander = expander or zstandard.ZstdDecompressor().decompressobj()
        try:
            yield expander.decompress(bite)
        except zstandard.ZstdError as error:
            yield f"damaged compressed data near offset {file.tell() - len(bite):,}: {error}"
            return
        bite = expander.unused_data if expander.eof else b""
        expander = None if expander.eof else expander
    if expander is not None:
        yield f"the file ends, at offset {file.tell():,}, within a compressed member"


# Tables.


def next_cut(path: Path, options: ReadOptions, start: int, rows: int) -> int | None:
    """Return the number of a row at which a row group begins, at least `rows` rows after `start`; None at the end."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            check_columns(path, file.schema_arrow.names, options)
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    except (pyarrow.ArrowException, OSError, ImportError):  # reading the file will report the error
        return None
    return next((end for end in accumulate(sizes[:-1]) if end >= start + rows), None)


@source(".parquet", cut=next_cut, needs=("pyarrow", "parquet"))
def read_parquet(path: Path, options: ReadOptions, start: int, offset: int) -> Iterator[Record]:
    """Read pages from a table. A row group that cannot be read becomes one failed record."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise missing("pyarrow", "parquet", f"reading {path}") from error
    damage = (pyarrow.ArrowException, OSError, ValueError, MemoryError)  # ValueError: an invalid column name
    file_size = path.stat().st_size
    try:
        file = pyarrow.parquet.ParquetFile(path)
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        if any(group.num_rows < 0 for group in groups):
            raise ValueError("a row group has a negative number of rows")
    except damage as error:
        yield broken_record(Origin(str(path)), Kind.DAMAGED, f"not a Parquet file: {error}", file_size)
        return
    with file:
        check_columns(path, file.schema_arrow.names, options)
        wanted = (options.html_field, options.url_field, "content_type")
        columns = [name for name in wanted if name in file.schema_arrow.names]
        stop = 0
        for number, group in enumerate(groups):
            row, stop = stop, stop + group.num_rows
            if stop <= start or row == stop:
                continue
            reached = file_size * number // len(groups)
            size = group.total_byte_size
            if size > max(_LARGE_GROUP, _MOST_EXPANSION * file_size):
                words = f"row group {number} is not read, because it would expand to {size:,} bytes"
                yield broken_record(Origin(str(path), row), Kind.TOO_LARGE, words, reached)
                continue
            try:
                for fields in islice(_rows(file, number, columns), stop - row):
                    if row >= start:
                        yield field_record(fields, Origin(str(path), row), options, reached)
                    row += 1
                if row < stop:
                    raise ValueError(f"{stop - row:,} of its {group.num_rows:,} rows are missing")
            except damage as error:
                is_memory = isinstance(error, MemoryError)
                kind = Kind.MEMORY if is_memory else Kind.DAMAGED
                words = f"row group {number} {'does not fit into memory' if is_memory else 'is damaged'}: {error}"
                yield broken_record(Origin(str(path), row), kind, words, reached)


def check_columns(path: Path, names: list[str], options: ReadOptions) -> None:
    """Raise if a table has no column with pages."""
    if options.html_field not in names:
        raise DataError(f"{path}: no column {options.html_field!r} (`html_field`); the columns are {', '.join(names)}")


def _rows(file: Any, group: int, columns: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a row group. After the last row there may be more values, if the group is damaged."""
    for batch in file.iter_batches(_TABLE_ROWS, row_groups=[group], columns=columns, use_threads=False):
        for values in zip(*batch.columns, strict=True):
            yield dict(zip(batch.schema.names, map(_value, values), strict=True))


def _value(scalar: Any) -> Any:
    """Return a value. Text that is not valid UTF-8 is returned as bytes, and None if it is part of another value."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        text = scalar.value if hasattr(scalar, "dictionary") else scalar
        return text.as_buffer().to_pybytes() if hasattr(text, "as_buffer") else None
