"""Web archives: the HTML pages among the responses of a WARC file, and what of it is damaged.

A position is the offset of a record, or of its gzip member. In a file whose members hold several records, or parts of
some, there is no such offset: it is read from its beginning, and a position is the number of a record. A file that is
so only from some member on has offsets before it and numbers behind it, which are larger than any offset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.batch.http import codings_of, is_html, split_message
from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.records import RECORD_NUMBER, Origin, Record, size_problem
from victorpy.batch.sources.base import ReadOptions, place_of, source
from victorpy.batch.sources.expanded import GZIP, PADDING, Expanded, find_bytes
from victorpy.errors import missing

NUMBERS_FROM = 10**15
"""What is added to the numbers of records that come behind offsets: more than any file has bytes."""

_WARC = b"WARC/1."
_SCANNED = 1 << 20
_PAGE_TYPES = frozenset(["response", "resource", "revisit"])


@source(".warc", ".warc.gz", seeks=True, archive=True)
def read_warc(path: Path, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read the pages of an archive; behind damage go on with the next record that can be read."""
    with path.open("rb") as file:
        is_gzip = file.read(len(GZIP)) == GZIP
        if is_gzip and _members_are_shared(path, file):
            yield from _numbered(path, options, Expanded(file), start)
        elif is_gzip and start >= NUMBERS_FROM:
            yield from _numbered(path, options, Expanded(file), start, NUMBERS_FROM)
        elif is_gzip or path.name.lower().endswith(".gz"):
            yield from _by_members(path, options, file, start)
        else:
            yield from _walk(path, options, file, start)


def position_unit(path: Path, position: int) -> str:
    """What a position in an archive counts."""
    if position >= NUMBERS_FROM:
        return RECORD_NUMBER
    with path.open("rb") as file:
        is_gzip = file.read(len(GZIP)) == GZIP
        return RECORD_NUMBER if is_gzip and _members_are_shared(path, file) else "offset"


def _members_are_shared(path: Path, file: BinaryIO) -> bool:
    """Whether the second record does not begin a member, so that its place has no offset in the file.

    The others are held to the same when they come: this only spares most such files a change of units on the way.
    """
    expanded = Expanded(file)
    records = _archive(path, expanded)
    try:
        first = next(records, None)
        second = next(records, None) if first is not None else None  # the first is read to its end by that
        return second is not None and expanded.member_at(second.stream_pos) is None
    except (OSError, ValueError, EOFError):
        return False


def _walk(path: Path, options: ReadOptions, file: BinaryIO | Expanded, start: int) -> Iterator[Record]:
    """Read what is not compressed, or not any more."""
    return _stretches(_Reading(path, options, file), start, _WARC)


def _by_members(path: Path, options: ReadOptions, file: BinaryIO, start: int) -> Iterator[Record]:
    """Read records that begin members; from the first on that does not, positions are numbers."""
    reading = _MemberReading(path, options, file)
    yield from _stretches(reading, start, GZIP)
    if reading.shared:
        expanded = Expanded(file, watch=reading.stopped)
        yield from _numbered(path, options, expanded, 0, NUMBERS_FROM, known=reading.good > 0)


def _numbered(
    path: Path, options: ReadOptions, file: Expanded, start: int, base: int = 0, known: bool = False
) -> Iterator[Record]:
    """Read all that a file expands to, and give what is at or behind a number, and behind the member to watch for.

    The record that begins this member may be known already.
    """
    for number, record in enumerate(_walk(path, options, file, 0), start=base + 1):
        if number < start or file.watched is None:
            continue
        offset, member = file.watched
        is_known = known and member == file.watch
        if record.origin.position > offset or (record.origin.position == offset and not is_known):
            name = f"{path}@{number}"
            yield replace(
                record,
                name=record.url or name,
                place=place_of(record.url, f"{path.name}-{number}") if record.record_id or record.url else Path(name),
                origin=Origin(str(path), number, RECORD_NUMBER),
                reached=file.reached,
            )


def _stretches(reading: _Reading, start: int, magic: bytes) -> Iterator[Record]:
    """Read stretch after stretch that can be read, and say what is damaged between them."""
    at: int | None = start
    told = False
    while at is not None:
        yield from reading.records(at)
        if reading.damage is None:
            return
        if reading.good:
            told, at = False, reading.stopped  # look at it from its beginning, as somebody would who resumes there
            continue
        if not told:
            yield reading.damaged()
        told = True  # one stretch of damage is said once, however often one stumbles in it
        at = find_bytes(reading.file, magic, at + 1)


def _archive(path: Path, file: BinaryIO | Expanded) -> Iterator[Any]:
    try:
        from fastwarc.warc import ArchiveIterator
    except ImportError as error:
        raise missing("FastWARC", "batch", f"reading {path}") from error
    return iter(ArchiveIterator(file, parse_http=False))


class _Reading:
    """Passes over an archive, each as far as it can be read."""

    def __init__(self, path: Path, options: ReadOptions, file: BinaryIO | Expanded) -> None:
        self.path = path
        self.options = options
        self.file = file
        self.stopped = 0
        """Where the record begins at which the last pass stopped."""
        self.damage: str | None = None
        self.good = 0
        """How many records it read before."""

    def records(self, start: int) -> Iterator[Record]:
        """Read records from an offset on; what stops it is left in `damage`."""
        self.stopped, self.damage, self.good = start, None, 0
        end = None  # of the last record that was read well
        try:
            for found in self._open(start):
                position = self._position(found)
                if position is None:
                    return
                end, self.stopped = None, position
                stream_pos, length = found.stream_pos, found.content_length
                record = self._record(found)
                if self.damage is not None:
                    break
                self.good += 1
                end = (stream_pos, length)
                if record is not None:
                    yield record
        except (OSError, ValueError, EOFError) as error:
            self.damage = str(error) or type(error).__name__
        self._stop(end)

    def _open(self, start: int) -> Iterator[Any]:
        if not _has_more(self.file, start):
            return iter(())
        self.file.seek(start)
        return _archive(self.path, self.file)

    def _position(self, found: Any) -> int | None:
        """Where a record is to be found again."""
        return int(found.stream_pos)

    def _stop(self, last: tuple[int, int] | None) -> None:
        """See where a pass has stopped, given the last record if it was read well, and whether by damage."""
        if self.damage is not None:
            self._explain(self.file)
        if last is not None:
            self.stopped = _end_of(self.file, *last)
        if self.damage is None and _has_more(self.file, self.stopped):
            self.damage = "what is here is no record, or not all of one"
            self._explain(self.file)

    def _explain(self, file: BinaryIO | Expanded) -> None:
        """Name the damage of compressed data, where it is this that a record was broken off by."""
        broken = file.break_here() if isinstance(file, Expanded) else None
        self.damage = broken.words if broken is not None else self.damage

    def _record(self, found: Any) -> Record | None:
        """Make a record of an archive's one, where it is a page; all of it is read, because damage shows only then."""
        kind, length = found.headers.get("WARC-Type"), found.content_length
        if not found.headers.get("Content-Length", "").strip().isdigit():
            self.damage = "the head of the record has no end, or no length"
            return None
        url = found.headers.get("WARC-Target-URI", "").strip("<>")
        too_large = size_problem(length, self.options.most_bytes)
        if kind not in _PAGE_TYPES or too_large:
            self._check_length(length, found.consume())
            return self._made(found, url, problem=too_large) if kind in _PAGE_TYPES else None
        wrong_digest = self.options.check_digests and not _verified(found)
        block = found.reader.read()
        self._check_length(length, len(block))
        if wrong_digest:
            return self._made(found, url, problem=Problem(Kind.DAMAGED, "the block does not match its digest"))
        if kind == "revisit":
            return self._made(found, url, problem=Problem(Kind.NOT_HTML, "a revisit, which has no page of its own"))
        return self._page(found, url, block, is_http=kind == "response")

    def _page(self, found: Any, url: str, block: bytes, is_http: bool) -> Record | None:
        headers, body = split_message(block) if is_http else ({}, block)
        declared = headers.get("content-type", "") if is_http else found.headers.get("Content-Type", "")
        codings = codings_of(headers)
        if not is_http and declared.startswith("text/dns"):
            return None  # a crawler's notes on its own work
        seen = b"<html>" if codings and not declared else body  # what is coded shows its looks later
        if not is_html(declared, seen):
            words = f"{declared.partition(';')[0] or 'something'}, not HTML"
            return self._made(found, url, problem=Problem(Kind.NOT_HTML, words))
        return self._made(found, url, payload=body, content_type=declared, codings=codings)

    def _made(self, found: Any, url: str, **known: Any) -> Record:
        return Record(
            name=url or f"{self.path}@{self.stopped}",
            place=place_of(url, f"{self.path.name}-{self.stopped}"),
            url=url,
            origin=Origin(str(self.path), self.stopped, "offset"),
            record_id=found.record_id or "",
            date=found.headers.get("WARC-Date", ""),
            reached=self.stopped,
            **known,
        )

    def _check_length(self, expected: int, seen: int) -> None:
        if seen < expected:
            self.damage = f"the record should have {expected:,} bytes and ends after {seen:,}"

    def damaged(self) -> Record:
        """What could not be read, as a record with its offset."""
        origin = Origin(str(self.path), self.stopped, "offset")
        where = " of what the file expands to" if isinstance(self.file, Expanded) else ""
        problem = Problem(Kind.DAMAGED, f"damaged at offset {self.stopped:,}{where}: {self.damage}")
        name = f"{self.path}@{self.stopped}"
        return Record(name, Path(name), origin=origin, problem=problem, reached=self.stopped)


class _MemberReading(_Reading):
    """Passes over an archive each of whose records should begin a gzip member."""

    file: BinaryIO

    def __init__(self, path: Path, options: ReadOptions, file: BinaryIO) -> None:
        super().__init__(path, options, file)
        self._expanded: Expanded | None = None
        self.shared = False
        """Whether the last pass stopped in a member that holds more than a record."""

    def _open(self, start: int) -> Iterator[Any]:
        self.file.seek(start)
        is_member = self.file.read(len(GZIP)) == GZIP
        self._expanded = Expanded(self.file, start) if is_member else None
        return super()._open(start) if self._expanded is None else _archive(self.path, self._expanded)

    def _position(self, found: Any) -> int | None:
        if self._expanded is None:
            return super()._position(found)
        member = self._expanded.member_at(found.stream_pos)
        self.shared = member is None
        return member

    def _stop(self, last: tuple[int, int] | None) -> None:
        expanded = self._expanded
        if expanded is None:
            super()._stop(last)
            if self.damage is not None:
                self.damage = "what is here is no compressed member, or the wrong end of one"
            return
        if last is None:
            self.damage = self.damage or "there is no record in this compressed member"
            self._explain(expanded)
            return
        end = _end_of(expanded, *last)
        if not _has_more(expanded, end):
            self.damage = None
            return
        broken = expanded.break_here()
        if broken is not None:
            self.damage = broken.words
            self.stopped = max(broken.member, self.stopped + 1)
            return
        following = expanded.member_at(_behind_padding(expanded, end))
        if following is None:
            self.damage, self.shared = None, True
            return
        self.damage = self.damage or "there is no record in this compressed member"
        self.stopped = following


def _verified(found: Any) -> bool:
    """Whether the block is what its digest says; a record without one is taken as it is."""
    return "WARC-Block-Digest" not in found.headers or bool(found.verify_block_digest())


def _has_more(file: BinaryIO | Expanded, start: int) -> bool:
    """Whether there is anything but padding behind an offset; a file of nothing but padding is no archive."""
    file.seek(start)
    if start == 0:
        return bool(file.read(1)) or _is_at_break(file)
    while chunk := file.read(_SCANNED):
        if chunk.strip(PADDING):
            return True
    return _is_at_break(file)


def _is_at_break(file: BinaryIO | Expanded) -> bool:
    return isinstance(file, Expanded) and file.break_here() is not None


def _behind_padding(file: Expanded, start: int) -> int:
    file.seek(start)
    while chunk := file.read(_SCANNED):
        rest = chunk.lstrip(PADDING)
        if rest:
            return file.tell() - len(rest)
    return file.tell()


def _end_of(file: BinaryIO | Expanded, start: int, length: int) -> int:
    """Where a record that can be read ends: two empty lines behind its block, or where damage took these away."""
    head = find_bytes(file, b"\r\n\r\n", start)
    end = (start if head is None else head + 4) + length + 4
    broken = file.break_between(start, end) if isinstance(file, Expanded) else None
    return end if broken is None else broken
