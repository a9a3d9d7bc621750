"""A model at a site: what it finds on a page, drawn to what it believes of the same places on the site's pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from victorpy.columns import Columns, Floats
from victorpy.document import Document, Label
from victorpy.evidence import block_weights
from victorpy.sites.beliefs import Beliefs
from victorpy.sites.statistics import SiteStatistics
from victorpy.sites.style_tree import page_fingerprint

MOST_PAGES = 50
"""Of so many pages of a site, and of all with labels, it is kept in mind what the model thinks of them."""

Known = tuple[Document, Sequence[str] | None]
"""A page of the site, and its labels where they are known."""


def believe(known: Sequence[Known], site: SiteStatistics, columns_of: Callable[[Document], Columns]) -> Beliefs:
    """What a model thinks of the places of a site, and what labelled pages tell of them."""
    beliefs = Beliefs()
    pages = [(_Found(document, columns_of(document), site), labels) for document, labels in known]
    for page, _ in pages:
        beliefs.think(page.name, page.places, page.log_odds, page.weight)
    for page, labels in pages:
        if labels is not None:
            content = np.array([Label(label).is_content for label in labels], dtype=bool)
            beliefs.tell(page.places, content, page.smoothed(beliefs), page.weight)
    return beliefs


def adjusted(document: Document, page: Columns, site: SiteStatistics, beliefs: Beliefs) -> Floats:
    """The log-odds of a page's blocks, with what is believed of the site's places."""
    found = _Found(document, page, site)
    return beliefs.corrected(found.places, found.smoothed(beliefs))


class _Found:
    """What the trees found on a page, place by place of its site."""

    def __init__(self, document: Document, page: Columns, site: SiteStatistics) -> None:
        assert page.evidence is not None
        self.name = page_fingerprint(document)
        self.places = site.places(document)
        self.log_odds = page.evidence
        self.weight = block_weights(page)

    def smoothed(self, beliefs: Beliefs) -> Floats:
        return beliefs.smoothed(self.name, self.places, self.log_odds, self.weight)
