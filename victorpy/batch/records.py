"""Records in: pages from standard input, files, directories and patterns."""

from __future__ import annotations

import glob
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from victorpy.errors import DataError

PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml")


@dataclass(frozen=True, slots=True)
class Record:
    """A page to be read: its name, as the user gave it, and its place below the directory it was found in."""

    name: str
    place: Path
    read: Callable[[], bytes]
    file: Path | None = None
    """The file that it is read from, where it is one."""


def find_records(inputs: Iterable[str]) -> Iterator[Record]:
    """Find the pages that are meant: ``-`` or nothing is standard input, a directory all pages below it."""
    for name in list(inputs) or ["-"]:
        if name == "-":
            # Read once: what a method has learned from is cleaned afterwards.
            yield Record("standard input", Path("stdin"), cache(sys.stdin.buffer.read))
        else:
            yield from _files(name)


def _files(name: str) -> Iterator[Record]:
    path = Path(name)
    if path.is_dir():
        pages = sorted(page for page in path.rglob("*") if page.suffix.lower() in PAGE_SUFFIXES and page.is_file())
        if not pages:
            raise DataError(
                f"{name}: no pages ({', '.join('*' + suffix for suffix in PAGE_SUFFIXES)}) in this directory"
            )
        yield from (Record(str(page), page.relative_to(path), page.read_bytes, page) for page in pages)
    elif path.exists() or not glob.has_magic(name):
        yield Record(name, Path(path.name), path.read_bytes, path)  # a missing file fails when it is read, by name
    else:
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207  (Path.glob takes no absolute pattern)
        if not matches:
            raise DataError(f"{name}: no file matches this pattern")
        yield from (record for match in matches for record in _files(match))
