"""Pages as lines of JSON, plain or compressed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.records import Origin, Record, size_problem
from victorpy.batch.sources.base import ReadOptions, place_of, source
from victorpy.batch.sources.lines import Line, read_lines


@source(".jsonl", ".ndjson", seeks=True)
def read_plain(path: Path, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read pages from lines; a position is the offset of a line."""
    position = start
    for line in _lines(path, options, start):
        if line.content.strip() or line.problem or line.too_long:
            yield _record(line, Origin(str(path), position, "offset"), options)
        position += line.length + 1


@source(".jsonl.gz", ".jsonl.zst", ".ndjson.gz", ".ndjson.zst")
def read_compressed(path: Path, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read pages from compressed lines; a position is the number of a line, damage counting as one."""
    for number, line in enumerate(_lines(path, options), start=1):
        if number >= start and (line.content.strip() or line.problem or line.too_long):
            yield _record(line, Origin(str(path), number, "line"), options)


def _lines(path: Path, options: ReadOptions, start: int = 0) -> Iterator[Line]:
    return read_lines(path, 2 * options.most_bytes, start)  # JSON escapes what it has to


def _record(line: Line, origin: Origin, options: ReadOptions) -> Record:
    if line.problem:
        return _broken(line, origin, Kind.DAMAGED, line.problem)
    if line.too_long:
        return _broken(line, origin, Kind.TOO_LARGE, f"the line is longer than {2 * options.most_bytes:,} bytes")
    try:
        fields = json.loads(line.content)
    except (ValueError, RecursionError) as error:
        return _broken(line, origin, Kind.DAMAGED, f"not a line of JSON: {error}")
    return field_record(fields, origin, options, line.reached)


def _broken(line: Line, origin: Origin, kind: Kind, words: str) -> Record:
    return broken_record(origin, kind, words, line.reached)


def broken_record(origin: Origin, kind: Kind, words: str, reached: int) -> Record:
    """A record that cannot be had."""
    name = f"{origin.source}:{origin.position}"
    return Record(name, Path(name), origin=origin, problem=Problem(kind, words), reached=reached)


def field_record(fields: Any, origin: Origin, options: ReadOptions, reached: int) -> Record:
    """Make a record of named fields."""
    named = fields if isinstance(fields, dict) else {}
    page, url = named.get(options.html_field), named.get(options.url_field)
    if not isinstance(page, (str, bytes)):
        known = ", ".join(map(str, list(named)[:8])) or "none"
        words = f"there is no page in the field {options.html_field!r}; its fields: {known}"
        return broken_record(origin, Kind.READ, words, reached)
    address = _text(url)
    where = Path(origin.source).name
    problem = size_problem(len(page), options.most_bytes)
    return Record(
        name=address or f"{origin.source}:{origin.position}",
        place=place_of(address, f"{where}-{origin.position}"),
        payload=b"" if problem else page,  # what is skipped need not travel
        url=address,
        content_type=_text(named.get("content_type")),
        origin=origin,
        problem=problem,
        reached=reached,
    )


def _text(value: Any) -> str:
    """A field that should be text; tables often have it as bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value if isinstance(value, str) else ""
