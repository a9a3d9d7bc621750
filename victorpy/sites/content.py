"""What the pages of a site say at one place of their template, and how much it differs from page to page.

Features are the words, image files and link targets there (Yi, Liu and Li 2003, 3.3). The entropy of a feature over
the pages (equation 5; the same as the sentence paper's equation 4) needs how often each page has it; as

    -sum p_j log_m p_j  with  p_j = n_j / N   is   (log N - (sum n_j log n_j) / N) / log m,

two sums for each feature are enough, and pages can be added one by one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from victorpy.document import Block, Document, Elements

_WORD = re.compile(r"\w+")
_QUERY = re.compile(r"[?#].*", re.DOTALL)
_IMAGE, _LINK = "image ", "link "


class Content:
    """The features of one place, and the pages that have the place."""

    __slots__ = ("pages", "sums")

    def __init__(self) -> None:
        self.pages = 0
        """A bit for each page."""
        self.sums: dict[str, list[float]] = {}
        """Of each feature a bit for each page that has it, N, and the sum of n log n."""

    def add(self, page: int, counts: Counter[str]) -> None:
        """Add what a page says here, all of it at once."""
        bit = 1 << page
        self.pages |= bit
        sums = self.sums
        for feature, count in counts.items():
            found = sums.get(feature)
            if found is None:
                sums[feature] = [bit, count, count * math.log(count)]
            else:
                found[0] = int(found[0]) | bit
                found[1] += count
                found[2] += count * math.log(count)

    def merge(self, other: Content) -> None:
        """Take in what other pages say at another place that turned out to be the same."""
        self.pages |= other.pages
        for feature, (pages, total, logs) in other.sums.items():
            found = self.sums.setdefault(feature, [0, 0.0, 0.0])
            found[0] = int(found[0]) | int(pages)
            found[1] += total
            found[2] += logs

    @property
    def page_count(self) -> int:
        """How many pages have the place: the m of the equations."""
        return self.pages.bit_count()

    def entropy(self, feature: str) -> float:
        """H(a) of equation 5: 1 where all pages have the feature alike, 0 where one page alone has it."""
        if feature not in self.sums or self.page_count < 2:
            return 0.0
        _, total, logs = self.sums[feature]
        return min(max((math.log(total) - logs / total) / math.log(self.page_count), 0.0), 1.0)

    def importance(self) -> float:
        """CompImp of a leaf, equation 4: 1 less the mean entropy of its features; nothing said weighs nothing."""
        if not self.sums:
            return 0.0
        if self.page_count == 1:
            return 1.0
        return 1 - sum(map(self.entropy, self.sums)) / len(self.sums)

    def repeated(self, epsilon: float) -> frozenset[str]:
        """The locally noisy features, which the pages repeat at this place (3.6, the third enhancement).

        The paper drops features whose entropy by equation 5 is smaller than epsilon. By that equation a feature of
        one page alone has entropy 0 and one of all pages 1: it would drop what a page alone says. Its examples ("Home"
        in every page's path) are the others, so what is small must be the information, 1 - H.
        """
        if self.page_count < 2:
            return frozenset()
        return frozenset(feature for feature in self.sums if 1 - self.entropy(feature) < epsilon)


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


def link_features(document: Document, block: Block) -> list[str]:
    """The targets of the links in a block, each once."""
    targets = dict.fromkeys(_link_target(document.elements, piece.element) for piece in block.pieces)
    return [_LINK + target for target in targets if target]


def _link_target(elements: Elements, element: int) -> str:
    """Where the link around an element goes, if there is one."""
    while element >= 0:
        if elements.tag[element] == "a" and elements.attributes[element].get("href"):
            return _without_query(elements.attributes[element]["href"])
        element = elements.parent[element]
    return ""


def image_features(document: Document, elements: Iterable[int]) -> list[str]:
    """The image files among some elements."""
    tags, attributes = document.elements.tag, document.elements.attributes
    return [
        _IMAGE + attributes[number]["src"]
        for number in elements
        if tags[number] == "img" and "src" in attributes[number]
    ]


def _without_query(target: str) -> str:
    """The target up to its query: links to share or print a page have the page's own address there."""
    return _QUERY.sub("", target)
