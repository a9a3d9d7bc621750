"""Where the texts of cleaned pages go: standard output, one file, or a directory of files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from victorpy.batch.records import Record
from victorpy.errors import DataError
from victorpy.outputs import Output

Writer = Callable[[Record, str], None]


def open_writer(target: str | None, output: Output, records: Sequence[Record]) -> Writer:
    """Choose where texts go: many pages of JSON lines fit one file, many of another format want a directory."""
    many = len(records) > 1
    inputs = frozenset(record.file.resolve() for record in records if record.file is not None)
    if target is None or target == "-":
        return _to_stream(sys.stdout, output.header, titled=many and not output.joins)
    path = Path(target)
    as_directory = path.is_dir() or target.endswith("/") or (many and not output.joins)
    if not as_directory:
        _refuse_inputs(path, inputs)
        path.parent.mkdir(parents=True, exist_ok=True)
        return _to_stream(path.open("w", encoding="utf-8", newline=""), output.header)
    if path.exists() and not path.is_dir():
        raise DataError(f"{target}: is a file; several pages go into a directory")
    if path.suffix and not path.exists() and not target.endswith("/"):
        raise DataError(f"{target}: several pages go into a directory; if that is what you mean, write {target}/")
    return _to_directory(path, output, inputs)


def open_stream(target: str | None, output: Output) -> Writer:
    """A writer of many pages to standard output or into one file."""
    if target is None or target == "-":
        return _to_stream(sys.stdout, output.header, titled=not output.joins)
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    return _to_stream(path.open("w", encoding="utf-8", newline=""), output.header)


def _to_stream(stream: TextIO, header: str, titled: bool = False) -> Writer:
    """Write texts one after the other; where there are many, under their names, as head and tail do."""
    first = True

    def write(record: Record, text: str) -> None:
        nonlocal first
        if titled:
            stream.write(f"{'' if first else chr(10)}==> {record.name} <==\n")
        stream.write(header + text if first or titled else text)
        stream.flush()
        first = False

    return write


def _refuse_inputs(path: Path, inputs: frozenset[Path]) -> None:
    if path.resolve() in inputs:
        raise DataError(f"{path}: is one of the pages to clean; it would be overwritten: choose another output")


def _to_directory(directory: Path, output: Output, inputs: frozenset[Path]) -> Writer:
    taken: set[Path] = set()

    def write(record: Record, text: str) -> None:
        wanted = directory / record.place.with_suffix(output.suffix)
        place, number = wanted, 2
        while place in taken:
            place, number = wanted.with_stem(f"{wanted.stem}-{number}"), number + 1
        taken.add(place)
        _refuse_inputs(place, inputs)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(output.header + text, encoding="utf-8", newline="")

    return write
