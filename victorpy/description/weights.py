"""Weigh the blocks of a page, and its terms by the blocks that contain them (section 3.2).

The tree is the topic content tree (section 4.2): containers without kept text are pruned. Its leaves are the blocks,
and each has a force. A container may have text beside inner containers, such as a heading above paragraphs. Each
stretch of such text is a leaf too, so that every heading has a force.

A leaf's weight is multiplied by its force, the sum of the forces of its weighty tags. Algorithm 1 also multiplies the
weights of its siblings and of the text of its parent by pforce, a part of the force that the paper does not define.
Here pforce is force to the power of `spread`, so that a block without emphasis (force 1) changes nothing around it.
Weights are computed as logarithms, because a list of a thousand bold items multiplies a thousand forces. Formula 2
divides by the length of the vector anyway.

Pseudo-weighty tags have no force. These are tags around links only, in blocks of links or at the margins of the page,
labels that end in a colon, and emphasis in blocks that use it more than twice. A tag inside a stronger one adds
nothing.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import exp, log, sqrt
from typing import NamedTuple

from victorpy.description.tag_tree import CONTAINERS, WEIGHTY, TagTree, Thresholds, Type
from victorpy.description.terms import terms
from victorpy.document import HEADINGS

SPREAD = 0.1
_MOST_EMPHASIS = 2
_DIGITS = 9  # further digits are only rounding errors
_SHORTEST_NUMBER = 3

Vector = dict[str, float]
"""Terms with their weights. The vector is empty or has length 1."""


class TopicBlock(NamedTuple):
    """A leaf of the topic content tree."""

    node: int  # number of the container
    is_beside: bool  # whether it is text beside inner containers
    texts: Sequence[int]
    force: float


def feature_vector(tree: TagTree, language: str, spread: float = SPREAD) -> Vector:
    """Return the weights of a page's terms: counts per block times the block's weight (formula 2)."""
    weights: defaultdict[str, float] = defaultdict(float)
    blocks = topic_blocks(tree)
    for block, weight in zip(blocks, block_weights(tree, blocks, spread), strict=True):
        for term in terms(tree.text(block.texts), language):
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


def block_weights(tree: TagTree, blocks: Sequence[TopicBlock], spread: float = SPREAD) -> list[float]:
    """Return the weight of every block by algorithm 1, relative to the heaviest."""
    parents = [block.node if block.is_beside else tree.nodes[block.node].parent for block in blocks]
    passed: defaultdict[int, float] = defaultdict(float)  # for each node, the force that its blocks pass to each other
    for block, parent in zip(blocks, parents, strict=True):
        passed[parent] += spread * log(block.force)
    logarithms = []
    for block, parent in zip(blocks, parents, strict=True):
        logarithm = (1 - spread) * log(block.force) + passed[parent]
        if block.is_beside:  # it also affects the siblings of its container
            logarithm += passed[tree.nodes[block.node].parent]
        logarithms.append(logarithm)
    highest = max(logarithms, default=0.0)
    return [exp(max(logarithm - highest, -500.0)) for logarithm in logarithms]


def topic_blocks(tree: TagTree) -> list[TopicBlock]:
    """Return the leaves of the tree that have text, in the order of their containers."""
    words, link_words = tree.word_totals()
    blocks = []
    for number, node in enumerate(tree.nodes):
        if not node.texts:
            continue
        inner = [tree.nodes[child].element for child in node.children]
        starts = [tree.page.text_ranges[element].start for element in inner if words[element]]
        has_force = tree.central[number] and node.type(Thresholds()) is not Type.HUB
        stretches: defaultdict[int, list[int]] = defaultdict(list)
        for text in node.texts:
            stretches[bisect(starts, text)].append(text)
        for texts in stretches.values():
            force = _force(tree, texts, words, link_words) if has_force else 0.0
            blocks.append(TopicBlock(number, bool(starts), texts, force or 1.0))
    return blocks


def _force(tree: TagTree, texts: Sequence[int], words: Sequence[float], link_words: Sequence[float]) -> float:
    """Return the sum of the forces of the weighty tags around some texts."""
    elements = tree.page.elements
    strongest: dict[int, int] = {}  # the strongest weighty element around each element; the outermost of equal ones
    last_text: dict[int, int] = {}  # last text of each weighty element
    for text in texts:
        element = tree.page.texts[text].element
        inner = []
        while element >= 0 and element not in strongest and elements.tag[element] not in CONTAINERS:
            inner.append(element)
            element = elements.parent[element]
        heaviest = strongest.get(element, -1)
        for element in reversed(inner):
            force = WEIGHTY.get(elements.tag[element], 0.0)
            if force and (heaviest < 0 or force > WEIGHTY[elements.tag[heaviest]]):
                heaviest = element
            strongest[element] = heaviest
        if heaviest >= 0:
            last_text[heaviest] = text
    tags = [
        elements.tag[element]
        for element, text in last_text.items()
        if words[element] > link_words[element] and not tree.page.texts[text].text.endswith(":")
    ]
    headings = [tag for tag in tags if tag in HEADINGS]
    is_style = len(tags) - len(headings) > _MOST_EMPHASIS
    return sum(WEIGHTY[tag] for tag in (headings if is_style else tags))


def keywords(vector: Vector, count: int) -> list[str]:
    """Return the `count` (the paper's λ) heaviest terms, heaviest first (section 6).

    Numbers of one or two digits are left out. Terms of equal weight keep the order of the page.

    >>> keywords({"tea": 0.8, "12": 0.6, "1848": 0.5, "7d": 0.3, "leaf": 0.2, "bush": 0.2}, 4)
    ['tea', '1848', '7d', 'leaf']
    """
    named = (term for term in vector if len(term) >= _SHORTEST_NUMBER or not term.isnumeric())
    return sorted(named, key=lambda term: -round(vector[term], _DIGITS))[:count]
