"""Cleaned HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

from victorpy.document import Document, Label
from victorpy.outputs.base import CleanPage, Segment, heading_level, output
from victorpy.outputs.inline import Run, code_language, runs
from victorpy.outputs.outline import Places, count_shared, outline
from victorpy.outputs.tables import Cell, Part, Table, parts, without_controls

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
    previous: Places = ()
    for part, places in outline(flow, document, within):
        _move(lines, previous, places)
        begins_item = len(places) > count_shared(previous, places) and not places[-1].is_quote
        if isinstance(part, Table):
            rows = [f"<tr>{''.join(_cell(cell, document) for cell in row)}</tr>" for row in part.rows]
            if part.has_header:
                rows[0] = f"<thead>\n{rows[0]}\n</thead>"
            lines += ["<table>", *rows, "</table>"]
        elif begins_item and not part.preformatted:
            lines[-1] += _inline(part, document)
        else:
            lines.append(_segment(part, document))
        previous = places
    _move(lines, previous, ())
    return lines


def _move(lines: list[str], previous: Places, places: Places) -> None:
    """Close the quotations and items that end, and open those that begin."""
    shared = count_shared(previous, places)
    sibling = None  # the previous item of the same list
    if shared < min(len(previous), len(places)):
        one, other = previous[shared], places[shared]
        if not one.is_quote and not other.is_quote and one.list == other.list:
            sibling = one
    for level in range(len(previous) - 1, shared - 1, -1):
        place = previous[level]
        if place.is_quote:
            lines.append("</blockquote>")
            continue
        if lines[-1].startswith("<li"):
            lines[-1] += "</li>"
        else:
            lines.append("</li>")
        if level > shared or not sibling:
            lines.append("</ul>" if place.number is None else "</ol>")
    for place in places[shared:]:
        if place.is_quote:
            lines.append("<blockquote>")
        else:
            if not sibling:
                lines.append("<ul>" if place.number is None else "<ol>")
            expected_number = (sibling.number or 0) + 1 if sibling else 1
            has_gap = place.number not in {None, expected_number}  # items were dropped before it
            lines.append(f'<li value="{place.number}">' if has_gap else "<li>")
        sibling = None


def _segment(segment: Segment, document: Document) -> str:
    if not segment.preformatted:
        tag = f"h{heading_level(segment)}" if segment.label is Label.HEADER else "p"
        return f"<{tag}>{_inline(segment, document)}</{tag}>"
    segment_runs = runs(segment, document)
    text = _links(run._replace(styles=run.styles - {"code"}) for run in segment_runs)
    language = code_language(segment, document)
    if language:
        return f'<pre><code class="language-{language}">{text}</code></pre>'
    is_code = any("code" in run.styles for run in segment_runs)
    return f"<pre><code>{text}</code></pre>" if is_code else f"<pre>{text}</pre>"


def _inline(segment: Segment, document: Document) -> str:
    return _links(runs(segment, document)).strip().replace("\n", "<br>\n")


def _links(all_runs: Iterable[Run]) -> str:
    """Write runs, those of the same link together."""
    written = []
    for _, group in groupby(all_runs, attrgetter("link")):
        linked = [*group]
        text = "".join(map(_run, linked))
        href = linked[0].href
        written.append(f'<a href="{html.escape(href)}">{text}</a>' if href else text)
    return "".join(written)


def _run(run: Run) -> str:
    text = html.escape(run.text, quote=False)
    for style in sorted(run.styles):
        text = f"<{_TAGS[style]}>{text}</{_TAGS[style]}>"
    return text


def _cell(cell: Cell, document: Document) -> str:
    tag = "th" if cell.is_heading else "td"
    is_plain = len(cell.segments) == 1 and not cell.segments[0].preformatted
    lines = [_inline(cell.segments[0], document)] if is_plain else _flow(cell.segments, document, cell.element)
    return f"<{tag}>{chr(10).join(lines)}</{tag}>"
