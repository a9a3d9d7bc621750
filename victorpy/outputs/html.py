"""The HTML output format."""

from __future__ import annotations

import html
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

from victorpy.document import Document, Label
from victorpy.outputs.base import CleanPage, Segment, output
from victorpy.outputs.structure import Places, Run, code_language, count_shared, outline, runs
from victorpy.outputs.tables import Cell, Part, Table, parts, without_controls

_TAGS = {"bold": "strong", "italic": "em", "code": "code"}


@output("html", ".html")
def render_html(page: CleanPage) -> str:
    """HTML: a complete page with headings, paragraphs, lists, tables, links and emphasis."""
    title = html.escape(without_controls(page.document.title))
    head = f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n</head>\n<body>\n'
    lines = _flow(parts(page), page.document)
    return head + "".join(line + "\n" for line in lines) + "</body>\n</html>\n"


def _flow(flow: Iterable[Part], document: Document, within: int = -1) -> list[str]:
    """Write parts inside their quotations and lists."""
    lines: list[str] = []
    previous: Places = ()
    for part, places in outline(flow, document, within):
        _move(lines, previous, places)
        starts_item = len(places) > count_shared(previous, places) and not places[-1].is_quote
        if isinstance(part, Table):
            rows = [f"<tr>{''.join(_cell(cell, document) for cell in row)}</tr>" for row in part.rows]
            if part.has_header:
                rows[0] = f"<thead>\n{rows[0]}\n</thead>"
            lines += ["<table>", *rows, "</table>"]
        elif part.preformatted:
            part_runs = runs(part, document)
            text = _links(run._replace(styles=run.styles - {"code"}) for run in part_runs)
            language = code_language(part, document)
            if language:
                text = f'<code class="language-{language}">{text}</code>'
            elif any("code" in run.styles for run in part_runs):
                text = f"<code>{text}</code>"
            lines.append(f"<pre>{text}</pre>")
        elif starts_item:
            lines[-1] += _inline(part, document)
        else:
            tag = f"h{part.heading_level}" if part.label is Label.HEADER else "p"
            lines.append(f"<{tag}>{_inline(part, document)}</{tag}>")
        previous = places
    _move(lines, previous, ())
    return lines


def _move(lines: list[str], previous: Places, places: Places) -> None:
    """Close the quotations and items of the previous part, and open those of the next part."""
    shared = count_shared(previous, places)
    sibling = None  # the previous item of the same list
    if shared < min(len(previous), len(places)):
        old, new = previous[shared], places[shared]
        if not old.is_quote and not new.is_quote and old.list == new.list:
            sibling = old
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
            has_gap = place.number not in {None, expected_number}  # previous items were dropped
            lines.append(f'<li value="{place.number}">' if has_gap else "<li>")
        sibling = None


def _inline(segment: Segment, document: Document) -> str:
    return _links(runs(segment, document)).strip().replace("\n", "<br>\n")


def _links(all_runs: Iterable[Run]) -> str:
    """Write runs with their styles and links."""
    written = []
    for _, group in groupby(all_runs, attrgetter("link")):
        text = href = ""
        for run in group:
            run_text = html.escape(run.text, quote=False)
            for style in sorted(run.styles):
                run_text = f"<{_TAGS[style]}>{run_text}</{_TAGS[style]}>"
            text += run_text
            href = run.href
        written.append(f'<a href="{html.escape(href)}">{text}</a>' if href else text)
    return "".join(written)


def _cell(cell: Cell, document: Document) -> str:
    tag = "th" if cell.is_heading else "td"
    is_plain = len(cell.segments) == 1 and not cell.segments[0].preformatted
    lines = [_inline(cell.segments[0], document)] if is_plain else _flow(cell.segments, document, cell.element)
    return f"<{tag}>{chr(10).join(lines)}</{tag}>"
