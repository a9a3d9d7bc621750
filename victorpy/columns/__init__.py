"""Everything countable of a page's blocks, as arrays with an entry a block, counted when first asked for."""

from dataclasses import dataclass

from victorpy.columns.lines import LineColumns
from victorpy.columns.text import Column, Counts, Flags, Floats


@dataclass(frozen=True, slots=True)
class SiteColumns:
    """What the site of a page repeats, where several of its pages were seen: an entry a block."""

    pages: int
    """How many pages were seen."""
    importance: Floats
    entropy: Floats
    text_share: Floats
    place_share: Floats


class Columns(LineColumns):
    """The arrays of one page, of its texts, its elements, their tokens and its lines."""

    evidence: Floats | None = None
    """The log-odds of each block to be content, where a stage before the CRF has found them."""
    kinds: Floats | None = None
    """How probable each kind of content is for each block, were it content, where trees have found that ..."""
    block_evidence: Floats | None = None
    """... and the log-odds of content by trees for which every block counts the same."""
    site: SiteColumns | None = None
    """What the page's site repeats, where other pages of it were seen."""


__all__ = ["Column", "Columns", "Counts", "Flags", "Floats", "SiteColumns"]
