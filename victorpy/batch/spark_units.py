"""Which files, or stretches of them, the tasks of a Spark job read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from victorpy.batch.inputs import InputFile, find_files
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
        for start, end in _stretches(file, options):
            yield Unit(number, str(file.path), str(file.place), file.name, start, end, str(Path.cwd()))


def _stretches(file: InputFile, options: ReadOptions) -> Iterator[tuple[int, int | None]]:
    """The positions between which a file is read."""
    cuts = [0]
    if file.path.is_file() and file.path.suffix == ".parquet":
        cuts = _row_cuts(file.path, options)
    elif file.path.is_file() and file.path.suffix in {".jsonl", ".ndjson"}:
        cuts = _line_cuts(file.path)
    yield from zip(cuts, [*cuts[1:], None], strict=True)


def _line_cuts(path: Path) -> list[int]:
    cuts = [0]
    size = path.stat().st_size
    with path.open("rb") as file:
        while cuts[-1] + SPLIT_BYTES < size:
            file.seek(cuts[-1] + SPLIT_BYTES - 1)
            while (piece := file.readline(1 << 20)) and not piece.endswith(b"\n"):
                pass
            if file.tell() >= size:
                break
            cuts.append(file.tell())
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
