"""Records in: a page to be cleaned as plain data, and pages from standard input, files, directories and patterns."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from victorpy.batch.http import undo_codings
from victorpy.batch.reasons import Kind, Problem, ProblemError
from victorpy.errors import DataError

PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml")
STDIN = Path("-")


class Origin(NamedTuple):
    """Where a record was found."""

    source: str
    """The file that it is in."""
    position: int = 0
    """Its number in the file, from 0."""
    rest: bool = False
    """Whether it stands for all records from there on, because they could not be read."""


NOWHERE = Origin("")


@dataclass(frozen=True, slots=True)
class Record:
    """A page to be cleaned. Its bytes are in it, or in the file that it names; it pickles."""

    name: str
    """What the user knows it by."""
    place: Path
    """Where it stands below the directory it was found in; not to be trusted as the name of a file."""
    file: Path | None = None
    """The file that it is read from, where it is one by itself."""
    payload: bytes | str = b""
    url: str = ""
    content_type: str = ""
    codings: tuple[str, ...] = ()
    """What the payload still has to be freed from, outermost first: chunked, gzip ..."""
    origin: Origin = NOWHERE
    problem: Problem | None = None
    """Why it cannot be cleaned, where reading it showed that already."""
    record_id: str = ""
    date: str = ""
    """The identity and time that an archive gives it."""
    reached: int = 0
    """How far its source has been read, in bytes of the file."""

    def read(self, most_bytes: int | None = None) -> bytes | str:
        """Give the page's bytes, or its text where it came as text."""
        if self.problem is not None:
            raise ProblemError(*self.problem)
        if self.file == STDIN:
            return _standard_input()
        if self.file is not None:
            if most_bytes is not None and self.file.is_file():
                _check_size(self.file.stat().st_size, most_bytes)
            return self.file.read_bytes()
        if most_bytes is not None:
            _check_size(len(self.payload), most_bytes)
        if self.codings and isinstance(self.payload, bytes):
            return undo_codings(self.payload, self.codings, most_bytes)
        return self.payload


def size_problem(size: int, most_bytes: int) -> Problem | None:
    """Why a page of this size is skipped; None where it is not."""
    if size <= most_bytes:
        return None
    return Problem(Kind.TOO_LARGE, f"{size:,} bytes are more than the limit of {most_bytes:,}")


def _check_size(size: int, most_bytes: int) -> None:
    problem = size_problem(size, most_bytes)
    if problem is not None:
        raise ProblemError(*problem)


@cache
def _standard_input() -> bytes:
    """Read once: what a method has learned from is cleaned afterwards."""
    return sys.stdin.buffer.read()


def find_records(inputs: Iterable[str]) -> Iterator[Record]:
    """Find the pages that are meant: ``-`` or nothing is standard input, a directory all pages below it."""
    for name in list(inputs) or ["-"]:
        if name == "-":
            yield Record("standard input", Path("stdin"), STDIN)
        else:
            yield from _files(name)


def page_record(path: Path, place: Path | None = None, name: str | None = None) -> Record:
    """A file that is a page."""
    return Record(name or str(path), place or Path(path.name), path, origin=Origin(str(path)))


def _files(name: str) -> Iterator[Record]:
    path = Path(name)
    if path.is_dir():
        found = False
        for page in files_below(path, PAGE_SUFFIXES):
            found = True
            yield page_record(page, page.relative_to(path))
        if not found:
            raise DataError(
                f"{name}: no pages ({', '.join('*' + suffix for suffix in PAGE_SUFFIXES)}) in this directory"
            )
    elif path.exists() or not glob.has_magic(name):
        yield page_record(path, name=name)  # a missing file fails when it is read, by name
    else:
        yield from (record for match in expand(name) for record in _files(match))


def expand(pattern: str) -> list[str]:
    """Find what a pattern means."""
    matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  (Path.glob takes no absolute pattern)
    if not matches:
        raise DataError(f"{pattern}: no file matches this pattern")
    return matches


def is_output(directory: Path) -> bool:
    """Whether a batch run has written a directory: what is in there are results, not pages to clean."""
    try:
        with (directory / "manifest.jsonl").open("rb") as manifest:
            return manifest.readline(200).startswith(b'{"format": 1, "settings": ')
    except OSError:
        return False


def files_below(directory: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """All files below a directory whose names end so, in order of their paths, one directory in memory at a time."""
    with os.scandir(directory) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        path = directory / entry.name
        if entry.is_dir(follow_symlinks=False):
            if not is_output(path):
                yield from files_below(path, suffixes)
        elif entry.name.lower().endswith(suffixes) and path.suffix and entry.is_file():
            yield path
