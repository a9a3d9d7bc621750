"""The inputs of a run: which files are meant, in one order, and the records in them from any place on."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from victorpy.batch.reasons import Kind
from victorpy.batch.records import PAGE_SUFFIXES, Origin, Record, expand, files_below, page_record
from victorpy.batch.sources import SOURCES, ReadOptions, source_of
from victorpy.batch.sources.jsonl import broken_record
from victorpy.errors import DataError

LIST_MARK = "@"


class Mark(NamedTuple):
    """A place in the inputs: the number of a file, and a position in it."""

    file: int
    position: int


class InputFile(NamedTuple):
    """A page, or a file with many."""

    path: Path
    place: Path
    name: str


@dataclass(frozen=True, slots=True)
class Survey:
    """What the inputs are, before any is read."""

    pages: int
    """Files that are pages."""
    sources: int
    """Files that hold many."""
    size: int
    """Of those, in bytes."""
    digest: str
    """What tells these inputs from others."""


def find_files(inputs: Sequence[str]) -> Iterator[InputFile]:
    """Find all files that are meant: files, directories, patterns, and ``@LIST``, a file that lists any of these."""
    for name in inputs:
        if name.startswith(LIST_MARK) and not Path(name).exists():
            yield from _listed(Path(name.removeprefix(LIST_MARK)))
        else:
            yield from _meant(name)


def _listed(path: Path) -> Iterator[InputFile]:
    with path.open(encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            if line.strip():
                yield from _meant(line.strip())


def _meant(name: str) -> Iterator[InputFile]:
    path = Path(name)
    if path.is_dir():
        yield from _below(path)
    elif path.exists() or not glob.has_magic(name):
        yield InputFile(path, Path(path.name), name)
    else:
        for match in expand(name):
            yield from _meant(match)


def _below(directory: Path) -> Iterator[InputFile]:
    """A directory's pages and archives; one that has neither has lines and tables, which elsewhere may be results."""
    archives = tuple(suffix for suffix in SOURCES if SOURCES.get(suffix).archive)
    for suffixes in ((*PAGE_SUFFIXES, *archives), tuple(SOURCES)):
        found = False
        for path in files_below(directory, suffixes):
            found = True
            yield InputFile(path, path.relative_to(directory), str(path))
        if found:
            return
    kinds = ", ".join("*" + suffix for suffix in (*PAGE_SUFFIXES, *SOURCES))
    raise DataError(f"{directory}: no pages ({kinds}) in this directory")


def survey(inputs: Sequence[str]) -> Survey:
    """Count the files once, without reading them."""
    pages = sources = size = 0
    digest = hashlib.sha256()
    for file in find_files(inputs):
        own = 0
        if source_of(file.path) is None:
            pages += 1
        else:
            sources += 1
            own = file.path.stat().st_size if file.path.is_file() else 0
            size += own
        digest.update(f"{file.name}\0{own}\n".encode("utf-8", "surrogateescape"))
    return Survey(pages, sources, size, digest.hexdigest())


def read_inputs(
    inputs: Sequence[str], options: ReadOptions, after: Mark | None = None
) -> Iterator[tuple[Mark, Record]]:
    """Read all records, or those behind one that is known, each with its place."""
    for number, file in enumerate(find_files(inputs)):
        if after is not None and number < after.file:
            continue
        resuming = after is not None and number == after.file
        start = after.position if after is not None and resuming else 0
        for record in read_file(file, options, start):
            mark = Mark(number, record.origin.position)
            if not (resuming and mark == after):
                yield mark, record


def read_file(file: InputFile, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read the records of a file; a page is one."""
    source = source_of(file.path)
    if source is None:
        yield page_record(file.path, file.place, file.name)
        return
    last = start
    try:
        for record in source.read(file.path, options, start):
            yield record
            last = record.origin.position
    except OSError as error:
        words = f"cannot be read: {error.strerror or error}"
        yield broken_record(Origin(str(file.path), last, "record after"), Kind.READ, words, 0)
