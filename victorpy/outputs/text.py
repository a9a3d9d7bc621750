"""Plain text."""

from __future__ import annotations

from victorpy.document import CleanPage, Label
from victorpy.outputs.base import Segment, output
from victorpy.outputs.tables import Part, Table, parts


@output("text", ".txt")
def render_text(page: CleanPage) -> str:
    """Plain text: a blank line between segments, list items and rows of tables on lines of their own."""
    written: list[str] = []
    before: Part | None = None
    for part in parts(page):
        if before is not None:
            written.append("\n" if _is_item(before) and _is_item(part) else "\n\n")
        written.append(_rows(part) if isinstance(part, Table) else part.text)
        before = part
    return "".join([*written, "\n"]) if written else ""


def _rows(table: Table) -> str:
    """A row a line with tabs between its cells: no sign that is not on the page, and the columns can be had back."""
    return "\n".join("\t".join(cell.text for cell in row).rstrip("\t") for row in table.rows)


def _is_item(part: Part) -> bool:
    return isinstance(part, Segment) and part.label is Label.LIST
