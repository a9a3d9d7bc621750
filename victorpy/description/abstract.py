"""Choose the sentences that make up the abstract of a page (section 6).

The topic root is the lowest common ancestor of all blocks with content. Its children are the paragraphs of the page.
Each paragraph gets a share of the sentences by its size and contributes those with the heaviest keywords, in page
order. The paper takes δ = 15 sentences, a third of the words of its pages. Short pages should have an abstract too, so
at most about a third of a page's sentences are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import ceil, fsum
from typing import NamedTuple

from victorpy.base.unicode import CLOSING, ENDS
from victorpy.base.words import icu_words
from victorpy.description.tag_tree import TagTree
from victorpy.description.terms import primary, sentences
from victorpy.description.weights import Vector, keywords

SHARE = 0.35
"""Largest share of a page's sentences in its abstract."""
_LEAST_WORDS = 5  # numbers aside; shorter texts are headings, dates or measurements
_WITHOUT_FULL_STOPS = frozenset(["lo", "th"])
"""Languages without a sign at the end of a sentence; a full stop there belongs to an abbreviation."""


class Sentence(NamedTuple):
    """A sentence and its words."""

    text: str
    words: list[str]


def abstract(tree: TagTree, vector: Vector, most_sentences: int, keyword_count: int, language: str = "") -> list[str]:
    """Return at most `most_sentences` (δ) sentences, chosen by the `keyword_count` (θ) heaviest keywords."""
    weights = {term: vector[term] for term in keywords(vector, keyword_count)}
    paragraphs: list[list[Sentence]] = []
    for texts in paragraph_texts(tree):
        split = [Sentence(sentence, icu_words(sentence)) for text in texts for sentence in sentences(text, language)]
        is_long = [sum(not word[0].isdigit() for word in sentence.words) >= _LEAST_WORDS for sentence in split]
        paragraphs.append([sentence for sentence, is_kept in zip(split, is_long, strict=True) if is_kept])
    if primary(language) not in _WITHOUT_FULL_STOPS:  # leave out headings and table rows, unless nothing else is left
        complete = [[s for s in paragraph if s.text.rstrip(CLOSING)[-1:] in ENDS] for paragraph in paragraphs]
        paragraphs = complete if any(complete) else paragraphs
    total = sum(map(len, paragraphs))
    sizes = [sum(len(sentence.words) for sentence in paragraph) for paragraph in paragraphs]
    counts = share_out(min(most_sentences, ceil(SHARE * total)), sizes)
    chosen = (heaviest(paragraph, count, weights) for paragraph, count in zip(paragraphs, counts, strict=True))
    return list(chain.from_iterable(chosen))


def topic_root(tree: TagTree) -> int:
    """Return the lowest node that contains all nodes with text, or -1 if there is no text."""
    holding = [number for number, node in enumerate(tree.nodes) if node.texts]
    if not holding:
        return -1
    # Nodes are in document order, so a node that contains the first and the last contains all of them.
    root, last = holding[0], tree.nodes[holding[-1]].element
    while tree.page.elements.stop[tree.nodes[root].element] <= last:
        root = tree.nodes[root].parent
    return root


def paragraph_texts(tree: TagTree) -> list[list[str]]:
    """Return the paragraphs of the page, each as the texts of its blocks: the topic root's own text and its children.

    Text directly in the root is a paragraph too, so no text is lost. Preformatted text has no sentences and is left
    out, unless the page has nothing else, as in old manuals.
    """
    root = topic_root(tree)
    if root < 0:
        return []
    node = tree.nodes[root]
    parts = [[node], *(list(tree.inside(son)) for son in node.children)]
    with_text = [[inner for inner in part if inner.texts] for part in parts]
    tags = tree.page.elements.tag
    prose = [[inner for inner in part if tags[inner.element] != "pre"] for part in with_text]
    chosen = prose if any(prose) else with_text
    return [[tree.text(inner) for inner in part] for part in chosen if part]


def share_out(count: int, sizes: Sequence[int]) -> list[int]:
    """Distribute a count in proportion to sizes; the rest goes to the largest remainders.

    >>> share_out(5, [60, 30, 10]), share_out(2, [1, 1, 1])
    ([3, 2, 0], [1, 1, 0])
    """
    total = sum(sizes)
    if not total:
        return [0] * len(sizes)
    exact = [count * size / total for size in sizes]
    shares = [int(share) for share in exact]
    by_remainder = sorted(range(len(sizes)), key=lambda place: (shares[place] - exact[place], place))
    for place in by_remainder[: count - sum(shares)]:
        shares[place] += 1
    return shares


def heaviest(paragraph: Sequence[Sentence], count: int, weights: Vector) -> list[str]:
    """Return the `count` sentences with the heaviest keywords, each keyword counted once, in their original order."""
    # fsum is exact, so the order of a set does not matter
    totals = [fsum(weights.get(word, 0.0) for word in set(sentence.words)) for sentence in paragraph]
    ranked = sorted(range(len(paragraph)), key=lambda number: (-totals[number], number))
    return [paragraph[number].text for number in sorted(ranked[:count])]
