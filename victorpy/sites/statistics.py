"""Columns that measure how much of each block is repeated on other pages of the site."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from victorpy.base.hashes import hash_text
from victorpy.base.words import simple_words
from victorpy.columns import SiteColumns
from victorpy.document import Block, Document
from victorpy.sites.importance import Judgement, Place, block_importances, misfit, places_of_blocks
from victorpy.sites.style_tree import StyleTree, page_fingerprint

_DIGITS = re.compile(r"\d+")


class SiteStatistics:
    """Measures how much the pages of a site have in common. Pages are added one by one."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._tree = StyleTree()
        self._texts: Counter[int] = Counter()
        self._judgement: Judgement | None = None
        self._last: tuple[Document, tuple[str, list[Place]]] | None = None
        for document in documents:
            self.add(document)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_judgement": None, "_last": None}  # both are computed on demand

    @property
    def pages(self) -> int:
        return self._tree.page_count

    def add(self, document: Document) -> None:
        """Add a page, unless it was added before."""
        pages = self.pages
        self._tree.add(document)
        if self.pages > pages:
            self._texts.update({_text_hash(block) for block in document.blocks})
            self._judgement = self._last = None

    def locate(self, document: Document) -> tuple[str, list[Place]]:
        """Return a page's fingerprint and the places of its blocks in the tree. The last result is cached."""
        if self._last is None or self._last[0] is not document:
            self._last = document, (page_fingerprint(document), places_of_blocks(self._tree, document))
        return self._last[1]

    def misfit(self, document: Document) -> tuple[str, ...]:
        """Return a warning if the page seems to belong to another site."""
        return misfit(document, self.locate(document)[1])

    def columns(self, document: Document) -> SiteColumns | None:
        """Return the columns of a page, or None if there is no other page to compare it with."""
        if self.pages < 2:
            return None
        if self._judgement is None:
            self._judgement = Judgement().judge(self._tree)
        fingerprint, places = self.locate(document)
        leaves = [place.leaf for place in places]
        entropy = np.zeros(len(leaves))
        for number, (block, leaf) in enumerate(zip(document.blocks, leaves, strict=True)):
            features = simple_words(block.text)
            if leaf is not None and leaf.content is not None and features:
                # The mean entropy of the words at this place (the sentence paper's equation 5).
                entropy[number] = sum(map(leaf.content.entropy, features)) / len(features)
        # The share of other pages with the same text, ignoring digits.
        own = fingerprint in self._tree.seen
        pages_with_text = [self._texts[_text_hash(block)] for block in document.blocks]
        text_share = np.array([max(count - own, 0) / (self.pages - own) for count in pages_with_text])
        return SiteColumns(
            self.pages,
            importance=np.array(block_importances(self._tree, self._judgement, document, places)),
            entropy=entropy,
            text_share=text_share,
            place_share=np.array([leaf.page_count / self.pages if leaf else 0.0 for leaf in leaves]),
        )


def _text_hash(block: Block) -> int:
    return hash_text(_DIGITS.sub("0", block.text.lower()))
