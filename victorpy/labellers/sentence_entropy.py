"""Find sentences that a site repeats by their entropy on its style tree (sst-sentence-entropy, sections 3 and 4).

Pages are trees of segments (3.1 and 3.2): from the leaves up, siblings that are all leaves with the same tag become
one, and a node with a single child takes over the child's content. The site's tree is built from these page trees.

At each node of the site's tree a word has an entropy over the pages (equations 2 to 4): 1 if the pages have it equally
often, 0 if only one page has it. A sentence's entropy is the mean entropy of its words (equation 5). The paper says
that sentences above the threshold are redundant (4.4) and, one section later, that they are informative (4.5). The
first must be right, since a sentence on every page has entropy 1 by the equations. So a sentence is noise if its
entropy is higher than T, and recall rises with T, as in 4.4.

For each node with labelled sentences, T is chosen from 0 to 1 in steps of 0.1. If all labelled sentences of a node are
noise, the node is noise. Without any labels, one T is chosen for the whole site from guessed labels, as for `sst`.
Words that occur at many places of the site's tree are ignored as stop words, in any language.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Self

from victorpy.base.parameters import AUTO, check_range
from victorpy.base.words import simple_words
from victorpy.document import Block, Document, Label, Labelling, Spans
from victorpy.labellers.base import LABELLERS, Labels, SiteLabeller, label_kept, no_pages, not_fitted
from victorpy.labellers.site_style_tree import Example, Guess, add_pages, guess_labels
from victorpy.labellers.spans import SENTENCE_END, join_kept, split_text
from victorpy.sites.content import Content
from victorpy.sites.grouping import SAMPLE
from victorpy.sites.importance import places_of_blocks
from victorpy.sites.page_tree import PageNode, page_tree
from victorpy.sites.style_tree import ElementNode, StyleTree

THRESHOLDS = tuple(step / 10 for step in range(11))
CAUTIOUS = 0.9  # threshold for nodes without labels, and for sites without running text

FEWEST_PLACES = 5


class Sentence(NamedTuple):
    """A sentence of a block: its entropy, its number of words, and its position in the block's text."""

    entropy: float
    words: int
    start: int = 0
    stop: int = 0


Labelled = tuple[Sentence, bool]  # a sentence, and whether it is content


class SegmentTree(StyleTree):
    """A style tree of segments, with one node for each combination of tag and attributes."""

    @property
    def aligned(self) -> bool:
        """Always true: the paper ignores the order of children."""
        return True

    def page(self, document: Document) -> PageNode:
        root = page_tree(document, self.styles, virtual_leaves=False)
        for child in root.children:
            merge_segments(child)
        return root


def merge_segments(node: PageNode) -> None:
    """Merge equal leaves, and single children into their parents, from the bottom up.

    Leaves are equal if they have the same tag and attributes, as in the site's tree. If only tags were compared, pages
    of nested divisions would become a single segment.
    """
    for child in node.children:
        merge_segments(child)
    children = node.children
    are_leaves = not any(child.children for child in children)
    if len(children) > 1 and are_leaves and len({child.key for child in children}) == 1:
        joined = PageNode(children[0].key, [block for leaf in children for block in leaf.blocks])
        joined.images = [image for leaf in children for image in leaf.images]
        node.children = [joined]
    if len(node.children) == 1:
        only = node.children[0]
        node.blocks += only.blocks
        node.images += only.images
        node.children = only.children


@LABELLERS.register("sentence-entropy")
@dataclass(eq=False, repr=False)
class SentenceEntropy(SiteLabeller):
    """Drops sentences that the pages of a site repeat in the same place."""

    T: float | Literal["auto"] = AUTO
    stop_share: float = 0.2
    styles: str = "modern"
    sample: int = SAMPLE
    tree_: SegmentTree | None = field(default=None, init=False)
    stop_words_: frozenset[str] = field(default=frozenset(), init=False)
    thresholds_: dict[ElementNode, float | None] = field(default_factory=dict, init=False)
    """Threshold of each node with labels, or None if the node is noise."""
    threshold_: float = field(default=0.0, init=False)  # the threshold of all other nodes
    guess_: Guess | None = field(default=None, init=False)
    reason_: str = field(default="", init=False)  # how `threshold_` was chosen

    @property
    def tunes(self) -> bool:
        return True

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Build the tree from at most `sample` pages, and choose thresholds by the labelled pages."""
        if self.T != AUTO:
            check_range("sentence-entropy", -1, 1, T=self.T)  # with T below 0, everything is noise
        check_range("sentence-entropy", 0, stop_share=self.stop_share)
        tree = SegmentTree(self.styles)
        examples, pages = add_pages(tree, documents, labels, self.sample)
        if not tree.page_count:
            raise no_pages("sentence-entropy")
        self.tree_ = tree
        self.stop_words_ = stop_words(tree, self.stop_share)
        by_node: dict[ElementNode, list[Labelled]] = defaultdict(list)
        for leaf, sentence in self._labelled_sentences(examples):
            by_node[leaf].append(sentence)
        self.thresholds_ = {node: best_threshold(sentences) for node, sentences in by_node.items()}
        if self.T != AUTO:
            self.threshold_, self.reason_ = self.T, "set by the parameter"
        elif examples:
            self.threshold_, self.reason_ = CAUTIOUS, "cautious at places without labels"
        else:
            guessed = [[pair for _, pair in self._labelled_sentences([page])] for page in guess_labels(pages)]
            f1s = [sum(sentence_f1(page, threshold) for page in guessed) / len(pages) for threshold in THRESHOLDS]
            self.guess_ = Guess.of(THRESHOLDS, f1s, CAUTIOUS)
            self.threshold_, self.reason_ = self.guess_.choose()
        return self

    def label(self, document: Document) -> Labelling:
        kept = [True] * len(document.blocks)
        spans: list[Spans | None] = [None] * len(document.blocks)
        for block, leaf in zip(document.blocks, self._leaves(document), strict=True):
            if leaf is not None and leaf.content is not None:
                sentences = self.sentences(block, leaf.content)
                threshold = self.thresholds_.get(leaf, self.threshold_)
                informative = [threshold is not None and sentence.entropy <= threshold for sentence in sentences]
                kept[block.index] = any(informative) or not sentences
                if kept[block.index] and not block.preformatted:
                    stretches = [(sentence.start, sentence.stop) for sentence in sentences]
                    spans[block.index] = join_kept(block.text, stretches, informative)
        return label_kept(document, kept, spans)

    def sentences(self, block: Block, content: Content) -> list[Sentence]:
        """Return the sentences of a block at a place with the given content."""
        sentences = []
        for start, stop in split_text(block.text, SENTENCE_END):
            all_words = simple_words(block.text[start:stop])
            features = [word for word in all_words if word not in self.stop_words_] or all_words
            if features:
                entropy = sum(map(content.entropy, features)) / len(features)
                sentences.append(Sentence(entropy, len(all_words), start, stop))
        return sentences

    def _leaves(self, document: Document) -> list[ElementNode | None]:
        if self.tree_ is None:
            raise not_fitted(self)
        return [place.leaf for place in places_of_blocks(self.tree_, document)]

    def _labelled_sentences(self, examples: Sequence[Example]) -> Iterator[tuple[ElementNode, Labelled]]:
        for document, labels in examples:
            for block, leaf, label in zip(document.blocks, self._leaves(document), labels, strict=True):
                if leaf is not None and leaf.content is not None:
                    for sentence in self.sentences(block, leaf.content):
                        yield leaf, (sentence, Label(label).is_content)


def best_threshold(sentences: Sequence[Labelled]) -> float | None:
    """Return the T from 0, 0.1 ... 1 with the highest word F1 of the kept sentences. If several are equal, the highest.

    Returns None if no sentence is content, since F1 is then 0 for every T.
    """
    if not any(is_content for _, is_content in sentences):
        return None
    return max(THRESHOLDS, key=lambda threshold: (sentence_f1(sentences, threshold), threshold))


def sentence_f1(sentences: Sequence[Labelled], threshold: float) -> float:
    """Return the word F1 of the sentences that a threshold keeps; 0 if no sentence is content."""
    content_words = sum(sentence.words for sentence, is_content in sentences if is_content)
    kept = [(sentence.words, is_content) for sentence, is_content in sentences if sentence.entropy <= threshold]
    right = sum(count for count, is_content in kept if is_content)
    total = sum(count for count, _ in kept) + content_words
    return 2 * right / total if total else 0.0


def stop_words(tree: StyleTree, share: float) -> frozenset[str]:
    """Return the words that occur at this share of a site's places, or at more.

    Menu words occur at only one or two places.
    """
    places: Counter[str] = Counter()
    leaves = [node.content for node in set(tree.root.walk()) if node.content]
    for content in leaves:
        places.update(content.sums.keys())
    return frozenset(word for word, count in places.items() if count >= max(share * len(leaves), FEWEST_PLACES))
