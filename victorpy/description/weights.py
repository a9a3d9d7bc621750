"""Weigh the blocks of a page, and with them its terms (section 3.2).

A leaf block's weight is multiplied by its force, the sum of the forces of its weighty tags. The weights of its parent
and siblings are multiplied by pforce, the part of the force that is passed on (algorithm 1). The paper does not define
that part. Here pforce is force to the power of `spread`, so that a block without emphasis (force 1) changes nothing
around it. Weights are kept as logarithms, because a list of a thousand bold items multiplies a thousand forces;
formula 2 divides by the length of the vector anyway.

Pseudo-weighty tags, which emphasise logos and advertisements, have no force. These are tags without text or with
nothing but links, tags in blocks of links or images, and tags at the margins of the page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import exp, log, sqrt

from victorpy.description.tag_tree import WEIGHTY, TagTree, Thresholds, Type
from victorpy.description.terms import terms

SPREAD = 0.5
_DIGITS = 9  # differences after these are rounding errors

Vector = dict[str, float]
"""Terms with their weights. Its length is 1, or it is empty."""


def feature_vector(tree: TagTree, language: str = "", spread: float = SPREAD) -> Vector:
    """Return the weights of a page's terms: counts per block times the block's weight (formula 2)."""
    weights: defaultdict[str, float] = defaultdict(float)
    for node, weight in zip(tree.nodes, block_weights(tree, spread), strict=True):
        for term in terms(tree.text(node), language) if node.texts else ():
            weights[term] += weight
    return normalised(weights)


def normalised(weights: Mapping[str, float]) -> Vector:
    """Divide a vector by its length."""
    length = sqrt(sum(weight * weight for weight in weights.values()))
    return {term: weight / length for term, weight in weights.items()} if length else {}


def similarity(one: Vector, other: Vector) -> float:
    """Return the cosine of two vectors of length 1 (formula 3)."""
    short, long = sorted((one, other), key=len)
    return sum(weight * long.get(term, 0.0) for term, weight in short.items())


def block_weights(tree: TagTree, spread: float = SPREAD) -> list[float]:
    """Return the weight of every block by algorithm 1, relative to the heaviest."""
    own = [log(force) if node.is_leaf else 0.0 for node, force in zip(tree.nodes, forces(tree), strict=True)]
    from_leaves = [0.0] * len(tree.nodes)  # passed on to each node by the leaves directly in it
    for node, force in zip(tree.nodes, own, strict=True):
        if node.parent >= 0:
            from_leaves[node.parent] += spread * force
    logarithms = [
        force + from_leaves[number] + (from_leaves[node.parent] - spread * force if node.parent >= 0 else 0.0)
        for number, (node, force) in enumerate(zip(tree.nodes, own, strict=True))
    ]
    highest = max(logarithms, default=0.0)
    return [exp(max(logarithm - highest, -500.0)) for logarithm in logarithms]


def forces(tree: TagTree) -> list[float]:
    """Return the force of every block: the sum over its weighty tags, or 1 if it has none."""
    words, link_words = tree.word_totals()
    block_forces = []
    for node, is_central in zip(tree.nodes, tree.central, strict=True):
        force = 0.0
        if is_central and node.type(Thresholds()) is Type.TOPIC:
            genuine = [element for element in node.weighty if words[element] > link_words[element]]
            force = sum(WEIGHTY[tree.page.elements.tag[element]] for element in genuine)
        block_forces.append(force or 1.0)
    return block_forces


def keywords(vector: Vector, count: int) -> list[str]:
    """Return the `count` (the paper's λ) heaviest terms, heaviest first, without numbers (section 6).

    Equally heavy terms keep the order of the vector, which is that of the page.

    >>> keywords({"tea": 0.8, "1848": 0.5, "leaf": 0.2, "bush": 0.2}, 3)
    ['tea', 'leaf', 'bush']
    """
    named = (term for term in vector if not term[0].isdigit())
    return sorted(named, key=lambda term: -round(vector[term], _DIGITS))[:count]
