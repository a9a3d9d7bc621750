"""Everything countable of a page's blocks, as arrays with an entry a block, counted when first asked for."""

from victorpy.columns.text import Column, Counts, Flags, Floats
from victorpy.columns.tokens import TokenColumns


class Columns(TokenColumns):
    """The arrays of one page, of its texts, its elements and their tokens."""

    evidence: Floats | None = None
    """The log-odds of each block to be content, where a stage before the CRF has found them."""


__all__ = ["Column", "Columns", "Counts", "Flags", "Floats"]
