"""Pages as lines of JSON, plain or compressed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.records import Origin, Record, size_problem
from victorpy.batch.sources.base import ReadOptions, place_of, source
from victorpy.batch.sources.lines import read_lines


@source(".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst", ".ndjson.gz", ".ndjson.zst")
def read_jsonl(path: Path, options: ReadOptions, start: int = 0, offset: int = 0) -> Iterator[Record]:
    """Read pages from lines. Of a plain file, record `start` is looked for from the offset on, if one is given."""
    most_bytes = 2 * options.most_bytes  # JSON escapes what it has to
    first = start if offset else 0
    for number, line in enumerate(read_lines(path, most_bytes, offset), start=first):
        if number < start:
            continue
        origin = Origin(str(path), number)
        if line.problem is not None:
            yield broken_record(origin, *line.problem, line.reached)
            continue
        try:
            fields = json.loads(line.content)
        except (ValueError, RecursionError) as error:
            yield broken_record(origin, Kind.DAMAGED, f"not a line of JSON: {error}", line.reached)
        else:
            yield field_record(fields, origin, options, line.reached)


def broken_record(origin: Origin, kind: Kind, words: str, reached: int = 0) -> Record:
    """Make a record that cannot be read."""
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
