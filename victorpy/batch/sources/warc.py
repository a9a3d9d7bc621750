"""Web archives: read the HTML pages in a WARC file, and report damage as failed records.

Positions count all records of an archive, not only pages. A stretch of damage counts as one record.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.batch.http import codings_of, error_status, is_html, split_message
from victorpy.batch.record import Kind, Origin, Problem, Record, broken_record, place_of, size_problem
from victorpy.batch.sources import ReadOptions, source
from victorpy.batch.sources.expanding import GZIP, ExpandedGzip, expand_gzip, find_bytes, is_padding, is_too_much
from victorpy.errors import missing

_WARC = b"WARC/1."
_NEXT = b"\r\n\r\n" + _WARC
_BUFFERED = 1 << 18  # maximum number of bytes that FastWARC reads ahead
_PAGE_TYPES = frozenset(["response", "resource", "revisit"])


@source(".warc", ".warc.gz", archive=True, needs=("fastwarc", "batch"))
def read_warc(path: Path, options: ReadOptions, start: int, offset: int) -> Iterator[Record]:
    """Read the pages of an archive. After damage, continue with the next readable record.

    `offset` is the offset of record `start`, which must be the first record of its gzip member.
    """
    with path.open("rb") as file:
        magic = file.read(len(_WARC))
        is_gzip = magic.startswith(GZIP) or (path.name.lower().endswith(".gz") and magic != _WARC)
        stretches = expand_gzip(file, offset) if is_gzip else [file]
        first = 0 if is_gzip else offset
        number, in_damage = (start if offset else 0), False
        for entry in chain.from_iterable(_entries(stretch, path, options, first) for stretch in stretches):
            record = None
            origin = Origin(str(path), number)
            if not isinstance(entry, str):
                in_damage = False
                if number >= start and entry[0].headers.get("WARC-Type") in _PAGE_TYPES:
                    record = _page_record(*entry, origin, file.tell())
            elif in_damage:
                continue  # a stretch of damage is reported only once
            else:
                in_damage = True
                if number >= start:
                    words = f"damaged at record {number:,}: {entry}"
                    record = broken_record(origin, Kind.DAMAGED, words, file.tell())
            if record is not None:
                yield record
            number += 1


def _entries(
    stream: BinaryIO | ExpandedGzip, path: Path, options: ReadOptions, first: int
) -> Iterator[tuple[Any, bytes, Problem | None, int] | str]:
    """Yield the archive records in a stream, with their blocks, problems and offsets, and damage as a description."""
    try:
        from fastwarc.warc import ArchiveIterator
    except ImportError as error:
        raise missing("FastWARC", "batch", f"reading {path}") from error
    offset: int | None = first
    furthest, work = first, 0
    while offset is not None:
        begun = stream.work if isinstance(stream, ExpandedGzip) else offset
        stream.seek(offset)
        # The last record: its offset, its block length, and whether it is complete.
        at, length, is_complete = offset, 0, False
        damage = ""
        doubtful = None  # a record that seems to contain the next one; if damage follows, its length is wrong
        try:
            for entry in ArchiveIterator(stream, parse_http=False):
                if doubtful:
                    yield doubtful
                at, length, is_complete, doubtful = entry.stream_pos, entry.content_length, False, None
                block, problem, damage = _read_block(entry, options)
                if damage:
                    break
                is_complete = True
                item = entry, block, problem, stream.member_at(at) if isinstance(stream, ExpandedGzip) else at
                if _NEXT in block:
                    doubtful = item
                else:
                    yield item
        except (OSError, ValueError, EOFError) as error:
            damage = str(error) or type(error).__name__
        following = at + 1  # search for the next record inside a damaged record, or after a complete one
        furthest = max(furthest, stream.tell())
        work += max((stream.work if isinstance(stream, ExpandedGzip) else stream.tell()) - begun - _BUFFERED, 0)
        if doubtful and damage:
            damage = f"the record should have {length:,} bytes, and another record begins in it"
            following = find_bytes(stream, _NEXT, at) or following
        elif doubtful:
            yield doubtful
        elif damage and is_complete:
            head_end = find_bytes(stream, b"\r\n\r\n", at)
            following = at + 1 if head_end is None else head_end + 4 + length
            if is_padding(stream, following):
                damage = ""
        broken_off = stream.damage if isinstance(stream, ExpandedGzip) else ""
        if damage or broken_off:
            yield broken_off or damage
        if is_too_much(work, furthest):
            following = max(following, furthest)
        offset = find_bytes(stream, _WARC, following) if damage else None


def _read_block(entry: Any, options: ReadOptions) -> tuple[bytes, Problem | None, str]:
    """Return the block of a page, a problem, and damage.

    The block is always read, because only reading reveals damage.
    """
    headers, length = entry.headers, entry.content_length
    if not headers.get("Content-Length", "").strip().isdigit():
        return b"", None, "the head of the record has no end, or no length"
    kind = headers.get("WARC-Type")
    problem = size_problem(length, options.most_bytes)
    block = b""
    if kind in _PAGE_TYPES and problem is None:
        if options.check_digests and "WARC-Block-Digest" in headers and not entry.verify_block_digest():
            problem = Problem(Kind.DAMAGED, "the block does not match its digest")
        elif kind == "revisit":
            problem = Problem(Kind.NOT_HTML, "a revisit record, which contains no page")
        block = entry.reader.read()
    size = len(block) or entry.consume()
    if size < length:
        return b"", None, f"the record should have {length:,} bytes and ends after {size:,}"
    return block, problem, ""


def _page_record(
    entry: Any, block: bytes, problem: Problem | None, offset: int, origin: Origin, reached: int
) -> Record | None:
    is_http = entry.headers.get("WARC-Type") == "response"
    headers, body = split_message(block) if is_http else ({}, block)
    content_type = headers.get("content-type", "") if is_http else entry.headers.get("Content-Type", "")
    codings = codings_of(headers)
    if problem is None:
        if not is_http and content_type.startswith("text/dns"):
            return None  # a crawler's log
        is_page = is_html(content_type, body) or (codings and not content_type)  # compressed HTML cannot be recognised
        if is_http and (status := error_status(block)):
            problem = Problem(Kind.HTTP_STATUS, f"an HTTP response with status {status}, not a page")
        elif not is_page:
            problem = Problem(Kind.NOT_HTML, f"{content_type.partition(';')[0] or 'unknown type'}, not HTML")
    url = entry.headers.get("WARC-Target-URI", "").strip("<>")
    return Record(
        name=url or origin.name,
        place=place_of(url, origin),
        payload=b"" if problem else body,
        url=url,
        content_type="" if problem else content_type,
        codings=() if problem else codings,
        origin=origin,
        problem=problem,
        record_id=entry.record_id or "",
        date=entry.headers.get("WARC-Date", ""),
        reached=reached,
        offset=offset,
    )
