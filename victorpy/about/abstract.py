"""The sentences that tell most of a page (section 6).

The topic root is the lowest common ancestor of all blocks with content; its sons are the paragraphs of the page. Each
has a share of the sentences by its size, and gives those in which the page's keywords weigh most, in the order of the
page. The paper takes δ = 15 sentences for its index, a third of the words of its pages; so that short pages have an
abstract too, no more than a third of a page's sentences are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import ceil, fsum

from victorpy.about.keywords import keywords
from victorpy.about.tag_tree import Node, TagTree
from victorpy.about.terms import primary, sentences, words
from victorpy.about.weights import Vector
from victorpy.unicode import CLOSING, ENDS

SHARE = 0.35
_LEAST_WORDS = 5  # of a sentence, without numbers: less is a heading, a date or a measure
_WITHOUT_FULL_STOPS = frozenset(["lo", "th"])
"""Languages that end no sentence with a sign: one that does stands behind an abbreviation."""


def abstract(tree: TagTree, vector: Vector, most_sentences: int, keyword_count: int, language: str = "") -> list[str]:
    """At most `most_sentences` (δ) sentences, chosen by the `keyword_count` (θ) heaviest keywords."""
    weights = {term: vector[term] for term in keywords(vector, keyword_count)}
    paragraphs = [_sentences(part, language) for part in paragraph_texts(tree)]
    if primary(language) not in _WITHOUT_FULL_STOPS:
        paragraphs = _complete(paragraphs)
    total = sum(map(len, paragraphs))
    counts = share_out(min(most_sentences, ceil(SHARE * total)), [_size(each) for each in paragraphs])
    chosen = (heaviest(each, count, weights) for each, count in zip(paragraphs, counts, strict=True))
    return list(chain.from_iterable(chosen))


def topic_root(tree: TagTree) -> int:
    """The node that all nodes with text lie in, or are; -1 where there is no text."""
    holding = [number for number, node in enumerate(tree.nodes) if node.texts]
    if not holding:
        return -1
    # Nodes are in document order: what holds the first and the last of them holds all between.
    root, last = holding[0], tree.nodes[holding[-1]].element
    while tree.page.elements.stop[tree.nodes[root].element] <= last:
        root = tree.nodes[root].parent
    return root


def paragraph_texts(tree: TagTree) -> list[list[str]]:
    """The paragraphs of the page, each the texts of its blocks: the sons of the topic root, and the root's own text.

    What stands directly in the root is a paragraph too, so that no text is left out. A listing of code has no
    sentences; where all text is such, as in a manual of old, it is text after all.
    """
    root = topic_root(tree)
    if root < 0:
        return []
    node = tree.nodes[root]
    parts = [[node], *(list(tree.inside(son)) for son in node.children)]
    with_text = [[inner for inner in part if inner.texts] for part in parts]
    prose = [[inner for inner in part if not _is_preformatted(tree, inner)] for part in with_text]
    chosen = prose if any(prose) else with_text
    return [[tree.text(inner) for inner in part] for part in chosen if part]


def _is_preformatted(tree: TagTree, node: Node) -> bool:
    return tree.page.elements.tag[node.element] == "pre"


def share_out(count: int, sizes: Sequence[int]) -> list[int]:
    """Share out whole things by size, what is left over to the largest remainders.

    >>> share_out(5, [60, 30, 10]), share_out(2, [1, 1, 1])
    ([3, 2, 0], [1, 1, 0])
    """
    total = sum(sizes)
    if not total:
        return [0] * len(sizes)
    exact = [count * size / total for size in sizes]
    shares = [int(each) for each in exact]
    by_remainder = sorted(range(len(sizes)), key=lambda place: (shares[place] - exact[place], place))
    for place in by_remainder[: count - sum(shares)]:
        shares[place] += 1
    return shares


def heaviest(found: Sequence[Sequence[str]], count: int, weights: Vector) -> list[str]:
    """The sentences in which keywords weigh most, in their own order; each is its text and its words."""
    ranked = sorted(range(len(found)), key=lambda place: (-_weight(found[place][1:], weights), place))
    return [found[place][0] for place in sorted(ranked[:count])]


def _sentences(texts: Sequence[str], language: str) -> list[list[str]]:
    """Every sentence of some texts, followed by its words."""
    found = ([each, *words(each)] for text in texts for each in sentences(text, language))
    return [sentence for sentence in found if sum(not word[0].isdigit() for word in sentence[1:]) >= _LEAST_WORDS]


def _complete(paragraphs: list[list[list[str]]]) -> list[list[list[str]]]:
    """Leave out what ends as no sentence does, headings and rows of tables; where nothing does, nothing."""
    complete = [[each for each in paragraph if _ends(each[0])] for paragraph in paragraphs]
    return complete if any(complete) else paragraphs


def _ends(sentence: str) -> bool:
    return sentence.rstrip(CLOSING)[-1:] in ENDS


def _size(paragraph: Sequence[Sequence[str]]) -> int:
    return sum(len(sentence) - 1 for sentence in paragraph)


def _weight(sentence_words: Sequence[str], weights: Vector) -> float:
    """What the keywords of a sentence weigh, each counted once."""
    return fsum(weights.get(word, 0.0) for word in set(sentence_words))  # the same in whatever order a set has
