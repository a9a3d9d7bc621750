"""Plain text."""

from __future__ import annotations

from victorpy.document import CleanPage
from victorpy.outputs.base import join, output


@output("text", ".txt")
def render_text(page: CleanPage) -> str:
    """Plain text: a blank line between segments, list items on lines of their own."""
    return join(page, lambda segment: segment.text)
