"""The importance of the parts of a site's pages, and which parts are noise (Yi, Liu and Li 2003, 3.3 and 3.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from victorpy.sites.style_tree import ElementNode, StyleNode, StyleTree

GAMMA = 0.9
"""The attenuating factor of equation 2."""

EPSILON = 0.01
"""A feature with less information than this is locally noisy."""


def node_importance(element: ElementNode) -> float:
    """Return NodeImp(E), equation 1: the entropy of an element's styles, to the base of its pages."""
    if element.page_count <= 1:
        return 1.0
    entropy = sum(-share * math.log(share) for share in _shares(element))
    # If several elements of a page are one node, there may be more styles than pages.
    return min(entropy / math.log(element.page_count), 1.0)


def _shares(element: ElementNode) -> list[float]:
    """Return the p_i of an element's styles. Being a leaf, on the pages where it is one, is a style too."""
    counts = [style.page_count for style in element.styles.values()]
    if element.content is not None:
        counts.append(element.content.page_count)
    return [count / sum(counts) for count in counts]


@dataclass(slots=True)
class Judged:
    """The importance of an element node, and whether it is noise."""

    node: float
    composite: float
    said: float
    """The importance of its content on the pages where it is a leaf; 0 if it never is."""
    repeated: frozenset[str]
    """The features that pages repeat there. A block that has no others is noise."""
    highest: float
    """The highest composite importance of it and all nodes below: it is noisy for all higher thresholds."""
    noisy: bool
    """Whether neither it nor any node below is more important than the threshold (figure 5)."""
    meaningful: bool
    """Whether no node below is noisy."""


@dataclass(slots=True)
class Judgement:
    """The importance of all element nodes of a tree, and which are noise at a threshold t."""

    gamma: float = GAMMA
    t: float = 0.4
    epsilon: float = EPSILON
    _judged: dict[int, Judged] = field(default_factory=dict)

    def of(self, element: ElementNode) -> Judged:
        """Return the judgement of an element node."""
        return self._judged[id(element)]

    def judge(self, tree: StyleTree) -> Judgement:
        """Judge all nodes of a tree from the leaves up. This does all of the paper's procedures in one pass."""
        self._judged.clear()
        self._judge(tree.root)
        return self

    def _judge(self, element: ElementNode) -> Judged:
        if id(element) in self._judged:  # it is in several styles
            return self._judged[id(element)]
        below = [self._judge(child) for child in element.children()]
        said = 0.0 if element.content is None else element.content.importance()
        repeated = frozenset[str]() if element.content is None else element.content.repeated(self.epsilon)
        node, composite = node_importance(element), said  # the composite importance of a leaf is equation 4
        if element.styles:  # CompImp(E), equation 2
            importances = [self.style_importance(style) for style in element.styles.values()]
            if element.content is not None:
                importances.append(said)
            weight = self.gamma ** len(importances)
            mean = sum(share * value for share, value in zip(_shares(element), importances, strict=True))
            composite = (1 - weight) * node + weight * mean
        highest = max([composite, *(child.highest for child in below)])
        noisy = highest <= self.t
        meaningful = not noisy and all(child.meaningful for child in below)
        judged = self._judged[id(element)] = Judged(node, composite, said, repeated, highest, noisy, meaningful)
        return judged

    def style_importance(self, style: StyleNode) -> float:
        """Return CompImp(S), equation 3: the mean of its elements'."""
        if not style.elements:
            return 0.0
        return sum(self._judge(element).composite for element in style.elements) / len(style.elements)
