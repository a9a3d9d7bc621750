"""Pages as lines of JSON, plain or compressed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.record import Origin, Record, size_problem
from victorpy.batch.sources import ReadOptions, place_of, source
from victorpy.batch.sources.expanding import expand_gzip
from victorpy.errors import missing

_PIECE = 1 << 18
_ZSTD_BITE = 1 << 8  # even a bomb's 256 bytes expand to a few megabytes only


@source(".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst", ".ndjson.gz", ".ndjson.zst")
def read_jsonl(path: Path, options: ReadOptions, start: int = 0, offset: int = 0) -> Iterator[Record]:
    """Read pages from lines. If an offset is given, record `start` begins there; only plain files can have one."""
    most_bytes = 2 * options.most_bytes  # JSON escapes what it has to
    first = start if offset else 0
    for number, (line, reached) in enumerate(_read_lines(path, most_bytes, offset), start=first):
        if number < start:
            continue
        origin = Origin(str(path), number)
        if isinstance(line, Problem):
            yield broken_record(origin, *line, reached)
            continue
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield broken_record(origin, Kind.DAMAGED, f"not a line of JSON: {error}", reached)
        else:
            yield field_record(fields, origin, options, reached)


def broken_record(origin: Origin, kind: Kind, words: str, reached: int = 0) -> Record:
    """Return a failed record for input that cannot be read."""
    name = f"{origin.source}:{origin.position}"
    return Record(name, Path(name), origin=origin, problem=Problem(kind, words), reached=reached)


def field_record(fields: Any, origin: Origin, options: ReadOptions, reached: int) -> Record:
    """Make a record of named fields."""
    named = fields if isinstance(fields, dict) else {}
    page = named.get(options.html_field)
    if not isinstance(page, (str, bytes)):
        names = ", ".join(map(str, list(named)[:8])) or "none"
        words = f"there is no page in the field {options.html_field!r}; its fields: {names}"
        return broken_record(origin, Kind.READ, words, reached)
    url = _text(named.get(options.url_field))
    problem = size_problem(len(page), options.most_bytes)
    return Record(
        name=url or f"{origin.source}:{origin.position}",
        place=place_of(url, f"{Path(origin.source).name}-{origin.position}"),
        payload=b"" if problem else page,
        url=url,
        content_type=_text(named.get("content_type")),
        origin=origin,
        problem=problem,
        reached=reached,
    )


def _text(value: Any) -> str:
    """Return a field that should be text; tables often have it as bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def _read_lines(path: Path, most_bytes: int, offset: int) -> Iterator[tuple[bytes | Problem, int]]:
    """Read lines that are not blank, with at most one in memory, and how far the file has been read then.

    Damage, and a line over the limit, come as a problem.
    """
    too_long = Problem(Kind.TOO_LARGE, f"the line is longer than {most_bytes:,} bytes")
    pieces: list[bytes] = []
    size = 0
    with path.open("rb") as file:
        file.seek(offset)
        for piece in chain(_pieces(file, path.name.lower()), [b"\n"]):
            if isinstance(piece, str):
                pieces, size = [], 0  # the line that the damage is in is not whole
                yield Problem(Kind.DAMAGED, piece), file.tell()
                continue
            *line_ends, line_begin = piece.split(b"\n")
            for line_end in line_ends:
                is_too_long = size + len(line_end) > most_bytes
                line = b"" if is_too_long else b"".join([*pieces, line_end])
                if is_too_long or line.strip():
                    yield too_long if is_too_long else line, file.tell()
                pieces, size = [], 0
            pieces.append(line_begin)
            size += len(line_begin)
            if size > most_bytes:
                pieces.clear()


def _pieces(file: BinaryIO, name: str) -> Iterator[bytes | str]:
    """Yield the expanded bytes of a file piece by piece, and descriptions of the damage between them."""
    if name.endswith(".gz"):
        for stretch in expand_gzip(file):
            while piece := stretch.read():
                yield piece
            if stretch.damage:
                yield stretch.damage
    elif name.endswith(".zst"):
        yield from _expand_zstd(file, name)
    else:
        while piece := file.read(_PIECE):
            yield piece


def _expand_zstd(file: BinaryIO, name: str) -> Iterator[bytes | str]:
    """Expand frame after frame. Nothing can be read after a damaged one."""
    try:
        import zstandard
    except ImportError as error:
        raise missing("zstandard", "batch", f"reading {name}") from error
    expander: Any = None
    bite = b""
    while bite := bite or file.read(_ZSTD_BITE):
        expander = expander or zstandard.ZstdDecompressor().decompressobj()
        try:
            yield expander.decompress(bite)
        except zstandard.ZstdError as error:
            yield f"damaged compressed data near offset {file.tell() - len(bite):,}: {error}"
            return
        bite = expander.unused_data if expander.eof else b""
        expander = None if expander.eof else expander
    if expander is not None:
        yield f"the file ends, at offset {file.tell():,}, within a compressed member"
