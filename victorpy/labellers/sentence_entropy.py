"""Sentences that a site repeats, found by entropy on its style tree (sst-sentence-entropy, sections 3 and 4).

At each node of the site's tree a word has an entropy over the pages (equations 2 to 4): 1 where all pages have it
alike, 0 where one has it alone. A sentence's is the mean of its words' (equation 5). The text says that sentences
above the threshold are redundant (4.4) and, a section on, that those above it are informative (4.5). By the equations
it must be the first: what every page says has the entropy 1. So a sentence is noise when its entropy is higher
than T, and a higher T keeps more, as 4.4 says of recall.

T is chosen for each node from the labels of a few pages, from 0 to 1 by 0.1, and fixed where there are none. A block
is noise when most of its words are in noisy sentences. Words that are found all over the site's tree say nothing,
in any language, and are left out as stop words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

from victorpy.document import Block, Document, Label, Labelling
from victorpy.errors import VictorError
from victorpy.labellers.base import LABELLERS, Labels, SiteLabeller
from victorpy.labellers.kinds import label_kept
from victorpy.labellers.site_style_tree import SAMPLE
from victorpy.labellers.tuning import Example, add_pages
from victorpy.settings import check_range
from victorpy.sites.content import Content, words
from victorpy.sites.mapping import leaves_of_blocks
from victorpy.sites.segments import SegmentTree
from victorpy.sites.style_tree import ElementNode, StyleTree

THRESHOLDS = tuple(step / 10 for step in range(11))
FEWEST_PLACES = 5
_SENTENCE_END = re.compile(r"(?<=[.!?؟।])\s+|(?<=[。！？])\s*")


class Sentence(NamedTuple):
    """A sentence of a block: its entropy and how many words it has."""

    entropy: float
    words: int


@LABELLERS.register("sentence-entropy")
class SentenceEntropy(SiteLabeller):
    """Drops blocks whose sentences the pages of a site repeat at the same place."""

    @property
    def tunes(self) -> bool:
        """Labels choose its thresholds."""
        return True

    def __init__(self, T: float = 0.9, stop_share: float = 0.2, styles: str = "modern", sample: int = SAMPLE) -> None:  # noqa: N803
        self.T = T
        self.stop_share = stop_share
        self.styles = styles
        self.sample = sample
        self.tree_: SegmentTree | None = None
        self.stop_words_: frozenset[str] = frozenset()
        self.thresholds_: dict[int, float] = {}
        """The threshold of each node that labels say something of."""

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Build the tree from at most `sample` pages; those with labels choose the thresholds."""
        check_range("sentence-entropy", -1, 1, T=self.T)  # below 0 everything is noise
        check_range("sentence-entropy", 0, stop_share=self.stop_share)
        tree = SegmentTree(self.styles)
        examples = add_pages(tree, documents, labels, self.sample)
        if not tree.page_count:
            raise VictorError("sentence-entropy learns from the pages of a site: there are none")
        self.tree_ = tree
        self.stop_words_ = stop_words(tree, self.stop_share)
        self.thresholds_ = self._choose(examples)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Pickle thresholds with the nodes themselves: in another process their ids are others."""
        nodes = {id(node): node for node in self.tree_.root.walk()} if self.tree_ is not None else {}
        kept = [(nodes[number], threshold) for number, threshold in self.thresholds_.items()]
        return {**self.__dict__, "thresholds_": kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Know the nodes by their ids again."""
        self.__dict__.update(state)
        self.thresholds_ = {id(node): threshold for node, threshold in state["thresholds_"]}

    def label(self, document: Document) -> Labelling:
        """Keep the blocks that say something of their own."""
        kept = []
        for block, leaf in zip(document.blocks, self._leaves(document), strict=True):
            if leaf is None or leaf.content is None:
                kept.append(True)
            else:
                threshold = self.thresholds_.get(id(leaf), self.T)
                kept.append(is_informative(self.sentences(block, leaf.content), threshold))
        return label_kept(document, kept)

    def sentences(self, block: Block, content: Content) -> list[Sentence]:
        """The sentences of a block, where the words stand in what the pages say there."""
        found = []
        for text in filter(None, _SENTENCE_END.split(block.text)):
            all_words = words(text)
            features = [word for word in all_words if word not in self.stop_words_] or all_words
            if features:
                entropy = sum(map(content.entropy, features)) / len(features)
                found.append(Sentence(entropy, len(all_words)))
        return found

    def _leaves(self, document: Document) -> list[ElementNode | None]:
        if self.tree_ is None:
            raise VictorError("this SentenceEntropy has seen no pages of the site: call fit() with some")
        return leaves_of_blocks(self.tree_, document)

    def _choose(self, examples: Sequence[Example]) -> dict[int, float]:
        """For each node the threshold with the highest F on the sentences of the examples there."""
        seen: dict[int, list[tuple[Sentence, bool]]] = defaultdict(list)
        for document, labels in examples:
            for block, leaf, label in zip(document.blocks, self._leaves(document), labels, strict=True):
                if leaf is not None and leaf.content is not None:
                    wanted = Label(label).is_content
                    seen[id(leaf)] += [(sentence, wanted) for sentence in self.sentences(block, leaf.content)]
        return {node: best_threshold(sentences) for node, sentences in seen.items() if sentences}


def is_informative(sentences: Sequence[Sentence], threshold: float) -> bool:
    """Whether at least half of a block's words are in sentences that are not redundant."""
    informative = sum(sentence.words for sentence in sentences if sentence.entropy <= threshold)
    return 2 * informative >= sum(sentence.words for sentence in sentences)


def best_threshold(sentences: Sequence[tuple[Sentence, bool]]) -> float:
    """The T of 0, 0.1 ... 1 with the highest F1 of informative sentences by words; where none is, T is -1."""
    if not any(wanted for _, wanted in sentences):
        return -1.0
    return max(THRESHOLDS, key=lambda threshold: (_f1(sentences, threshold), threshold))


def _f1(sentences: Sequence[tuple[Sentence, bool]], threshold: float) -> float:
    kept = [(sentence.words, wanted) for sentence, wanted in sentences if sentence.entropy <= threshold]
    right = sum(count for count, wanted in kept if wanted)
    total = sum(count for count, _ in kept) + sum(sentence.words for sentence, wanted in sentences if wanted)
    return 2 * right / total if total else 0.0


def stop_words(tree: StyleTree, share: float) -> frozenset[str]:
    """The words that are found at so many of the places of a site: menus have their words in one or two."""
    places: Counter[str] = Counter()
    leaves = [node.content for node in {id(node): node for node in tree.root.walk()}.values() if node.content]
    for content in leaves:
        places.update(content.sums.keys())
    return frozenset(word for word, count in places.items() if count >= max(share * len(leaves), FEWEST_PLACES))
