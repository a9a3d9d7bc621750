"""How much the blocks of a page weigh, and with them its terms (section 3.2).

A leaf block's weight is multiplied by its force, the sum of the forces of the weighty tags in it; its parent and its
siblings are multiplied by pforce, the part of it that goes on (algorithm 1). The paper does not say which part: here
pforce is force to the power of `spread`, so that a block without emphasis, whose force is 1, changes nothing around it.
Weights are kept as logarithms, since a list of a thousand bold items multiplies a thousand forces; formula 2 divides by
the length of the vector anyway.

Pseudo-weighty tags, which emphasise logos and advertisements, have no force. As such count those without text of their
own or with nothing but links, those in blocks of links or images, and those at the margins of the page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import exp, log, sqrt

from victorpy.about.tag_tree import WEIGHTY, Node, TagTree, Thresholds, Type
from victorpy.about.terms import terms

SPREAD = 0.5
Vector = dict[str, float]
"""Terms with their weights; its length is 1, or it is empty."""


def feature_vector(
    tree: TagTree, language: str = "", spread: float = SPREAD, thresholds: Thresholds | None = None
) -> Vector:
    """Weigh the terms of a page: how often they occur in each block times the block's weight, formula 2."""
    weights: defaultdict[str, float] = defaultdict(float)
    for node, weight in zip(tree.nodes, block_weights(tree, spread, thresholds or Thresholds()), strict=True):
        for term in terms(tree.text(node), language) if node.texts else ():
            weights[term] += weight
    return normalised(weights)


def normalised(weights: Mapping[str, float]) -> Vector:
    """Divide by the length of the vector."""
    length = sqrt(sum(weight * weight for weight in weights.values()))
    return {term: weight / length for term, weight in weights.items()} if length else {}


def similarity(one: Vector, other: Vector) -> float:
    """The cosine of the angle between two vectors of length 1 (formula 3)."""
    short, long = sorted((one, other), key=len)
    return sum(weight * long.get(term, 0.0) for term, weight in short.items())


def block_weights(tree: TagTree, spread: float = SPREAD, thresholds: Thresholds | None = None) -> list[float]:
    """The weight of every block, by algorithm 1, as a share of the heaviest."""
    own = [
        log(force) if node.is_leaf else 0.0 for node, force in zip(tree.nodes, forces(tree, thresholds), strict=True)
    ]
    passed = [0.0] * len(tree.nodes)  # to each node from the leaves in it
    for node, force in zip(tree.nodes, own, strict=True):
        if node.parent >= 0:
            passed[node.parent] += spread * force
    logarithms = [
        force + passed[number] + (passed[node.parent] - spread * force if node.parent >= 0 else 0.0)
        for number, (node, force) in enumerate(zip(tree.nodes, own, strict=True))
    ]
    most = max(logarithms, default=0.0)
    return [exp(max(each - most, -500.0)) for each in logarithms]


def forces(tree: TagTree, thresholds: Thresholds | None = None) -> list[float]:
    """The force of every block: that of its weighty tags added up, 1 where it has none."""
    limits = thresholds or Thresholds()
    words, link_words = tree.word_totals()
    found = []
    for node, is_central in zip(tree.nodes, tree.central, strict=True):
        genuine = is_central and node.type(limits) is Type.TOPIC
        found.append(_force(tree, node, words, link_words) if genuine else 1.0)
    return found


def _force(tree: TagTree, node: Node, words: list[float], link_words: list[float]) -> float:
    genuine = [element for element in node.weighty if words[element] > link_words[element]]
    return sum(WEIGHTY[tree.page.elements.tag[element]] for element in genuine) or 1.0
