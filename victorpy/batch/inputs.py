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

UNREAD = "record after"
"""What a position counts where all behind it could not be read: the last record that could, or -1 for none."""

_UNREAD_WORDS = ("the file was not read: ", "the rest of the file was not read: ")
_GIVEN_UP = 1 << 62  # where a run stands in a file that it has given up: behind all of its records


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


def read_file(file: InputFile, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read the records of a file; a page is one."""
    source = source_of(file.path)
    if source is None:
        yield page_record(file.path, file.place, file.name)
        return
    last = start - 1
    try:
        for record in source.read(file.path, options, start):
            yield record
            last = record.origin.position
    except OSError as error:
        yield unread_record(str(file.path), last, Kind.READ, error.strerror or str(error))


def unread_record(source: str, after: int, kind: Kind, words: str) -> Record:
    """What stands for all records of a file behind a position, where they could not be read."""
    name = f"{source}:{after}" if after >= 0 else source
    problem = Problem(kind, _UNREAD_WORDS[after >= 0] + words)
    return Record(name, Path(name), origin=Origin(source, after, UNREAD), problem=problem)


def is_unread(reason: str) -> bool:
    """Whether a reason is that of such a record."""
    return reason.startswith(_UNREAD_WORDS)


Read = Callable[[InputFile, ReadOptions, int], Iterator[Record]]
"""How a file is read: here, as `read_file` does, or in a child that may crash."""


def read_inputs(
    inputs: Sequence[str], options: ReadOptions, after: Mark | None = None, read: Read = read_file
) -> Iterator[tuple[Mark, Record]]:
    """Read all records, or those behind one that is known, each with its place."""
    return read_files(find_files(inputs), options, after, read)


def read_files(
    files: Iterable[InputFile], options: ReadOptions, after: Mark | None, read: Read
) -> Iterator[tuple[Mark, Record]]:
    """Read the records of files, or those behind one that is known, each with its place."""
    for number, file in enumerate(files):
        if after is not None and (number, _GIVEN_UP) <= after:
            continue
        resuming = after is not None and number == after.file
        start = after.position if after is not None and resuming else 0
        for record in read(file, options, start):
            given_up = record.origin.unit == UNREAD
            mark = Mark(number, _GIVEN_UP if given_up else record.origin.position)
            if not (resuming and mark == after):
                yield mark, record
