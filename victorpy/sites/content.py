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

from victorpy.document import Block, Document

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


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


class BlockFeatures:
    """The features of a page's blocks: their words and the targets of their links."""

    def __init__(self, document: Document) -> None:
        self._links = _link_targets(document)

    def of(self, block: Block) -> list[str]:
        """The features of a block, words as often as it has them."""
        targets = {self._links[piece.element] for piece in block.pieces}
        return [*words(block.text), *(_LINK + target for target in sorted(targets) if target)]


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


def _link_targets(document: Document) -> list[str]:
    """Where the link around each element goes, empty where there is none; the last row is that of the page itself."""
    elements = document.elements
    targets: list[str] = []
    for tag, parent, attributes in zip(elements.tag, elements.parent, elements.attributes, strict=True):
        own = _without_query(attributes.get("href", "")) if tag == "a" else ""
        targets.append(own or (targets[parent] if parent >= 0 else ""))
    return [*targets, ""]
