"""What a source is: a function that reads the records of a file, one at a time, from a position on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from victorpy.batch.records import Record
from victorpy.registry import Registry

MOST_BYTES = 32_000_000
"""A page that is larger, or expands to more, is skipped."""

_DYNAMIC = re.compile(r"\.(x?html?|shtml|php\d?|aspx?|jsp|cgi)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How sources are read."""

    html_field: str = "html"
    url_field: str = "url"
    check_digests: bool = False
    most_bytes: int = MOST_BYTES


Reader = Callable[[Path, ReadOptions, int], Iterator[Record]]
"""Reads the records of a file whose positions are at or behind the given one, in order.

Positions grow from record to record, and reading from a record's position gives it first and then the same as a
reading from the beginning. What cannot be read comes as a record with a problem; reading goes on behind it.
"""


@dataclass(frozen=True, slots=True)
class Source:
    """A kind of file that holds many pages."""

    read: Reader
    seeks: bool
    """Whether it costs nothing to start late in a file."""
    archive: bool
    """Whether files of this kind are pages and nothing else, so that one finds them in directories too."""
    crashes: bool = False
    """Whether its library may end the process on a damaged file, so that another process should read it."""


SOURCES: Registry[Source] = Registry("kind of source", "victorpy.batch.sources")


def source(
    *suffixes: str, seeks: bool = False, archive: bool = False, crashes: bool = False
) -> Callable[[Reader], Reader]:
    """Register a reader for files whose names end so."""

    def register(read: Reader) -> Reader:
        for suffix in suffixes:
            SOURCES.add(suffix, Source(read, seeks, archive, crashes))
        return read

    return register


def source_of(path: Path | str) -> Source | None:
    """The kind of source that a file is; None for a page."""
    name = str(path).lower()
    endings = [suffix for suffix in SOURCES if name.endswith(suffix)]
    return SOURCES.get(max(endings, key=len)) if endings else None


def place_of(url: str, otherwise: str) -> Path:
    """Where the text of an address should go: below its host, named as its path is.

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
