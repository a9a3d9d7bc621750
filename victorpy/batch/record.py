"""Records: pages to be cleaned, as plain data, and their possible outcomes."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from victorpy.base.files import check_regular
from victorpy.sites.grouping import site_of

MOST_BYTES = 500_000_000
"""Maximum size of a page that is cleaned alone. Runs over many pages have a lower limit."""
PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml")
STDIN = Path("-")
_DYNAMIC = re.compile(r"\.(x?html?|shtml|php\d?|aspx?|jsp|cgi)$", re.IGNORECASE)


class Status(StrEnum):
    """The outcome of a record."""

    KEPT = "kept"
    EMPTY = "empty"
    SKIPPED = "skipped"
    FAILED = "failed"
    REPLICA = "replica"


class Kind(StrEnum):
    """Why a record was skipped or failed."""

    NOT_HTML = "not-html"
    HTTP_STATUS = "http-status"
    TOO_LARGE = "too-large"
    TOO_SHORT = "too-short"
    UNSURE = "low-confidence"
    LANGUAGE = "other-language"
    READ = "read"
    DAMAGED = "damaged"
    DECODE = "decode"
    PARSE = "parse"
    TIMEOUT = "timeout"
    CRASH = "crash"
    MEMORY = "memory"
    SITE = "site"
    INTERNAL = "internal"

    @property
    def status(self) -> Status:
        return Status.SKIPPED if self in _SKIPPED else Status.FAILED

    @property
    def may_pass(self) -> bool:
        """Whether a retry of such a record may succeed. Damaged pages never do."""
        return self in _PASSING


_SKIPPED = frozenset([Kind.NOT_HTML, Kind.HTTP_STATUS, Kind.TOO_LARGE, Kind.TOO_SHORT, Kind.UNSURE, Kind.LANGUAGE])
_PASSING = frozenset([Kind.READ, Kind.TIMEOUT, Kind.CRASH, Kind.MEMORY])


class Problem(NamedTuple):
    """Why a record cannot be cleaned: a kind to count by, and a sentence to read."""

    kind: Kind
    words: str


class ProblemError(Exception):
    """Exception that carries a problem to the outcome of the record."""

    def __init__(self, kind: Kind, words: str) -> None:
        super().__init__(words)
        self.problem = Problem(kind, words)


class Origin(NamedTuple):
    """The file that contains a record, and the record's number in this file."""

    source: str
    position: int = 0
    rest: bool = False
    """Whether the record represents the rest of a file that could not be read."""

    @property
    def name(self) -> str:
        """The record's name in messages if it has no address. Records are numbered from 0, unlike lines."""
        return f"{self.source}@{self.position}"


NOWHERE = Origin("")


@dataclass(frozen=True, slots=True)
class Record:
    """A page to be cleaned, with its bytes or the name of its file."""

    name: str
    """Name of the page in messages."""
    place: Path
    """Path relative to the input directory. It may contain `..` and characters that file systems refuse."""
    file: Path | None = None
    """The file of the page, if it is not part of an archive."""
    payload: bytes = b""
    url: str = ""
    content_type: str = ""
    codings: tuple[str, ...] = ()
    """Encodings of the payload or the file, outermost first: chunked, gzip ..."""
    origin: Origin = NOWHERE
    problem: Problem | None = None
    """The problem, if reading the record failed."""
    record_id: str = ""
    date: str = ""
    reached: int = 0
    """Byte offset up to which the source has been read."""
    offset: int = 0
    """Byte offset at which reading can start again with this record, or 0 if there is none."""
    is_text: bool = False
    """Whether the payload is text, in UTF-8 with surrogates. If so, no encoding has to be detected."""

    def site(self, by: str = "domain") -> str:
        """Return the site of the page's address. A page without an address belongs to the site of its folder.

        >>> Record("x", Path("tea.example/a.html")).site(), Record("x", Path("a"), url="http://www.Tea.example:80/").site()
        ('tea.example', 'tea.example')
        """
        return site_of(self.url, by) or (self.place.parts[0] if len(self.place.parts) > 1 else "")

    @property
    def is_annotation(self) -> bool:
        """Whether the name of the page is that of an annotation file.

        The content is not checked, because it is untrusted.
        """
        return self.file is not None and self.file.suffix == ".anno"

    def read(self, most_bytes: int = MOST_BYTES) -> bytes | str:
        """Return the page as bytes or text. Raises ProblemError if it cannot be read or is too large."""
        if self.problem is not None:
            raise ProblemError(*self.problem)
        size = len(self.payload) if self.file is None else file_size(self.file)
        problem = size_problem(size, most_bytes)
        if problem is not None:
            raise ProblemError(*problem)
        if self.is_text:
            return self.payload.decode("utf-8", "surrogatepass")
        content = self.payload if self.file is None else self.file.read_bytes()
        if self.codings:
            from victorpy.batch.http import undo_codings

            return undo_codings(content, self.codings, most_bytes)
        return content


def file_size(path: Path) -> int:
    """Return the size of a file. Raises OSError if it is not a regular file."""
    status = path.stat()
    check_regular(status, path)
    return status.st_size


def size_problem(size: int, most_bytes: int) -> Problem | None:
    """Return the problem of a page that is too large."""
    if size <= most_bytes:
        return None
    return Problem(Kind.TOO_LARGE, f"{size:,} bytes are more than the limit of {most_bytes:,}")


def place_of(url: str, origin: Origin) -> Path:
    """Return an output path for a page.

    If the address has no host, the path is made from the names of the file and the record.

    >>> str(place_of("https://tea.example/green/sencha.php", Origin("in/crawl.warc", 3)))
    'tea.example/green/sencha.html'
    >>> str(place_of("", Origin("in/crawl.warc", 3)))
    'crawl.warc-3.html'
    """
    try:
        parts = urlsplit(url)
        host, path, query = parts.hostname or "", unquote(parts.path, errors="replace"), parts.query
    except ValueError:
        host, path, query = "", "", ""
    if not host:
        return Path(f"{Path(origin.source).name}-{origin.position}.html")
    path = "index" if path.strip("/") == "" else path.strip("/") + ("/index" if path.endswith("/") else "")
    path = _DYNAMIC.sub("", path) + (f"-{query}" if query else "")
    return Path(host, f"{path}.html")


def broken_record(origin: Origin, kind: Kind, words: str, reached: int = 0, name: str = "") -> Record:
    """Return a record for input that cannot be read."""
    return Record(
        name or origin.name, place_of("", origin), origin=origin, problem=Problem(kind, words), reached=reached
    )


@cache
def _standard_input() -> bytes:
    """Read standard input up to the limit. Cached, because methods that learn from pages read them twice."""
    return sys.stdin.buffer.read(MOST_BYTES + 1)


def page_record(path: Path, place: Path, name: str) -> Record:
    """Return the record of a file that is a page, or of the page on standard input."""
    if path == STDIN:
        return Record(name, place, payload=_standard_input())
    codings = ("gzip",) if path.suffix.lower() == ".gz" else ()
    return Record(name, place, path, codings=codings, origin=Origin(str(path)))
