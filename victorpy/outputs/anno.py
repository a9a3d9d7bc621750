"""Victor's annotation format."""

from __future__ import annotations

from victorpy.anno import write_anno
from victorpy.document import CleanPage
from victorpy.outputs.base import output


@output("anno", ".anno", wants_features=True)
def render_anno(page: CleanPage) -> str:
    """Victor's annotation: a block a line with label, probability, tags, text and features."""
    return write_anno(page)
