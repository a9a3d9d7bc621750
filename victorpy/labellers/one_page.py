"""Methods that see only a single page: everything, the longest run of text, satisfiable sub-trees, and DocView.

A block is kept if at least half of its characters are in the text that the method chooses. The ``alt`` of an image does
not count as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from victorpy.base.parameters import check_count, check_range
from victorpy.base.unicode import count_words
from victorpy.description.tag_tree import TagTree, Thresholds, Type
from victorpy.document import Document, Labelling
from victorpy.labellers.base import LABELLERS, PageLabeller, label_kept
from victorpy.page.tree import PageTree


@LABELLERS.register("everything")
class KeepEverything(PageLabeller):
    """Keeps every block of a page."""  # the baseline that every method must beat

    def label(self, document: Document) -> Labelling:
        return label_kept(document, [True] * len(document.blocks))


@LABELLERS.register("longest-run")
class LongestRun(PageLabeller):
    """Keeps the run of text with most words and fewest tags.

    The idea of the Body Text Extractor (A. Finn, N. Kushmerick and B. Smyth, Fact or fiction: content classification
    for digital libraries, 2001). A page is a sequence of words and tags. Its content is the run from i to j with the
    most words inside and the most tags outside:

        words in [i, j]  +  tags before i  +  tags after j

    The total number of tags is constant, so this is the run with the highest number of words minus tags.
    """

    def label(self, document: Document) -> Labelling:
        tree = PageTree(document)
        words = count_words([text.text if text.shown else "" for text in tree.texts])
        best = best_run(words, [len(text.tags) for text in tree.texts])
        return label_kept(document, tree.blocks_with([number for number in best if tree.texts[number].shown], 0.5))


def best_run(words: Sequence[float], tags: Sequence[int]) -> range:
    """Return the run of texts with the highest number of words minus tags, given the tags before each text.

    >>> best_run([1, 9, 8, 1], [3, 4, 2, 5])
    range(1, 3)
    """
    best_score, best = 0.0, range(0)
    score, start = 0.0, 0
    for number, (gained, lost) in enumerate(zip(words, tags, strict=True)):
        score -= lost
        if score <= 0:
            score, start = 0.0, number
        score += gained
        if score > best_score:
            best_score, best = score, range(start, number + 1)
    return best


@LABELLERS.register("satisfiable-subtree")
@dataclass(eq=False, repr=False)
class SatisfiableSubtree(PageLabeller):
    """Keeps the largest sub-trees with long text and few links.

    X. Qi and J. Sun, Eliminating Noisy Information in Webpage through Heuristic Rules, section 3.2 and the pseudo code
    of 3.3.3. The sub-tree G generations above a text node is satisfiable if

    1. a text node of its G-th generation has at least α characters,
    2. SL_text, the characters of all its text nodes, is at least β, and
    3. SL_anchor, the characters in links, is at most γ · SL_text.

    The largest satisfiable sub-trees, SST_max, are the page's content. If a text node has fewer than G ancestors, the
    page's root is used.
    """

    G: int = 2
    alpha: int = 40
    beta: int = 100
    gamma: float = 0.3

    def __post_init__(self) -> None:
        check_count("satisfiable-subtree", 1, G=self.G)
        check_count("satisfiable-subtree", 0, alpha=self.alpha, beta=self.beta)
        check_range("satisfiable-subtree", 0, 1, gamma=self.gamma)

    def label(self, document: Document) -> Labelling:
        tree = PageTree(document)
        largest = tree.topmost(self.satisfiable(tree))  # ROOT(SST_max)
        inside = [text for root in largest for text in tree.text_ranges[root] if tree.texts[text].shown]
        return label_kept(document, tree.blocks_with(inside, 0.5))

    def satisfiable(self, tree: PageTree) -> list[bool]:
        """Return ROOT(SST): whether each element is the root of a satisfiable sub-tree."""
        lengths = [len(text.text) if text.shown else 0 for text in tree.texts]
        anchors = [length if is_link else 0 for length, is_link in zip(lengths, tree.in_link, strict=True)]
        all_text, all_anchors = tree.totals(lengths), tree.totals(anchors)
        is_root = [False] * len(tree.elements)
        for text in tree.texts:
            if text.shown and len(text.text) >= self.alpha:
                root = tree.ancestor(text.element, self.G - 1)
                is_root[root] = all_text[root] >= self.beta and all_anchors[root] <= self.gamma * all_text[root]
        return is_root


@LABELLERS.register("docview")
@dataclass(eq=False, repr=False)
class DocViewCleaner(PageLabeller):
    """Keeps blocks of text, or blocks of links and images if the page consists of them.

    Z. Zhang, J. Chen and X. Li, A Preprocessing Framework and Approach for Web Applications, 2004, sections 3.1 and 4.
    The method keeps the topic nodes of a topic page (with `central=True` only in its central area), the central area of
    a hub page, and the image nodes of an image page with the topic nodes beside them. The paper gives no thresholds.
    They were chosen with `python -m benchmarks.docview`.
    """

    hub: float = Thresholds().hub
    image: float = Thresholds().image
    page_hub: float = Thresholds().page_hub
    page_image: float = Thresholds().page_image
    central: bool = False

    def __post_init__(self) -> None:
        check_range("docview", 0, 1, hub=self.hub, page_hub=self.page_hub, page_image=self.page_image)
        check_range("docview", 0, image=self.image)

    def label(self, document: Document) -> Labelling:
        tree = TagTree(document)
        pairs = zip(tree.nodes, self.kept_nodes(tree), strict=True)
        kept = [text for node, is_kept in pairs if is_kept for text in node.texts]
        return label_kept(document, tree.page.blocks_with(kept, 0.5))

    def kept_nodes(self, tree: TagTree) -> list[bool]:
        """Return which nodes to keep on a page of this type."""
        thresholds = Thresholds(self.hub, self.image, self.page_hub, self.page_image)
        types = [node.type(thresholds) for node in tree.nodes]
        match tree.page_type(thresholds):
            case Type.HUB:
                return tree.central
            case Type.IMAGE:
                nodes = list(zip(tree.nodes, types, strict=True))
                parents = {node.parent for node, kind in nodes if kind is Type.IMAGE}
                return [kind is Type.IMAGE or (kind is Type.TOPIC and node.parent in parents) for node, kind in nodes]
            case _:
                pairs = zip(types, tree.central, strict=True)
                return [kind is Type.TOPIC and (is_central or not self.central) for kind, is_central in pairs]
