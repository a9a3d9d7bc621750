"""Records: pages to be cleaned, as plain data."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from victorpy.batch.reasons import Kind, Problem, ProblemError
from victorpy.sites.grouping import site_of

PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml")
STDIN = Path("-")


class Origin(NamedTuple):
    """Where a record was found."""

    source: str
    """The file that it is in."""
    position: int = 0
    """Its number in the file, from 0."""
    rest: bool = False
    """Whether it represents the rest of the file, which could not be read."""


NOWHERE = Origin("")


@dataclass(frozen=True, slots=True)
class Record:
    """A page to be cleaned. It contains the page's bytes or names their file; it can be pickled."""

    name: str
    """Name of the page in messages."""
    place: Path
    """Path below the directory that it was found in; not safe as the name of a file."""
    file: Path | None = None
    """The file of a page that has one of its own."""
    payload: bytes | str = b""
    url: str = ""
    content_type: str = ""
    codings: tuple[str, ...] = ()
    """Encodings of the payload that are still to be undone, outermost first: chunked, gzip ..."""
    origin: Origin = NOWHERE
    problem: Problem | None = None
    """Why it cannot be cleaned, if that is known from reading it."""
    record_id: str = ""
    """Identifier in the archive."""
    date: str = ""
    """Date in the archive."""
    reached: int = 0
    """How far its source has been read, in bytes of the file."""

    def site(self, by: str = "domain") -> str:
        """Return the site of the page: that of its address, or else the folder that it was found in.

        >>> Record("x", Path("tea.example/a.html")).site(), Record("x", Path("a"), url="http://www.Tea.example:80/").site()
        ('tea.example', 'tea.example')
        """
        return site_of(self.url, by) or (self.place.parts[0] if len(self.place.parts) > 1 else "")

    def read(self, most_bytes: int | None = None) -> bytes | str:
        """Return the page's bytes, or its text if it came as text. Raises ProblemError if it has none."""
        if self.problem is not None:
            raise ProblemError(*self.problem)
        if most_bytes is not None:
            size = len(self.payload)
            if self.file is not None and self.file.is_file():
                size = self.file.stat().st_size
            problem = size_problem(size, most_bytes)
            if problem is not None:
                raise ProblemError(*problem)
        if self.file is not None:
            return self.file.read_bytes()
        if self.codings and isinstance(self.payload, bytes):
            from victorpy.batch.http import undo_codings

            return undo_codings(self.payload, self.codings, most_bytes)
        return self.payload


def size_problem(size: int, most_bytes: int) -> Problem | None:
    """Return why a page of this size is skipped; None if it is not."""
    if size <= most_bytes:
        return None
    return Problem(Kind.TOO_LARGE, f"{size:,} bytes are more than the limit of {most_bytes:,}")


@cache
def _standard_input() -> bytes:
    """Read standard input once: pages that a method learns from are read again to be cleaned."""
    return sys.stdin.buffer.read()


def page_record(path: Path, place: Path, name: str) -> Record:
    """Make the record of a file that is a page, or of the page on standard input."""
    if path == STDIN:
        return Record(name, place, payload=_standard_input())
    return Record(name, place, path, origin=Origin(str(path)))
