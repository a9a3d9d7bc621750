"""Choose the abstract of a page and its relevant links (section 6, Web page integration)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from math import ceil, fsum
from typing import NamedTuple
from urllib.parse import urldefrag

from victorpy.base.language import primary
from victorpy.base.unicode import CLOSING, ENDS
from victorpy.base.words import icu_words
from victorpy.description.tag_tree import Node, TagTree, Thresholds, Type
from victorpy.description.terms import sentences, terms
from victorpy.description.weights import Vector, keywords, normalised, similarity
from victorpy.outputs.base import safe_link

SHARE = 0.35  # maximum share of a page's sentences in its abstract
_LEAST_WORDS = 5  # minimum words without numbers; shorter texts are headings, dates or measurements
_WITHOUT_FULL_STOPS = frozenset(["lo", "th"])
"""Languages without punctuation at the end of a sentence. In these, full stops only occur in abbreviations."""


class Sentence(NamedTuple):
    """A sentence and its words."""

    text: str
    words: list[str]


def abstract(tree: TagTree, vector: Vector, most_sentences: int, keyword_count: int, language: str = "") -> list[str]:
    """Return at most `most_sentences` (δ) sentences, chosen by the `keyword_count` (θ) heaviest keywords.

    Each paragraph contributes its sentences with the heaviest keywords, in proportion to its size. In the paper, 15
    sentences contain a third of the words of a page, so at most about a third of the sentences are chosen.
    """
    weights = {term: vector[term] for term in keywords(vector, keyword_count)}
    paragraphs: list[list[Sentence]] = []
    for texts in paragraph_texts(tree):
        split = [Sentence(sentence, icu_words(sentence)) for text in texts for sentence in sentences(text, language)]
        is_long = [sum(not word[0].isdigit() for word in sentence.words) >= _LEAST_WORDS for sentence in split]
        paragraphs.append([sentence for sentence, is_kept in zip(split, is_long, strict=True) if is_kept])
    if primary(language) not in _WITHOUT_FULL_STOPS:  # leave out headings and table rows, unless there is nothing else
        complete = [[s for s in paragraph if s.text.rstrip(CLOSING)[-1:] in ENDS] for paragraph in paragraphs]
        paragraphs = complete if any(complete) else paragraphs
    total = sum(map(len, paragraphs))
    sizes = [sum(len(sentence.words) for sentence in paragraph) for paragraph in paragraphs]
    counts = share_out(min(most_sentences, ceil(SHARE * total)), sizes)
    chosen = (heaviest(paragraph, count, weights) for paragraph, count in zip(paragraphs, counts, strict=True))
    return list(chain.from_iterable(chosen))


def topic_root(tree: TagTree) -> int:
    """Return the lowest node that contains all nodes with text, or -1 if there is no text."""
    with_text = [number for number, node in enumerate(tree.nodes) if node.texts]
    if not with_text:
        return -1
    # Nodes are in document order, so a node that contains the first and the last contains all of them.
    root, last = with_text[0], tree.nodes[with_text[-1]].element
    while tree.page.elements.stop[tree.nodes[root].element] <= last:
        root = tree.nodes[root].parent
    return root


def paragraph_texts(tree: TagTree) -> list[list[str]]:
    """Return the paragraphs below the topic root, each as a list of block texts.

    Every child of the root is a paragraph. Text directly in the root is a paragraph too, so that no text is lost.
    Preformatted text has no sentences and is left out, unless the page has no other text, as in old manuals.
    """
    root = topic_root(tree)
    if root < 0:
        return []
    node = tree.nodes[root]
    paragraphs = [[node], *(list(tree.inside(child)) for child in node.children)]
    with_text = [[inner for inner in paragraph if inner.texts] for paragraph in paragraphs]
    tags = tree.page.elements.tag
    prose = [[inner for inner in paragraph if tags[inner.element] != "pre"] for paragraph in with_text]
    chosen = prose if any(prose) else with_text
    return [[tree.text(inner.texts) for inner in paragraph] for paragraph in chosen if paragraph]


def share_out(count: int, sizes: Sequence[int]) -> list[int]:
    """Distribute a count in proportion to sizes. The rest goes to the largest remainders.

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
    """Return the `count` sentences with the heaviest keywords, in their original order. Each keyword counts once."""
    # fsum is exact, so the result does not depend on the order of the set.
    totals = [fsum(weights.get(word, 0.0) for word in set(sentence.words)) for sentence in paragraph]
    ranked = sorted(range(len(paragraph)), key=lambda number: (-totals[number], number))
    return [paragraph[number].text for number in sorted(ranked[:count])]


class Link(NamedTuple):
    """The address and text of a link or an image."""

    url: str
    text: str


def relevant_links(whole: TagTree, content: TagTree, topic: Vector, beta: float, language: str = "") -> list[Link]:
    """Return the links of hub blocks whose text is similar to the content.

    `whole` is the tree of the page, and `content` the tree of its kept blocks. Blocks with kept text are left out. So
    are menus, because a shop's menu names the topics of all its pages.
    """
    accepted = []
    for node, kept, is_menu in zip(whole.nodes, content.nodes, whole.in_menu, strict=True):
        if not node.children and not kept.texts and not is_menu and node.type(Thresholds()) is Type.HUB:
            counts = Counter(terms(whole.text(node.texts), language))
            if similarity(topic, normalised(counts)) > beta:
                accepted.append(node)
    return node_links(whole, accepted)


def node_links(tree: TagTree, nodes: Iterable[Node]) -> list[Link]:
    """Return the distinct links of some blocks, except links to the page itself and links without text."""
    elements, document = tree.page.elements, tree.page.document
    base = document.base_url
    link_of = elements.innermost(["a"])
    link_texts: dict[int, list[str]] = {}
    for text in tree.page.texts:
        if text.shown and text.text and link_of[text.element] >= 0:
            link_texts.setdefault(link_of[text.element], []).append(text.text)
    links: dict[str, Link] = {}
    for element in (element for node in nodes for element in node.links):
        url = safe_link(elements.attributes[element]["href"], base)
        link_text = " ".join(" ".join(link_texts.get(element, [])).split())
        is_same_page = urldefrag(url).url in {"", urldefrag(document.url).url, urldefrag(base).url}
        if link_text and url and not is_same_page:
            links.setdefault(url, Link(url, link_text))
    return list(links.values())


def node_images(tree: TagTree, nodes: Iterable[Node]) -> list[Link]:
    """Return the distinct images of some blocks, with their alt texts."""
    images: dict[str, Link] = {}
    for attributes in (tree.page.elements.attributes[element] for node in nodes for element in node.images):
        url = safe_link(attributes.get("src", ""), tree.page.document.base_url)
        if url:
            images.setdefault(url, Link(url, attributes.get("alt", "").strip()))
    return list(images.values())
