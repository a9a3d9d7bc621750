"""How important the parts of a site's pages are, and which are noise (Yi, Liu and Li 2003, 3.3 and 3.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from victorpy.sites.style_tree import ElementNode, StyleNode, StyleTree

GAMMA = 0.9
"""The attenuating factor of equation 2."""

EPSILON = 0.01
"""Below so much information a feature is locally noisy."""


def node_importance(element: ElementNode) -> float:
    """NodeImp(E), equation 1: the entropy of the styles in which pages show an element, to the base of the pages."""
    if element.page_count <= 1:
        return 1.0
    entropy = sum(-share * math.log(share) for share in _shares(element))
    # Where several elements of a page are one node there may be more styles than pages.
    return min(entropy / math.log(element.page_count), 1.0)


def _shares(element: ElementNode) -> list[float]:
    """The p_i of an element's styles; being a leaf, on the pages where it is one, is a style too."""
    counts = [style.page_count for style in element.styles.values()]
    if element.content is not None:
        counts.append(element.content.page_count)
    return [count / sum(counts) for count in counts]


@dataclass(slots=True)
class Judged:
    """What was found of an element node."""

    node: float
    composite: float
    said: float
    """The importance of what pages say there, on the pages where it is a leaf; 0 where it never is."""
    repeated: frozenset[str] = frozenset()
    """The features that pages repeat there; a block of nothing else is noise, as labels are of blocks."""
    highest: float = 0.0
    """The highest composite importance of it and all below: it is noisy for every threshold from here."""
    noisy: bool = False
    """It and all below are no more important than the threshold (figure 5)."""
    meaningful: bool = False
    """Nothing below is noisy."""


@dataclass(slots=True)
class Judgement:
    """The importance of all element nodes of a tree, and what follows from a threshold t."""

    gamma: float = GAMMA
    t: float = 0.4
    epsilon: float = EPSILON
    _found: dict[int, Judged] = field(default_factory=dict)

    def of(self, element: ElementNode) -> Judged:
        """What was found of an element node."""
        return self._found[id(element)]

    def judge(self, tree: StyleTree) -> Judgement:
        """Go through a tree from the leaves up; all of the paper's procedures in one pass."""
        self._found.clear()
        self._judge(tree.root)
        return self

    def _judge(self, element: ElementNode) -> Judged:
        if id(element) in self._found:  # an element node of several styles
            return self._found[id(element)]
        below = [self._judge(child) for child in element.children()]
        said = 0.0 if element.content is None else element.content.importance()
        repeated = frozenset[str]() if element.content is None else element.content.repeated(self.epsilon)
        found = Judged(node_importance(element), self._composite(element, said), said, repeated)
        found.highest = max([found.composite, *(child.highest for child in below)])
        found.noisy = found.highest <= self.t
        found.meaningful = not found.noisy and all(child.meaningful for child in below)
        self._found[id(element)] = found
        return found

    def _composite(self, element: ElementNode, said: float) -> float:
        """CompImp(E), equation 2; that of a leaf is equation 4."""
        if not element.styles:
            return said
        own = [] if element.content is None else [said]
        importances = [*map(self.style_importance, element.styles.values()), *own]
        weight = self.gamma ** len(importances)
        below = sum(share * value for share, value in zip(_shares(element), importances, strict=True))
        return (1 - weight) * node_importance(element) + weight * below

    def style_importance(self, style: StyleNode) -> float:
        """CompImp(S), equation 3: the mean of its elements'."""
        if not style.elements:
            return 0.0
        return sum(self._judge(element).composite for element in style.elements) / len(style.elements)
