"""Plain text."""

from __future__ import annotations

from victorpy.document import CleanPage, Label
from victorpy.outputs.base import output
from victorpy.outputs.tables import parts


@output("text", ".txt")
def render_text(page: CleanPage) -> str:
    """Plain text: a blank line between segments, list items and rows of tables on lines of their own."""
    written: list[str] = []
    before = None
    for part in parts(page):
        label = part.label
        if before is not None:
            written.append("\n" if before is label is Label.LIST else "\n\n")
        written.append(part.text)
        before = label
    return "".join([*written, "\n"]) if written else ""
