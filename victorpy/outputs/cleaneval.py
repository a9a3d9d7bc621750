"""The format of the CleanEval shared task."""

from __future__ import annotations

from victorpy.document import CleanPage, Label
from victorpy.outputs.base import output, segments

_TAGS = {Label.HEADER: "<h>", Label.PARAGRAPH: "<p>", Label.LIST: "<l>"}


@output("cleaneval", ".txt")
def render_cleaneval(page: CleanPage) -> str:
    """CleanEval: a URL line, then segments that begin with <p>, <h> or <l>."""
    lines = [f"URL: {page.document.url}", ""]
    for segment in segments(page):
        lines += [f"{_TAGS[segment.label]} {' '.join(segment.text.split())}", ""]
    return "\n".join(lines)
