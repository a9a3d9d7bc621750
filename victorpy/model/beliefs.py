"""What a model believes of the places of a site, over its pages, and how a few labelled pages correct that.

A site puts the same thing at the same place of its template. So a block's log-odds are drawn to what the model thinks
of its place on the other pages of the site: what is doubtful on one page is clear on many. Whether the annotators of a
site want captions or bylines, for example, no other site can tell. So at each place the words of content and of noise
on labelled pages are counted, and the model's expectation counts as a few words more. A place with few labelled words
moves little, one with many goes where the labels are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from victorpy.columns import Columns, Flags, Floats
from victorpy.document import Document, Label
from victorpy.model.evidence.cut import block_weights, probabilities
from victorpy.model.evidence.stage import Findings
from victorpy.sites.importance import Place
from victorpy.sites.statistics import SiteStatistics
from victorpy.sites.style_tree import page_fingerprint

SHARE = 0.5
"""The weight of the other pages' log-odds, if there are many ..."""

OWN_PAGES = 2
"""... and how many pages the block's own page counts as."""

PRIOR_WORDS = 10.0
"""How many labelled words the model's expectation of a place counts as."""

FARTHEST = 4.0
"""The most that labels move log-odds."""

MOST_PAGES = 50
"""How many pages without labels the beliefs of a site rest on."""

_SUREST = 0.995
"""No place is more certain than this."""

SitePage = tuple[Document, Sequence[str] | None]
"""A page of the site, and its labels if they are known."""

Judge = Callable[[Document], tuple[Columns, Findings | None]]
"""Runs the trees of a model on a page, if it has any."""


class Beliefs:
    """Sums over the pages of a site, by place. Pages are identified by their fingerprints."""

    def __init__(self) -> None:
        self._expected: dict[Place, Floats] = {}
        """For each place the words of content that the model expects, all words, and the pages."""
        self._pages: set[str] = set()
        self._labelled: dict[Place, Floats] = {}
        """For each place the words of content by labels, all words, and the words of content that were expected."""

    def think(self, page: str, places: Sequence[Place], log_odds: Floats, weight: Floats) -> None:
        """Add the model's log-odds for the blocks of a page."""
        if page not in self._pages:
            self._pages.add(page)
            for place, sums in _expected_words(places, log_odds, weight).items():
                self._expected[place] = self._expected.get(place, 0.0) + sums

    def tell(self, places: Sequence[Place], content: Flags, log_odds: Floats, weight: Floats) -> None:
        """Add a page with labels; its log-odds must come from `smoothed`."""
        counts = np.stack([weight * content, weight, weight * probabilities(log_odds)], axis=1)
        for place, row in zip(places, counts, strict=True):
            self._labelled[place] = self._labelled.get(place, 0.0) + row

    def smoothed(self, page: str, places: Sequence[Place], log_odds: Floats, weight: Floats) -> Floats:
        """Draw a page's log-odds to those of the same places on other pages."""
        own = _expected_words(places, log_odds, weight) if page in self._pages else {}
        pulls: dict[Place, tuple[float, float]] = {}
        """For each place, how strongly log-odds are pulled, and towards which value."""
        for place in set(places):
            expected, words, pages = self._expected.get(place, np.zeros(3)) - own.get(place, 0.0)
            if pages < 1 or words <= 0:
                pulls[place] = 0.0, 0.0
            else:
                pulls[place] = SHARE * pages / (pages + OWN_PAGES), _log_odds(expected / words)
        shares, others = np.array([pulls[place] for place in places], dtype=np.float64).reshape(-1, 2).T
        return (1 - shares) * log_odds + shares * others

    def corrected(self, places: Sequence[Place], log_odds: Floats) -> Floats:
        """Move a page's log-odds by what labels say of its places; places without labels stay."""
        return log_odds + np.array([self._shift(place) for place in places], dtype=np.float64)

    def _shift(self, place: Place) -> float:
        if place not in self._labelled:
            return 0.0
        content, words, expected = self._labelled[place]
        prior = min(max(expected / words, 1 - _SUREST), _SUREST)
        posterior = (content + PRIOR_WORDS * prior) / (words + PRIOR_WORDS)
        return float(np.clip(_log_odds(posterior) - _log_odds(prior), -FARTHEST, FARTHEST))


def _expected_words(places: Sequence[Place], log_odds: Floats, weight: Floats) -> dict[Place, Floats]:
    """For each place of a page sum up the words of content that are expected and all words, and count one page."""
    sums: dict[Place, Floats] = {}
    for place, row in zip(places, np.stack([weight * probabilities(log_odds), weight], axis=1), strict=True):
        sums[place] = sums.get(place, 0.0) + row
    return {place: np.append(row, 1.0) for place, row in sums.items()}


def _log_odds(probability: float) -> float:
    probability = min(max(probability, 1 - _SUREST), _SUREST)
    return float(np.log(probability / (1 - probability)))


class SitePages:
    """The pages that the beliefs of a site rest on. Which ones does not depend on their order."""

    def __init__(self) -> None:
        self._labelled: list[SitePage] = []
        self._others: dict[str, Document] = {}

    def add(self, document: Document, labels: Sequence[str] | None) -> None:
        """Add a page. Of those without labels, the ones with the lowest fingerprints stay."""
        if labels is not None:
            self._labelled.append((document, labels))
            return
        self._others[page_fingerprint(document)] = document
        if len(self._others) > MOST_PAGES:
            del self._others[max(self._others)]

    @property
    def all(self) -> list[SitePage]:
        """All pages, those with labels first."""
        return [*self._labelled, *((self._others[name], None) for name in sorted(self._others))]


def believe(pages: Sequence[SitePage], site: SiteStatistics, judge: Judge) -> Beliefs:
    """Sum up what a model thinks of the places of a site, and what the labelled pages say of them."""
    beliefs = Beliefs()
    judged = []
    for document, labels in pages:
        columns, findings = judge(document)
        if findings is not None:  # the model has trees
            judged.append((_JudgedPage(columns, findings, site), labels))
    for page, _ in judged:
        beliefs.think(page.name, page.places, page.log_odds, page.weight)
    for page, labels in judged:
        if labels is not None:
            content = np.array([Label(label).is_content for label in labels], dtype=bool)
            beliefs.tell(page.places, content, page.smoothed(beliefs), page.weight)
    return beliefs


def adjust(findings: Findings, page: Columns, site: SiteStatistics, beliefs: Beliefs) -> Findings:
    """Move the log-odds of a page's blocks to what is believed of their places."""
    judged = _JudgedPage(page, findings, site)
    block_log_odds = findings.block_log_odds
    if block_log_odds is not None:
        block_log_odds = beliefs.corrected(judged.places, block_log_odds)
    log_odds = beliefs.corrected(judged.places, judged.smoothed(beliefs))
    return replace(findings, log_odds=log_odds, block_log_odds=block_log_odds)


class _JudgedPage:
    """The log-odds that the trees gave the blocks of a page, with the blocks' places at the site."""

    def __init__(self, page: Columns, findings: Findings, site: SiteStatistics) -> None:
        self.name, self.places = site.locate(page.document)
        self.log_odds = findings.log_odds
        self.weight = block_weights(page)

    def smoothed(self, beliefs: Beliefs) -> Floats:
        return beliefs.smoothed(self.name, self.places, self.log_odds, self.weight)
