"""Web archives: the HTML pages among the responses of a WARC file, and what of it is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.batch.http import codings_of, is_html, split_message
from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.records import Origin, Record
from victorpy.batch.sources.base import ReadOptions, missing, place_of, source

_GZIP = b"\x1f\x8b\x08"
_WARC = b"WARC/1."
_SCANNED = 1 << 20
_LONGEST_MAGIC = 8
_PAGE_TYPES = frozenset(["response", "resource", "revisit"])
_OTHER_TYPES = frozenset(["warcinfo", "request", "metadata", "conversion", "continuation"])


@source(".warc", ".warc.gz", seeks=True, archive=True)
def read_warc(path: Path, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read the pages of an archive; behind damage go on with the next record that can be read."""
    with path.open("rb") as file:
        magic = _GZIP if file.read(len(_GZIP)) == _GZIP or path.name.lower().endswith(".gz") else _WARC
        at: int | None = start
        known_damage = -1
        while at is not None:
            reading = _Reading(path, options)
            yield from reading.records(file, at)
            if reading.damage is None:
                return
            if known_damage < 0 or reading.good:
                known_damage = reading.stopped
                yield reading.damaged()
            at = _next_magic(file, max(reading.stopped, at) + 1, magic)


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
        try:
            from fastwarc.warc import ArchiveIterator
        except ImportError as error:
            raise missing("FastWARC", "batch", f"reading {self.path}") from error
        file.seek(start)
        self.stopped = start
        end = file.seek(0, 2)
        file.seek(start)
        if start >= end:
            return
        try:
            archive = ArchiveIterator(file, parse_http=False)
            for found in archive:
                self.stopped = found.stream_pos
                kind = found.headers.get("WARC-Type")
                if kind not in _PAGE_TYPES | _OTHER_TYPES and found.content_length == 0 and not found.record_id:
                    self.damage = "the file ends within the head of a record"
                    return
                record = self._record(found, kind)
                if self.damage is not None:
                    return
                self.good += 1
                self.stopped += 1  # whatever is wrong from here on is behind this record's beginning
                if record is not None:
                    yield record
            if self.good == 0:
                self.damage = "no record begins here"
        except (OSError, ValueError, EOFError) as error:
            self.damage = str(error) or type(error).__name__

    def _record(self, found: Any, kind: str | None) -> Record | None:
        """Make a record of an archive's one, where it is a page; all of it is read, because damage shows only then."""
        length = found.content_length
        url = found.headers.get("WARC-Target-URI", "").strip("<>")
        too_large = length > self.options.most_bytes
        if kind not in _PAGE_TYPES or too_large:
            self._check_length(length, found.consume())
            problem = Problem(
                Kind.TOO_LARGE, f"{length:,} bytes are more than the limit of {self.options.most_bytes:,}"
            )
            return self._made(found, url, problem=problem) if kind in _PAGE_TYPES else None
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
