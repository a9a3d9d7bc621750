"""What a few labelled pages of a site say of its places, beside what a model thinks of them.

A site puts the same thing at the same place of its template, and what its annotators want of it, captions or bylines
say, no other site can tell. At each place the labelled pages have so many words of content and of noise. The model's
own mean probability there counts as so many words more: a place of a few words moves little, one of many goes where
the labels are. The difference in log-odds is added for all blocks of the place, on every page of the site.
"""

from __future__ import annotations

import numpy as np

from victorpy.columns import Flags, Floats
from victorpy.document import Document
from victorpy.sites.mapping import Place, places_of_blocks
from victorpy.sites.style_tree import StyleTree

PRIOR_WORDS = 30.0
"""So many words what the model thinks of a place is worth."""

MOST = 4.0
"""The farthest that log-odds are moved."""

_LEAST = 0.01
"""No place is thought to be more certain than this."""


class ToldPlaces:
    """Words of content and noise at the places of a site, as far as labels tell."""

    def __init__(self, tree: StyleTree) -> None:
        self._tree = tree
        self._words: dict[Place, Floats] = {}
        """At each place the words of content, all words, and the words of content that the model expects."""

    def add(self, document: Document, content: Flags, probability: Floats, weight: Floats) -> None:
        """Count a page whose labels are known."""
        counts = np.stack([weight * content, weight, weight * probability], axis=1)
        for place, row in zip(places_of_blocks(self._tree, document), counts, strict=True):
            self._words[place] = self._words.get(place, 0.0) + row

    def shifts(self, document: Document) -> Floats:
        """What is to be added to the log-odds of each block of a page; 0 at places of which nothing was told."""
        return np.array([self._shift(place) for place in places_of_blocks(self._tree, document)], dtype=np.float64)

    def _shift(self, place: Place) -> float:
        if place not in self._words:
            return 0.0
        content, words, expected = self._words[place]
        before = min(max(expected / words, _LEAST), 1 - _LEAST)
        after = (content + PRIOR_WORDS * before) / (words + PRIOR_WORDS)
        return float(np.clip(_log_odds(after) - _log_odds(before), -MOST, MOST))


def _log_odds(probability: float) -> float:
    return float(np.log(probability / (1 - probability)))
