"""What a model believes of the places of a site, over its pages, and what a few labelled pages tell of them.

A site puts the same thing at the same place of its template. So a block's log-odds are drawn to what the model thinks
of its place on the other pages of the site: what is doubtful on one page is clear on many. And what the annotators of
a site want of it, captions or bylines say, no other site can tell: at each place the labelled pages have so many words
of content and of noise, beside which what the model expects counts as some words more. A place of few words moves
little, one of many goes where the labels are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from victorpy.columns import Flags, Floats
from victorpy.evidence.cut import probabilities
from victorpy.sites.mapping import Place

SHARE = 0.5
"""The weight of what is thought on the other pages, where these are many ..."""

OWN_PAGES = 2
"""... and as many pages the block's own one is worth."""

PRIOR_WORDS = 10.0
"""So many words what the model expects of a place is worth beside labels."""

FARTHEST = 4.0
"""The most that labels move log-odds."""

_SUREST = 0.995
"""No place is thought to be more certain than this."""


class Beliefs:
    """Sums over the pages of a site, place by place; pages are known by what tells them apart."""

    def __init__(self) -> None:
        self._thought: dict[Place, Floats] = {}
        """At each place the words of content that the model expects, all words, and the pages."""
        self._pages: set[str] = set()
        self._told: dict[Place, Floats] = {}
        """At each place the words of content by labels, all words, and the words of content that were expected."""

    def think(self, page: str, places: Sequence[Place], log_odds: Floats, weight: Floats) -> None:
        """Count what the model thinks of a page."""
        if page not in self._pages:
            self._pages.add(page)
            for place, row in _expected(places, log_odds, weight).items():
                self._thought[place] = self._thought.get(place, 0.0) + row

    def tell(self, places: Sequence[Place], content: Flags, log_odds: Floats, weight: Floats) -> None:
        """Count a page whose labels are known; log-odds are those that `smoothed` gives."""
        counts = np.stack([weight * content, weight, weight * probabilities(log_odds)], axis=1)
        for place, row in zip(places, counts, strict=True):
            self._told[place] = self._told.get(place, 0.0) + row

    def smoothed(self, page: str, places: Sequence[Place], log_odds: Floats, weight: Floats) -> Floats:
        """Draw a page's log-odds to those of the same places on other pages."""
        own = _expected(places, log_odds, weight) if page in self._pages else {}
        drawn = {place: _drawn(self._thought.get(place), own.get(place)) for place in dict.fromkeys(places)}
        shares, others = np.array([drawn[place] for place in places], dtype=np.float64).reshape(-1, 2).T
        return (1 - shares) * log_odds + shares * others

    def corrected(self, places: Sequence[Place], log_odds: Floats) -> Floats:
        """Move a page's log-odds to what labels tell of its places; those of which nothing was told stay."""
        return log_odds + np.array([self._shift(place) for place in places], dtype=np.float64)

    def _shift(self, place: Place) -> float:
        if place not in self._told:
            return 0.0
        content, words, expected = self._told[place]
        before = min(max(expected / words, 1 - _SUREST), _SUREST)
        after = (content + PRIOR_WORDS * before) / (words + PRIOR_WORDS)
        return float(np.clip(_log_odds(after) - _log_odds(before), -FARTHEST, FARTHEST))


def _expected(places: Sequence[Place], log_odds: Floats, weight: Floats) -> dict[Place, Floats]:
    """At each place of a page the words of content that are expected, all words, and one page."""
    found: dict[Place, Floats] = {}
    for place, row in zip(places, np.stack([weight * probabilities(log_odds), weight], axis=1), strict=True):
        found[place] = found.get(place, 0.0) + row
    return {place: np.append(row, 1.0) for place, row in found.items()}


def _drawn(thought: Floats | None, own: Floats | None) -> tuple[float, float]:
    """How far a place's log-odds are drawn, and to what: the mean of the other pages that have it."""
    if thought is None:
        return 0.0, 0.0
    expected, words, pages = thought if own is None else thought - own
    if pages < 1 or words <= 0:
        return 0.0, 0.0
    return SHARE * pages / (pages + OWN_PAGES), _log_odds(expected / words)


def _log_odds(probability: float) -> float:
    probability = min(max(probability, 1 - _SUREST), _SUREST)
    return float(np.log(probability / (1 - probability)))
