"""Plain text."""

from __future__ import annotations

from victorpy.document import CleanPage, Label
from victorpy.outputs.base import output, segments


@output("text", ".txt")
def render_text(page: CleanPage) -> str:
    """Plain text: a blank line between segments, list items on lines of their own."""
    text, before = "", None
    for segment in segments(page):
        if before is not None:
            text += "\n" if before is segment.label is Label.LIST else "\n\n"
        text += segment.text
        before = segment.label
    return text + "\n" if text else ""
