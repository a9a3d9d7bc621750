"""Adjust a model's predictions to a site, given pages of the site and perhaps labels for some of them.

In the template of a site, the same place usually contains the same kind of text. So a block's log-odds are moved
towards the predictions for its place on other pages of the site: a decision that is uncertain on one page may be clear
on many. Labels correct the predictions, because annotators of different sites treat captions or bylines differently. At
each place, the words of content and of noise on labelled pages are counted, and the model's expectation counts as a few
more words. So a place with few labelled words changes little, and a place with many follows its labels.
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

SHARE = 0.8
"""Maximum weight of the log-odds on other pages, if there are many."""

OWN_PAGES = 2
"""Weight of the block's own page, as a number of pages."""

PRIOR_WORDS = 10.0
"""Weight of the model's expectation for a place, as a number of labelled words."""

FARTHEST = 4.0
"""Maximum change of log-odds because of labels."""

MOST_PAGES = 50
"""Maximum number of pages without labels that are used."""

_SUREST = 0.995  # maximum probability of a place

SitePage = tuple[Document, Sequence[str] | None]
"""A page of the site, and its labels if they are known."""

Judge = Callable[[Document], tuple[Columns, Findings | None]]
"""Runs the trees of a model, if it has any, on a page."""


class Beliefs:
    """Sums over the pages of a site for each place. Pages are identified by fingerprints."""

    def __init__(self) -> None:
        self._expected: dict[Place, Floats] = {}
        """Per place: expected content words, all words, and pages."""
        self._pages: set[str] = set()
        self._labelled: dict[Place, Floats] = {}
        """Per place: labelled content words, all words, and expected content words."""

    def think(self, page: str, places: Sequence[Place], log_odds: Floats, weight: Floats) -> None:
        """Add the model's log-odds for the blocks of a page."""
        if page not in self._pages:
            self._pages.add(page)
            for place, sums in _expected_words(places, log_odds, weight).items():
                self._expected[place] = self._expected.get(place, 0.0) + sums

    def tell(self, places: Sequence[Place], content: Flags, log_odds: Floats, weight: Floats) -> None:
        """Add a labelled page. Its log-odds must come from `smoothed`."""
        counts = np.stack([weight * content, weight, weight * probabilities(log_odds)], axis=1)
        for place, row in zip(places, counts, strict=True):
            self._labelled[place] = self._labelled.get(place, 0.0) + row

    def smoothed(self, page: str, places: Sequence[Place], log_odds: Floats, weight: Floats) -> Floats:
        """Move the log-odds of a page towards the log-odds at the same places on other pages."""
        own = _expected_words(places, log_odds, weight) if page in self._pages else {}
        pulls: dict[Place, tuple[float, float]] = {}  # the strength and the target of the move
        for place in set(places):
            expected, words, pages = self._expected.get(place, np.zeros(3)) - own.get(place, 0.0)
            if pages < 1 or words <= 0:
                pulls[place] = 0.0, 0.0
            else:
                pulls[place] = SHARE * pages / (pages + OWN_PAGES), _log_odds(expected / words)
        shares, others = np.array([pulls[place] for place in places], dtype=np.float64).reshape(-1, 2).T
        return (1 - shares) * log_odds + shares * others

    def corrected(self, places: Sequence[Place], log_odds: Floats) -> Floats:
        """Correct a page's log-odds at places with labels."""
        shifts = dict.fromkeys(places, 0.0)
        for place in self._labelled.keys() & shifts.keys():
            content, words, expected = self._labelled[place]
            prior = min(max(expected / words, 1 - _SUREST), _SUREST)
            posterior = (content + PRIOR_WORDS * prior) / (words + PRIOR_WORDS)
            shifts[place] = np.clip(_log_odds(posterior) - _log_odds(prior), -FARTHEST, FARTHEST)
        return log_odds + np.array([shifts[place] for place in places], dtype=np.float64)


def _expected_words(places: Sequence[Place], log_odds: Floats, weight: Floats) -> dict[Place, Floats]:
    """Return the expected content words, all words and the page count (1) of each place on a page."""
    sums: dict[Place, Floats] = {}
    for place, row in zip(places, np.stack([weight * probabilities(log_odds), weight], axis=1), strict=True):
        sums[place] = sums.get(place, 0.0) + row
    return {place: np.append(row, 1.0) for place, row in sums.items()}


def _log_odds(probability: float) -> float:
    probability = min(max(probability, 1 - _SUREST), _SUREST)
    return float(np.log(probability / (1 - probability)))


class SitePages:
    """Collects the pages that beliefs are computed from. The selection does not depend on the order of pages."""

    def __init__(self) -> None:
        self._labelled: list[SitePage] = []
        self._others: dict[str, Document] = {}

    def add(self, document: Document, labels: Sequence[str] | None) -> None:
        """Add a page. Among pages without labels, those with the lowest fingerprints are kept."""
        if labels is not None:
            self._labelled.append((document, labels))
            return
        self._others[page_fingerprint(document)] = document
        if len(self._others) > MOST_PAGES:
            del self._others[max(self._others)]

    @property
    def all(self) -> list[SitePage]:
        """All pages, starting with labelled pages."""
        return [*self._labelled, *((self._others[name], None) for name in sorted(self._others))]


def believe(pages: Sequence[SitePage], site: SiteStatistics, judge: Judge) -> Beliefs:
    """Sum the predictions and the labels for each place of a site."""
    beliefs = Beliefs()
    judged = []
    for document, labels in pages:
        columns, findings = judge(document)
        if findings is not None:  # the model has trees
            name, places = site.locate(document)
            judged.append(((name, places, findings.log_odds, block_weights(columns)), labels))
    for page, _ in judged:
        beliefs.think(*page)
    for page, labels in judged:
        if labels is not None:
            content = np.array([Label(label).is_content for label in labels], dtype=bool)
            _, places, _, weight = page
            beliefs.tell(places, content, beliefs.smoothed(*page), weight)
    return beliefs


def adjust(findings: Findings, page: Columns, site: SiteStatistics, beliefs: Beliefs) -> Findings:
    """Adjust the log-odds of a page's blocks to the beliefs about their places."""
    name, places = site.locate(page.document)
    smoothed = beliefs.smoothed(name, places, findings.log_odds, block_weights(page))
    block_log_odds = findings.block_log_odds
    if block_log_odds is not None:
        block_log_odds = beliefs.corrected(places, block_log_odds)
    return replace(findings, log_odds=beliefs.corrected(places, smoothed), block_log_odds=block_log_odds)
