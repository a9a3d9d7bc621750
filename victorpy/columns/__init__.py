"""Everything countable of a page's blocks, as arrays with an entry a block, counted when first asked for."""

from victorpy.columns.elements import ElementColumns
from victorpy.columns.text import Column, Counts, Flags, Floats


class Columns(ElementColumns):
    """The arrays of one page, of its texts and of its elements."""


__all__ = ["Column", "Columns", "Counts", "Flags", "Floats"]
