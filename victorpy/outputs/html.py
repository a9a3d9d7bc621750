"""Cleaned HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from victorpy.document import CleanPage, Document, Label
from victorpy.outputs.base import Segment, heading_level, output
from victorpy.outputs.inline import Run, code_language, runs
from victorpy.outputs.outline import Place, Places, count_shared, outline
from victorpy.outputs.readable import without_controls
from victorpy.outputs.tables import Cell, Part, Table, parts

_TAGS = {"bold": "strong", "italic": "em", "code": "code"}


@output("html", ".html")
def render_html(page: CleanPage) -> str:
    """HTML: a whole page that holds the content alone, with headings, lists, tables, links and emphasis."""
    title = html.escape(without_controls(page.document.title))
    head = f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n</head>\n<body>\n'
    lines = _flow(parts(page), page.document)
    return head + "".join(line + "\n" for line in lines) + "</body>\n</html>\n"


def _flow(flow: Iterable[Part], document: Document, within: int = -1) -> list[str]:
    """Write parts one after the other, each in its quotations and lists."""
    lines: list[str] = []
    before: Places = ()
    for part, places in outline(flow, document, within):
        _move(lines, before, places, document)
        begins_item = len(places) > count_shared(before, places) and not places[-1].is_quote
        if isinstance(part, Table):
            lines += _table(part, document)
        elif begins_item and not part.preformatted:
            lines[-1] += _inline(part, document)
        else:
            lines.append(_segment(part, document))
        before = places
    _move(lines, before, (), document)
    return lines


def _move(lines: list[str], before: Places, places: Places, document: Document) -> None:
    """Close the quotations and items that end, and open those that begin."""
    same = count_shared(before, places)
    goes_on = same < min(len(before), len(places)) and _share_list(before[same], places[same])
    for level in range(len(before) - 1, same - 1, -1):
        place = before[level]
        if place.is_quote:
            lines.append("</blockquote>")
            continue
        if lines[-1].startswith("<li"):
            lines[-1] += "</li>"
        else:
            lines.append("</li>")
        if level > same or not goes_on:
            lines.append(f"</{_list_tag(place)}>")
    for level in range(same, len(places)):
        place = places[level]
        if place.is_quote:
            lines.append("<blockquote>")
            continue
        previous = before[same] if level == same and goes_on else None
        if previous is None:
            lines.append(f"<{_list_tag(place)}>")
        lines.append(_item(place, previous))


def _share_list(before: Place, place: Place) -> bool:
    return not before.is_quote and not place.is_quote and before.list == place.list


def _list_tag(place: Place) -> str:
    return "ul" if place.number is None else "ol"


def _item(place: Place, previous: Place | None) -> str:
    """Open an item; where items were dropped before it, it says its number."""
    follows = (previous.number or 0) + 1 if previous else 1
    return "<li>" if place.number in {None, follows} else f'<li value="{place.number}">'


def _segment(segment: Segment, document: Document) -> str:
    if segment.preformatted:
        return _listing(segment, document)
    tag = f"h{heading_level(segment)}" if segment.label is Label.HEADER else "p"
    return f"<{tag}>{_inline(segment, document)}</{tag}>"


def _listing(segment: Segment, document: Document) -> str:
    language = code_language(segment, document)
    found = runs(segment, document)
    text = _links(run._replace(styles=run.styles - {"code"}) for run in found)
    if language:
        return f'<pre><code class="language-{language}">{text}</code></pre>'
    return f"<pre><code>{text}</code></pre>" if any("code" in run.styles for run in found) else f"<pre>{text}</pre>"


def _inline(segment: Segment, document: Document) -> str:
    return _links(runs(segment, document)).strip().replace("\n", "<br>\n")


def _links(found: Iterable[Run]) -> str:
    return "".join(_link([*linked]) for _, linked in groupby(found, attrgetter("link")))


def _link(linked: Sequence[Run]) -> str:
    """Write runs of the same link, or of none."""
    text = "".join(map(_run, linked))
    href = linked[0].href
    return f'<a href="{html.escape(href)}">{text}</a>' if href else text


def _run(run: Run) -> str:
    text = html.escape(run.text, quote=False)
    for style in sorted(run.styles):
        text = f"<{_TAGS[style]}>{text}</{_TAGS[style]}>"
    return text


def _table(table: Table, document: Document) -> list[str]:
    rows = [f"<tr>{''.join(_cell(cell, document) for cell in row)}</tr>" for row in table.rows]
    if table.has_header:
        rows[0] = f"<thead>\n{rows[0]}\n</thead>"
    return ["<table>", *rows, "</table>"]


def _cell(cell: Cell, document: Document) -> str:
    tag = "th" if cell.is_heading else "td"
    is_plain = len(cell.segments) == 1 and not cell.segments[0].preformatted
    flow = [_inline(cell.segments[0], document)] if is_plain else _flow(cell.segments, document, cell.element)
    return f"<{tag}>{chr(10).join(flow)}</{tag}>"
