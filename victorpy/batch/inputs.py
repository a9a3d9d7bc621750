"""The inputs of a run: which files are meant, in one order, and the records in them from any place on."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.records import PAGE_SUFFIXES, Origin, Record, expand, files_below, page_record
from victorpy.batch.sources import SOURCES, ReadOptions, source_of
from victorpy.errors import DataError

LIST_MARK = "@"

_UNREAD_WORDS = ("the file was not read: ", "the rest of the file was not read: ")


class Mark(NamedTuple):
    """How far the inputs have been read: the number of a file, and of the first record in it that is left."""

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
    is_there: bool = True
    """Whether there is any of them."""
    empty: tuple[str, ...] = ()
    """Files that should hold many pages and have no bytes."""


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
    is_there = False
    empty = []
    for file in find_files(inputs):
        own = 0
        is_there = is_there or file.path.exists()
        if source_of(file.path) is None:
            pages += 1
        else:
            sources += 1
            is_file = file.path.is_file()
            own = file.path.stat().st_size if is_file else 0
            size += own
            if is_file and not own:
                empty.append(file.name)
        digest.update(f"{file.name}\0{own}\n".encode("utf-8", "surrogateescape"))
    return Survey(pages, sources, size, digest.hexdigest(), is_there, tuple(empty))


def size_before(inputs: Sequence[str], number: int) -> int:
    """The size of the files with many pages that come before a file of this number."""
    before = (file.path for file in islice(find_files(inputs), number) if source_of(file.path))
    return sum(path.stat().st_size for path in before if path.is_file())


def passed_over(inputs: Sequence[str]) -> Iterator[Path]:
    """Lines and tables in directories that are read for their pages or archives: nobody should miss them unawares."""
    suffixes = tuple(suffix for suffix in SOURCES if not SOURCES.get(suffix).archive)
    for directory in (Path(name) for name in inputs if Path(name).is_dir()):
        others = files_below(directory, suffixes)
        first = next(_below(directory)).path
        if source_of(first) is None or not first.name.lower().endswith(suffixes):
            yield from others


def read_file(file: InputFile, options: ReadOptions, start: int = 0, offset: int = 0) -> Iterator[Record]:
    """Read the records of a file from a number on; a page is the only record of its file."""
    source = source_of(file.path)
    if source is None:
        if start == 0:
            yield page_record(file.path, file.place, file.name)
        return
    position = start
    try:
        for record in source.read(file.path, options, start, offset):
            yield record
            position = record.origin.position + 1
    except OSError as error:
        yield unread_record(str(file.path), position, Kind.READ, error.strerror or str(error))


def unread_record(source: str, position: int, kind: Kind, words: str) -> Record:
    """Make the record that stands for all records of a file from a number on, because they could not be read."""
    name = f"{source}:{position}" if position else source
    problem = Problem(kind, _UNREAD_WORDS[position > 0] + words)
    return Record(name, Path(name), origin=Origin(source, position, rest=True), problem=problem)


def is_unread(reason: str) -> bool:
    """Whether a reason is that of such a record."""
    return reason.startswith(_UNREAD_WORDS)


Read = Callable[[InputFile, ReadOptions, int], Iterator[Record]]
"""How a file is read: in this process, as by `read_file`, or in a child that may crash."""


def read_inputs(
    inputs: Sequence[str], options: ReadOptions, after: Mark | None = None, read: Read = read_file
) -> Iterator[tuple[Mark, Record]]:
    """Read all records, or those from a mark on, each with the mark to continue from."""
    return read_files(find_files(inputs), options, after, read)


def read_files(
    files: Iterable[InputFile], options: ReadOptions, after: Mark | None, read: Read
) -> Iterator[tuple[Mark, Record]]:
    """Read the records of files, or those from a mark on, each with the mark to continue from."""
    after = after or Mark(0, 0)
    for number, file in enumerate(files):
        if number < after.file:
            continue
        for record in read(file, options, after.position if number == after.file else 0):
            is_last = record.origin.rest
            yield Mark(number + 1, 0) if is_last else Mark(number, record.origin.position + 1), record
