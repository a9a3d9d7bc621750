"""Which files, or stretches of them, the tasks of a Spark job read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from victorpy.batch.inputs import find_files
from victorpy.batch.reading import Unit
from victorpy.batch.sources import ReadOptions, source_of
from victorpy.errors import DataError

SPLIT_BYTES = 128_000_000
"""A file of lines or a table that is larger is read by several tasks."""


def find_units(inputs: Sequence[str], options: ReadOptions) -> Iterator[Unit]:
    """Find the files that are meant; large ones that can be read from the middle are cut."""
    for number, file in enumerate(find_files(inputs)):
        source = source_of(file.path)
        if source is None:
            raise DataError(f"{file.name}: a page by itself; Spark is for WARC files, JSON lines and Parquet files")
        cuts = _cuts(file.path, options)
        for (start, offset), end in zip(cuts, [*(start for start, _ in cuts[1:]), None], strict=True):
            yield Unit(number, str(file.path), str(file.place), file.name, start, end, str(Path.cwd()), offset)


def _cuts(path: Path, options: ReadOptions) -> list[tuple[int, int]]:
    """Return where the stretches of a file begin: the number of a record, and its offset if that is known."""
    if path.is_file() and path.suffix == ".parquet":
        return [(row, 0) for row in _row_cuts(path, options)]
    if path.is_file() and path.suffix in {".jsonl", ".ndjson"} and path.stat().st_size > SPLIT_BYTES:
        return _line_cuts(path)
    return [(0, 0)]


def _line_cuts(path: Path) -> list[tuple[int, int]]:
    """Cut before the first line that begins `SPLIT_BYTES` after the last cut; blank lines are no records."""
    cuts = [(0, 0)]
    records = offset = 0
    is_blank = True
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


def _row_cuts(path: Path, options: ReadOptions) -> list[int]:
    """Cut between row groups; a file that is no table is said by the task that reads it."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            names, metadata = file.schema_arrow.names, file.metadata
    except (pa.ArrowException, OSError):
        return [0]
    if options.html_field not in names:
        raise DataError(f"{path}: no column {options.html_field!r} (--html-field); it has: {', '.join(names)}")
    cuts, row, size = [0], 0, 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if size + group.total_byte_size > SPLIT_BYTES and row > cuts[-1]:
            cuts.append(row)
            size = 0
        row, size = row + group.num_rows, size + group.total_byte_size
    return cuts
