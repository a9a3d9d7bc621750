"""Measure how much the content at a place of a site's template differs between pages.

Features are the words, image files and link targets at the place (Yi, Liu and Li 2003, 3.3). The entropy of a feature
over the pages (equation 5, which is the sentence paper's equation 4) depends on the counts n_j of the feature on the
pages:

    -sum p_j log_m p_j  with  p_j = n_j / N   is   (log N - (sum n_j log n_j) / N) / log m

So two sums for each feature are enough, and pages can be added one by one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

from victorpy.document import Block, Document

_QUERY = re.compile(r"[?#].*", re.DOTALL)


class Content:
    """Feature counts at one place, over all pages that have this place."""

    __slots__ = ("pages", "sums")

    def __init__(self) -> None:
        self.pages = 0  # bit set of the pages with this place
        self.sums: dict[str, list[Any]] = {}
        """For each feature: the bit set of pages that have it, then N, then the sum of n log n."""

    def add(self, page: int, counts: Counter[str]) -> None:
        bit = 1 << page
        self.pages |= bit
        sums = self.sums
        for feature, count in counts.items():
            entry = sums.get(feature)
            if entry is None:
                sums[feature] = [bit, count, count * math.log(count)]
            else:
                entry[0] |= bit
                entry[1] += count
                entry[2] += count * math.log(count)

    def merge(self, other: Content) -> None:
        """Add the features of another place. No page may have both places."""
        self.pages |= other.pages
        for feature, (pages, total, logs) in other.sums.items():
            entry = self.sums.setdefault(feature, [0, 0.0, 0.0])
            entry[0] |= pages
            entry[1] += total
            entry[2] += logs

    @property
    def page_count(self) -> int:
        """Number of pages that have the place, called m in the equations."""
        return self.pages.bit_count()

    def pages_with(self, feature: str) -> int:
        """Return the number of pages that have the feature at this place."""
        return self.sums[feature][0].bit_count() if feature in self.sums else 0

    def entropy(self, feature: str) -> float:
        """Return H(a) of equation 5: 1 if all pages have the feature equally often, 0 if only one page has it."""
        if feature not in self.sums or self.page_count < 2:
            return 0.0
        _, total, logs = self.sums[feature]
        entropy: float = (math.log(total) - logs / total) / math.log(self.page_count)
        return min(max(entropy, 0.0), 1.0)

    def importance(self) -> float:
        """Return CompImp of a leaf, equation 4: 1 minus the mean entropy of its features.

        The equation is undefined for a leaf without features; on several pages such a leaf gets 0.
        """
        if self.page_count == 1:
            return 1.0
        if not self.sums:
            return 0.0
        return 1 - sum(map(self.entropy, self.sums)) / len(self.sums)

    def repeated(self, epsilon: float) -> frozenset[str]:
        """Return the locally noisy features, which the pages repeat at this place (3.6, the third enhancement).

        The paper drops features whose entropy by equation 5 is smaller than epsilon. By that equation, the entropy is 0
        for a feature of a single page and 1 for a feature of all pages, so this would drop the content of single pages.
        The paper's example, "Home" in every page's path, is a feature of all pages. So we compare the information, 1 -
        H, instead of the entropy.
        """
        if self.page_count < 2:
            return frozenset()
        return frozenset(feature for feature in self.sums if 1 - self.entropy(feature) < epsilon)


def link_features(document: Document, block: Block) -> list[str]:
    """Return the targets of a block's links, each once.

    The query is removed, since links for sharing or printing a page contain its address there.
    """
    elements = document.elements
    links = {elements.ancestor(piece.element, ("a",)): None for piece in block.pieces}
    targets = {_QUERY.sub("", elements.attributes[link].get("href", "")): None for link in links if link >= 0}
    return [f"link {target}" for target in targets if target]
