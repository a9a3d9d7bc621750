"""One record in, one row out, as plain data: for engines that map a function over records themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from victorpy.batch import outcome
from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.record import Origin, Record
from victorpy.batch.sources.base import MOST_BYTES
from victorpy.methods import Method
from victorpy.outputs import find_output


def clean_record(
    record: Mapping[str, Any] | Record,
    format: str = "text",
    model: str | None = None,
    method: str | None = None,
    favor: str | None = None,
) -> dict[str, Any]:
    """Clean a record and return a row. Errors are in the row, and nothing is raised.

    A record has `html` (bytes or text) and may have `url`, `content_type` and `name`; the row has among others `text`,
    `title`, `status` (kept, empty, skipped, failed), `kind` and `reason`. The model is loaded once per process.

    >>> row = clean_record({"url": "http://tea.example/", "html": "<p>Tea is made by pouring hot water over the cured "
    ...                     "leaves of the tea bush, and it is drunk all over the world.</p>"})
    >>> row["status"], row["url"], row["text"][:11]
    ('kept', 'http://tea.example/', 'Tea is made')
    >>> clean_record({"url": "http://tea.example/"})["reason"]
    "the record has no 'html'"
    """
    page = record if isinstance(record, Record) else as_record(record)
    cleaner = Method(method, model=model, favor=favor).load()
    output = find_output(format)
    cleaned = outcome.clean_record(page, cleaner, output, most_bytes=MOST_BYTES)
    return outcome.row(page, cleaned, output.columns)


def as_record(fields: Mapping[str, Any]) -> Record:
    """Make a record from named fields."""
    page, url = fields.get("html"), str(fields.get("url") or "")
    name = str(fields.get("name") or url)
    origin = Origin(str(fields.get("source") or ""), int(fields.get("position") or 0))
    if isinstance(page, (bytearray, memoryview)):
        page = bytes(page)
    if not isinstance(page, (bytes, str)):
        return Record(name, Path(name), url=url, origin=origin, problem=Problem(Kind.READ, "the record has no 'html'"))
    content_type = str(fields.get("content_type") or "")
    return Record(name, Path(name), payload=page, url=url, content_type=content_type, origin=origin)
