"""Web archives: the HTML pages among the responses of a WARC file, and what of it is damaged."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.batch.http import codings_of, is_html, split_message
from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.records import Origin, Record, size_problem
from victorpy.batch.sources.base import ReadOptions, place_of, source
from victorpy.errors import missing

_GZIP = b"\x1f\x8b\x08"
_WARC = b"WARC/1."
_SCANNED = 1 << 20
_LONGEST_MAGIC = 8
_PAGE_TYPES = frozenset(["response", "resource", "revisit"])


@source(".warc", ".warc.gz", seeks=True, archive=True)
def read_warc(path: Path, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read the pages of an archive; behind damage go on with the next record that can be read."""
    with path.open("rb") as file:
        magic = _GZIP if file.read(len(_GZIP)) == _GZIP or path.name.lower().endswith(".gz") else _WARC
        at: int | None = start
        told = False
        while at is not None:
            reading = _Reading(path, options)
            yield from reading.records(file, at)
            if reading.damage is None:
                return
            if reading.good:
                told, at = False, reading.stopped  # look at it from its beginning, as somebody would who resumes there
                continue
            if not told:
                yield reading.damaged()
            told = True  # one stretch of damage is said once, however often one stumbles in it
            at = _next_magic(file, at + 1, magic)


class _Reading:
    """One pass over an archive, as far as it can be read."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path = path
        self.options = options
        self.stopped = 0
        """Where the record begins at which reading stopped."""
        self.damage: str | None = None
        self.good = 0
        """How many records were read before."""

    def records(self, file: BinaryIO, start: int) -> Iterator[Record]:
        """Read records from an offset on; what stops it is left in `damage`."""
        archive = self._open(file, start)
        self.stopped = start
        behind = None  # the last record that was read well, and its length
        try:
            for found in archive:
                behind, self.stopped = None, found.stream_pos
                length = found.content_length
                record = self._record(found)
                if self.damage is not None:
                    return
                self.good += 1
                behind = (self.stopped, length)
                if record is not None:
                    yield record
        except (OSError, ValueError, EOFError) as error:
            self.damage = str(error) or type(error).__name__
        if behind is not None:
            self.stopped = _end_of(file, *behind)
        if self.damage is None and _has_more(file, self.stopped):
            self.damage = "what is here is no record, or not all of one"

    def _open(self, file: BinaryIO, start: int) -> Iterator[Any]:
        try:
            from fastwarc.warc import ArchiveIterator
        except ImportError as error:
            raise missing("FastWARC", "batch", f"reading {self.path}") from error
        if not _has_more(file, start):
            return iter(())
        file.seek(start)
        return iter(ArchiveIterator(file, parse_http=False))

    def _record(self, found: Any) -> Record | None:
        """Make a record of an archive's one, where it is a page; all of it is read, because damage shows only then."""
        kind, length = found.headers.get("WARC-Type"), found.content_length
        if "Content-Length" not in found.headers:
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
        offset = int(found.stream_pos)
        return Record(
            name=url or f"{self.path}@{offset}",
            place=place_of(url, f"{self.path.name}-{offset}"),
            url=url,
            origin=Origin(str(self.path), offset, "offset"),
            record_id=found.record_id or "",
            date=found.headers.get("WARC-Date", ""),
            reached=offset,
            **known,
        )

    def _check_length(self, expected: int, seen: int) -> None:
        if seen < expected:
            self.damage = f"the record should have {expected:,} bytes and ends after {seen:,}"

    def damaged(self) -> Record:
        """What could not be read, as a record with its offset."""
        origin = Origin(str(self.path), self.stopped, "offset")
        problem = Problem(Kind.DAMAGED, f"damaged at offset {self.stopped:,}: {self.damage}")
        name = f"{self.path}@{self.stopped}"
        return Record(name, Path(name), origin=origin, problem=problem, reached=self.stopped)


def _verified(found: Any) -> bool:
    """Whether the block is what its digest says; a record without one is taken as it is."""
    return "WARC-Block-Digest" not in found.headers or bool(found.verify_block_digest())


def _has_more(file: BinaryIO, start: int) -> bool:
    """Whether there is anything but padding behind an offset; a file of nothing but padding is no archive."""
    file.seek(start)
    if start == 0:
        return bool(file.read(1))
    while chunk := file.read(_SCANNED):
        if chunk.strip(b"\0\r\n\t "):
            return True
    return False


def _end_of(file: BinaryIO, start: int, length: int) -> int:
    """Where a record that can be read ends: with its compressed member, or two empty lines behind its block."""
    file.seek(start)
    if file.read(len(_GZIP)) != _GZIP:
        file.seek(start)
        head = file.read(_SCANNED).find(b"\r\n\r\n")
        return start + head + 4 + length + 4
    file.seek(start)
    member = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        while not member.eof and (chunk := file.read(1 << 12)):
            member.decompress(chunk)
    except zlib.error:
        return start + 1  # its checksum is wrong, which is the damage
    return file.tell() - len(member.unused_data)


def _next_magic(file: BinaryIO, start: int, magic: bytes) -> int | None:
    """Find the next place where a record may begin."""
    file.seek(start)
    before = b""
    at = start
    while chunk := file.read(_SCANNED):
        window = before + chunk
        found = window.find(magic)
        if found >= 0:
            return at - len(before) + found
        before = window[-_LONGEST_MAGIC:]
        at += len(chunk)
    return None
