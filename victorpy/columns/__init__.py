"""Everything countable of a page's blocks, as arrays with an entry a block, counted when first asked for."""

from dataclasses import dataclass

from victorpy.columns.text import Column, Counts, Flags, Floats
from victorpy.columns.tokens import TokenColumns


@dataclass(frozen=True, slots=True)
class SiteColumns:
    """What the site of a page repeats, where several of its pages were seen: an entry a block."""

    pages: int
    """How many pages were seen."""
    importance: Floats
    entropy: Floats
    text_share: Floats
    place_share: Floats


class Columns(TokenColumns):
    """The arrays of one page, of its texts, its elements and their tokens."""

    evidence: Floats | None = None
    """The log-odds of each block to be content, where a stage before the CRF has found them."""
    site: SiteColumns | None = None
    """What the page's site repeats, where other pages of it were seen."""


__all__ = ["Column", "Columns", "Counts", "Flags", "Floats", "SiteColumns"]
