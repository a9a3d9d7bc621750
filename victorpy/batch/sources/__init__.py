"""Sources: kinds of files that hold many pages, and the functions that read their records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from victorpy.base.registry import Registry
from victorpy.batch.record import PAGE_SUFFIXES, Record

MOST_BYTES = 32_000_000
"""Pages that are larger, or expand to more, are skipped."""

_DYNAMIC = re.compile(r"\.(x?html?|shtml|php\d?|aspx?|jsp|cgi)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How sources are read."""

    html_field: str = "html"
    url_field: str = "url"
    check_digests: bool = False
    most_bytes: int = MOST_BYTES


Reader = Callable[[Path, ReadOptions, int, int], Iterator[Record]]
"""Reads the records of a file, starting at a record number; the first record is 0.

The last argument is the byte offset of that record, or 0 if it is not known; a reader may ignore it. Damage is
returned as a record with a problem, which has a number too.
"""


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of file that holds many pages."""

    read: Reader
    archive: bool
    """Whether files of this kind hold nothing but pages, so that they are looked for in directories too."""
    crashes: bool = False
    """Whether its library may crash on a damaged file, so that another process should read it."""


SOURCES: Registry[Source] = Registry("kind of source", "victorpy.batch.sources")


def source(*suffixes: str, archive: bool = False, crashes: bool = False) -> Callable[[Reader], Reader]:
    """Register a reader for files with these suffixes."""

    def register(read: Reader) -> Reader:
        for suffix in suffixes:
            SOURCES.add(suffix, Source(read, archive, crashes))
        return read

    return register


def source_of(path: Path | str) -> Source | None:
    """Return the kind of source that a file is; None for a page."""
    name = str(path).lower()
    if name.endswith(PAGE_SUFFIXES):
        return None
    suffix = max((suffix for suffix in SOURCES if name.endswith(suffix)), key=len, default="")
    return SOURCES.get(suffix) if suffix else None


def place_of(url: str, otherwise: str) -> Path:
    """Return where the text of an address should go: below its host, named like its path.

    >>> str(place_of("https://tea.example/green/sencha.php", "3"))
    'tea.example/green/sencha.html'
    >>> str(place_of("", "crawl.warc-3"))
    'crawl.warc-3.html'
    """
    try:
        parts = urlsplit(url)
        host, path, query = parts.hostname or "", unquote(parts.path, errors="replace"), parts.query
    except ValueError:
        host, path, query = "", "", ""
    if not host:
        return Path(f"{otherwise}.html")
    path = "index" if path.strip("/") == "" else path.strip("/") + ("/index" if path.endswith("/") else "")
    path = _DYNAMIC.sub("", path) + (f"-{query}" if query else "")
    return Path(host, f"{path}.html".lstrip("/"))
