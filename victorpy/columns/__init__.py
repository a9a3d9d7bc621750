"""Everything countable of a page's blocks, as arrays with an entry a block, counted when first asked for."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from victorpy.columns.lines import LineColumns
from victorpy.columns.text import Column, Counts, Flags, Floats
from victorpy.config import Config
from victorpy.document import Document


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

    def __init__(self, document: Document, config: Config, site: SiteColumns | None = None) -> None:
        super().__init__(document, config)
        self.site = site
        """What the page's site repeats, if other pages of it were seen."""
        self.evidence: Floats | None = None
        """The log-odds of each block to be content, if a stage before the CRF has found them."""

    def with_evidence(self, log_odds: Floats) -> Columns:
        """Return the same page, with everything that was counted so far, and with the log-odds of its blocks."""
        page = copy.copy(self)
        page.evidence = log_odds
        return page


__all__ = ["Column", "Columns", "Counts", "Flags", "Floats", "SiteColumns"]
