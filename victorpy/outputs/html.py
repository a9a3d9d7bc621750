"""Cleaned HTML."""

from __future__ import annotations

import html

from victorpy.document import CleanPage, Document, Label
from victorpy.outputs.base import Segment, heading_level, output, segments
from victorpy.outputs.inline import Run, runs

_TAGS = {"bold": "strong", "italic": "em", "code": "code"}


@output("html", ".html")
def render_html(page: CleanPage) -> str:
    """HTML: a whole page that holds the content alone, with headings, lists, links and emphasis."""
    title = html.escape(page.document.title)
    head = f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n</head>\n<body>\n'
    lines = []
    in_list = False
    for segment in segments(page):
        is_item = segment.label is Label.LIST
        if is_item != in_list:
            lines.append("<ul>" if is_item else "</ul>")
        in_list = is_item
        lines.append(_segment(segment, page.document))
    if in_list:
        lines.append("</ul>")
    return head + "".join(line + "\n" for line in lines) + "</body>\n</html>\n"


def _segment(segment: Segment, document: Document) -> str:
    text = "".join(_run(run) for run in runs(segment, document))
    if segment.preformatted:
        return f"<pre>{text}</pre>"
    tag = {Label.HEADER: f"h{heading_level(segment)}", Label.LIST: "li"}.get(segment.label, "p")
    return f"<{tag}>{text.strip()}</{tag}>"


def _run(run: Run) -> str:
    text = html.escape(run.text, quote=False)
    for style in sorted(run.styles):
        text = f"<{_TAGS[style]}>{text}</{_TAGS[style]}>"
    return f'<a href="{html.escape(run.href)}">{text}</a>' if run.href else text
