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


class Remembered:
    """The pages of a site that are kept in mind: which ones does not depend on the order that they come in."""

    def __init__(self) -> None:
        self._labelled: list[Known] = []
        self._others: dict[str, Document] = {}

    def add(self, document: Document, labels: Sequence[str] | None) -> None:
        """Take note of a page; of those without labels the ones whose fingerprints come first stay."""
        if labels is not None:
            self._labelled.append((document, labels))
            return
        self._others[page_fingerprint(document)] = document
        if len(self._others) > MOST_PAGES:
            del self._others[max(self._others)]

    @property
    def pages(self) -> list[Known]:
        """The pages, those with labels first."""
        return [*self._labelled, *((self._others[name], None) for name in sorted(self._others))]


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


def adjust(page: Columns, document: Document, site: SiteStatistics, beliefs: Beliefs) -> None:
    """Move the log-odds of a page's blocks to what is believed of the site's places."""
    found = _Found(document, page, site)
    page.evidence = beliefs.corrected(found.places, found.smoothed(beliefs))
    if page.block_evidence is not None:
        page.block_evidence = beliefs.corrected(found.places, page.block_evidence)


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
