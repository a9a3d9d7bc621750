"""Web archives: read the HTML pages in a WARC file, and report damage as failed records.

Positions count all records of an archive, pages or not; a stretch of damage counts as one record.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.batch.http import codings_of, is_html, split_message
from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.record import Origin, Record, size_problem
from victorpy.batch.sources import ReadOptions, place_of, source
from victorpy.batch.sources.expanding import GZIP, ExpandedGzip, expand_gzip, find_bytes, is_padding
from victorpy.errors import missing

_WARC = b"WARC/1."
_PAGE_TYPES = frozenset(["response", "resource", "revisit"])


@source(".warc", ".warc.gz", archive=True)
def read_warc(path: Path, options: ReadOptions, start: int = 0, offset: int = 0) -> Iterator[Record]:
    """Read the pages of an archive. After damage, continue with the next record that can be read."""
    with path.open("rb") as file:
        magic = file.read(len(_WARC))
        file.seek(0)
        is_gzip = magic.startswith(GZIP) or (path.name.lower().endswith(".gz") and magic != _WARC)
        reading = _Reading(path, options, start, file)
        for stretch in expand_gzip(file) if is_gzip else [file]:
            yield from reading.records(stretch)


class _Reading:
    """Reads an archive, stretch by stretch, and numbers its records."""

    def __init__(self, path: Path, options: ReadOptions, start: int, file: BinaryIO) -> None:
        self._path = path
        self._options = options
        self._start = start
        self._file = file
        self._number = 0
        self._in_damage = False
        """Whether damage was read last; a stretch of damage is reported once."""

    def records(self, stream: BinaryIO | ExpandedGzip) -> Iterator[Record]:
        """Read all records of a stream of expanded bytes."""
        try:
            from fastwarc.warc import ArchiveIterator
        except ImportError as error:
            raise missing("FastWARC", "batch", f"reading {self._path}") from error
        offset: int | None = 0
        while offset is not None:
            stream.seek(offset)
            # The record that was read last: its offset, the length of its block, and whether it is whole.
            at, length, is_whole = offset, 0, False
            damage = ""
            try:
                for entry in ArchiveIterator(stream, parse_http=False):
                    at, length, is_whole = entry.stream_pos, entry.content_length, False
                    record, damage = self._read(entry)
                    if damage:
                        break
                    is_whole, self._in_damage = True, False
                    if record is not None:
                        yield record
                    self._number += 1
            except (OSError, ValueError, EOFError) as error:
                damage = str(error) or type(error).__name__
            following = at + 1  # where to look for the next record: within a damaged one, or after a whole one
            if damage and is_whole:
                head_end = find_bytes(stream, b"\r\n\r\n", at)
                following = at + 1 if head_end is None else head_end + 4 + length
                if is_padding(stream, following):
                    damage = ""
            broken_off = stream.damage if isinstance(stream, ExpandedGzip) else ""
            if not (damage or broken_off):
                return
            if not self._in_damage:
                self._in_damage = True
                if self._number >= self._start:
                    yield self._damaged(broken_off or damage)
                self._number += 1
            if not damage:
                return  # all records up to the end of the stream were read
            offset = find_bytes(stream, _WARC, following)

    def _read(self, entry: Any) -> tuple[Record | None, str]:
        """Return a record if it is a page, or what is wrong with it. All of it is read: damage shows only then."""
        headers, length = entry.headers, entry.content_length
        if not headers.get("Content-Length", "").strip().isdigit():
            return None, "the head of the record has no end, or no length"
        kind = headers.get("WARC-Type")
        problem = size_problem(length, self._options.most_bytes)
        is_wanted = kind in _PAGE_TYPES and self._number >= self._start
        block, wrong_digest = b"", False
        if is_wanted and problem is None:
            check = self._options.check_digests and "WARC-Block-Digest" in headers
            wrong_digest = check and not entry.verify_block_digest()
            block = entry.reader.read()
        size = len(block) or entry.consume()
        if size < length:
            return None, f"the record should have {length:,} bytes and ends after {size:,}"
        if not is_wanted:
            return None, ""
        if wrong_digest:
            problem = Problem(Kind.DAMAGED, "the block does not match its digest")
        elif problem is None and kind == "revisit":
            problem = Problem(Kind.NOT_HTML, "a revisit, which has no page of its own")
        return self._page(entry, block, problem), ""

    def _page(self, entry: Any, block: bytes, problem: Problem | None) -> Record | None:
        is_http = entry.headers.get("WARC-Type") == "response"
        headers, body = split_message(block) if is_http else ({}, block)
        content_type = headers.get("content-type", "") if is_http else entry.headers.get("Content-Type", "")
        codings = codings_of(headers)
        if problem is None:
            if not is_http and content_type.startswith("text/dns"):
                return None  # a crawler's notes on its own work
            is_page = is_html(content_type, body) or (codings and not content_type)  # looks show only when decoded
            if not is_page:
                name = content_type.partition(";")[0] or "something"
                problem = Problem(Kind.NOT_HTML, f"{name}, not HTML")
        url = entry.headers.get("WARC-Target-URI", "").strip("<>")
        return Record(
            name=url or f"{self._path}@{self._number}",
            place=place_of(url, f"{self._path.name}-{self._number}"),
            payload=b"" if problem else body,
            url=url,
            content_type="" if problem else content_type,
            codings=() if problem else codings,
            origin=Origin(str(self._path), self._number),
            problem=problem,
            record_id=entry.record_id or "",
            date=entry.headers.get("WARC-Date", ""),
            reached=self._file.tell(),
        )

    def _damaged(self, words: str) -> Record:
        name = f"{self._path}@{self._number}"
        problem = Problem(Kind.DAMAGED, f"damaged at record {self._number:,}: {words}")
        origin = Origin(str(self._path), self._number)
        return Record(name, Path(name), origin=origin, problem=problem, reached=self._file.tell())
