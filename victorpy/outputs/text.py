"""Formats without markup: plain text, CleanEval and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from itertools import repeat
from typing import Any

from victorpy import native
from victorpy.document import Label, paths_and_loss
from victorpy.outputs.base import (
    LINK_SIGNS,
    CleanPage,
    facts,
    json_items,
    output,
    page_fields,
    segments,
)
from victorpy.outputs.offsets import find_offsets
from victorpy.outputs.tables import INVISIBLE, TidyBlocks, find_tables, parts, tidy_text

_native = native.load("text")
_SIGNS = "".join(LINK_SIGNS) + "[]"

_CLEANEVAL_TAGS = {Label.HEADER: "<h>", Label.PARAGRAPH: "<p>", Label.LIST: "<l>"}


@output("text", ".txt", joins=True, is_titled=True)
def render_text(page: CleanPage) -> str:
    """Plain text: a blank line between segments, one line per list item or table row."""
    if _native and page.document.arrays and not page.spans:
        text = _native_text(page)
        if text is not None:
            return f"{text}\n" if text else ""
    written: list[str] = []
    previous = None
    for part in parts(page, marks=True):
        if previous is not None:
            written.append("\n" if previous is part.label is Label.LIST else "\n\n")
        written.append(part.text)
        previous = part.label
    return "".join([*written, "\n"]) if written else ""


def _native_text(page: CleanPage) -> str | None:
    """Write a page's segments with the native core. Returns None if that is not possible."""
    count = len(page.labels)
    write = partial(_native.plain_text, page.document.arrays, page.labels, partial(tidy_text, page), _SIGNS, INVISIBLE)
    text: str | None = write(0, count, False)
    if text is not None or not page.document.has_tag("table"):
        return text
    kept = TidyBlocks(page, marks=True)
    written: list[str] = []
    done = 0
    for table, first, stop in find_tables(kept):
        written += [write(done, kept.numbers[first], True), table.text]
        done = kept.numbers[stop - 1] + 1
    return "\n\n".join(filter(None, [*written, write(done, count, True)]))


@output("cleaneval", ".txt")
def render_cleaneval(page: CleanPage) -> str:
    """CleanEval: a URL line, then segments that begin with <p>, <h> or <l>."""
    lines = [f"URL: {facts(page, ['url'])['url']}", ""]
    for segment in segments(page):
        lines += [f"{_CLEANEVAL_TAGS[segment.label]} {' '.join(segment.text.split())}", ""]
    return "\n".join(lines)


@output("jsonl", ".jsonl", joins=True, wants_facts=True, writes_roles=True, changes={"wants_layout": True})
def render_jsonl(page: CleanPage, offsets: bool = False) -> str:
    """One JSON object per page: url, title, author, date, text, confidence, and all blocks with label and path."""
    document = page.document
    probabilities = page.probabilities or (None,) * len(page.labels)
    all_spans = page.spans or (None,) * len(page.labels)
    roles = page.roles or (None,) * len(page.labels)
    places: Iterable[dict[str, Any]] = repeat({}, len(page.labels))
    if offsets and page.layout:
        images = {*document.elements.with_tag("img")}  # the positions of ``alt`` texts are unknown
        in_source = [
            None if element in images else text
            for element, text in zip(document.block_elements, document.texts, strict=True)
        ]
        places = ({"offsets": place} for place in find_offsets(page.layout.source, in_source))
    elif offsets:
        places = repeat({"offsets": None}, len(page.labels))
    paths, loss = paths_and_loss(document)
    rows = zip(page.labels, roles, probabilities, paths, places, document.texts, all_spans, strict=True)
    blocks = (
        {
            "label": label,
            **({} if role is None else {"role": role}),
            "probability": probability,
            "path": path,
            **place,
            "text": text,
            **({} if spans is None else {"kept": spans}),
        }
        for label, role, probability, path, place, text, spans in rows
    )
    record = page_fields(page, {"text": render_text(page)})
    losses = _json([*document.losses, *filter(None, [loss])])
    return "".join([_json(record)[:-1], ', "blocks": [', *json_items(blocks), f'], "losses": {losses}}}\n'])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
