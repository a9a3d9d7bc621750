"""The HTML output format."""

from __future__ import annotations

import html
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

from victorpy.document import Label
from victorpy.outputs.base import CleanPage, Segment, output
from victorpy.outputs.images import Image
from victorpy.outputs.structure import Part, Places, Run, Structure, count_shared
from victorpy.outputs.tables import Cell, Table, without_controls

_TAGS = {"bold": "strong", "italic": "em", "code": "code", "strike": "del", "sub": "sub", "sup": "sup"}


@output("html", ".html")
def render_html(page: CleanPage) -> str:
    """HTML: a complete page with headings, paragraphs, lists, tables, links and emphasis."""
    title = html.escape(without_controls(page.document.title))
    head = f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n</head>\n<body>\n'
    lines = _flow(Structure.of(page))
    return head + "".join(line + "\n" for line in lines) + "</body>\n</html>\n"


def _flow(structure: Structure, flow: Iterable[Part] | None = None, within: int = -1) -> list[str]:
    """Write parts inside their quotations and lists."""
    lines: list[str] = []
    previous: Places = ()
    for part, places in structure.outline(flow, within):
        _move(lines, previous, places)
        starts_item = len(places) > count_shared(previous, places) and places[-1].is_item
        if isinstance(part, Table):
            rows = [f"<tr>{''.join(_cell(cell, structure) for cell in row)}</tr>" for row in part.rows]
            if part.has_header:
                rows[0] = f"<thead>\n{rows[0]}\n</thead>"
            lines += ["<table>", *rows, "</table>"]
        elif isinstance(part, Image):
            lines.append(_image(part, structure))
        elif part.preformatted:
            part_runs = structure.runs(part)
            text = _links(run._replace(styles=run.styles - {"code"}) for run in part_runs)
            language = structure.code_language(part)
            if language:
                text = f'<code class="language-{language}">{text}</code>'
            elif any("code" in run.styles for run in part_runs):
                text = f"<code>{text}</code>"
            lines.append(f"<pre>{text}</pre>")
        elif starts_item and part.label is not Label.HEADER:
            lines[-1] += _inline(part, structure)
        else:
            tag = f"h{part.heading_level}" if part.label is Label.HEADER else "p"
            lines.append(f"<{tag}>{_inline(part, structure)}</{tag}>")
        previous = places
    _move(lines, previous, ())
    return lines


def _move(lines: list[str], previous: Places, places: Places) -> None:
    """Close the quotations and items of the previous part, and open those of the next part."""
    shared = count_shared(previous, places)
    sibling = None  # the previous item of the same list
    if shared < min(len(previous), len(places)):
        old, new = previous[shared], places[shared]
        if old.is_item and new.is_item and old.list == new.list:
            sibling = old
    for level in range(len(previous) - 1, shared - 1, -1):
        place = previous[level]
        if not place.is_item:
            lines.append("</blockquote>" if place.kind == "quote" else "</aside>")
            continue
        if lines[-1].startswith("<li"):
            lines[-1] += "</li>"
        else:
            lines.append("</li>")
        if level > shared or not sibling:
            lines.append("</ul>" if place.number is None else "</ol>")
    for place in places[shared:]:
        if place.kind == "quote":
            lines.append(f'<blockquote class="{place.mark.lower()}">' if place.mark else "<blockquote>")
        elif place.kind == "note":
            lines.append(f'<aside id="fn{place.mark}" role="doc-footnote">')
        else:
            if not sibling:
                lines.append("<ul>" if place.number is None else "<ol>")
            expected_number = (sibling.number or 0) + 1 if sibling else 1
            has_gap = place.number not in {None, expected_number}  # previous items were dropped
            item = f'<li value="{place.number}">' if has_gap else "<li>"
            checked = ' checked=""' if place.mark == "x" else ""
            lines.append(f'{item}<input type="checkbox" disabled=""{checked} /> ' if place.mark else item)
        sibling = None


def _inline(segment: Segment, structure: Structure) -> str:
    return _links(structure.runs(segment)).strip().replace("\n", "<br>\n")


def _links(all_runs: Iterable[Run]) -> str:
    """Write runs with their styles and links."""
    written = []
    for _, group in groupby(all_runs, attrgetter("link")):
        text = href = ""
        for run in group:
            run_text = html.escape(run.text, quote=False)
            if run.note:
                run_text = f'<sup><a href="#fn{run.note}" role="doc-noteref">{run_text}</a></sup>'
            for style in sorted(run.styles):
                run_text = f"<{_TAGS[style]}>{run_text}</{_TAGS[style]}>"
            text += run_text
            href = run.href
        written.append(f'<a href="{html.escape(href)}">{text}</a>' if href else text)
    return "".join(written)


def _image(image: Image, structure: Structure) -> str:
    address, alt = html.escape(image.address), html.escape(image.alt)
    written = f'<a href="{address}">{alt}</a>' if image.is_embedded else f'<img src="{address}" alt="{alt}" />'
    if image.link and not image.is_embedded:
        written = f'<a href="{html.escape(image.link)}">{written}</a>'
    if not image.caption:
        return f"<p>{written}</p>"
    caption = "<br>\n".join(_inline(segment, structure) for segment in image.caption)
    return f"<figure>\n{written}\n<figcaption>{caption}</figcaption>\n</figure>"


def _cell(cell: Cell, structure: Structure) -> str:
    tag = "th" if cell.is_heading else "td"
    is_plain = len(cell.segments) == 1 and not cell.segments[0].preformatted
    lines = [_inline(cell.segments[0], structure)] if is_plain else _flow(structure, cell.segments, cell.element)
    spans = (f' colspan="{cell.width}"' if cell.width > 1 else "") + (
        f' rowspan="{cell.height}"' if cell.height > 1 else ""
    )
    return f"<{tag}{spans}>{chr(10).join(lines)}</{tag}>"
