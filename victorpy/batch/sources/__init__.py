"""Sources: file formats that contain many pages, and the functions that read their records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from victorpy.base.registry import Registry
from victorpy.batch.record import PAGE_SUFFIXES, Record

MOST_BYTES = 32_000_000
"""Default size limit. Pages that are larger, before or after decompression, are skipped."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of all sources."""

    html_field: str = "html"
    url_field: str = "url"
    check_digests: bool = False
    most_bytes: int = MOST_BYTES


Reader = Callable[[Path, ReadOptions, int, int], Iterator[Record]]
"""Reads the records of a file, starting at a record number. Records are numbered from 0.

The last argument is the byte offset of the first record to read, or 0 if it is unknown. A reader may ignore it. Damage
becomes a record with a problem, which also has a number.
"""


@dataclass(frozen=True, slots=True)
class Source:
    """A file format that contains many pages."""

    read: Reader
    archive: bool
    """Whether these files contain nothing but pages. If so, they are read even in directories that contain pages."""
    cut: Callable[[Path, ReadOptions, int, int], int | None] | None = None
    """Returns the next row at which a table can be divided. None for other formats."""
    needs: tuple[str, str] | None = None
    """The package that reads these files, and the extra that installs it."""


SOURCES: Registry[Source] = Registry("kind of source", "victorpy.batch.sources")


def source(*suffixes: str, archive: bool = False, **options: Any) -> Callable[[Reader], Reader]:
    """Register a reader for files with these suffixes. The options are fields of `Source`."""

    def register(read: Reader) -> Reader:
        for suffix in suffixes:
            SOURCES.add(suffix, Source(read, archive, **options))
        return read

    return register


def source_of(path: Path | str) -> Source | None:
    """Return the format of a file; None for a page."""
    name = str(path).lower()
    if name.endswith(PAGE_SUFFIXES):
        return None
    suffix = max((suffix for suffix in SOURCES if name.endswith(suffix)), key=len, default="")
    return SOURCES.get(suffix) if suffix else None
