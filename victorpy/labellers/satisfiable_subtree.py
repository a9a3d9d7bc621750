"""Satisfiable sub-trees: heuristics for one page.

X. Qi and J. Sun, Eliminating Noisy Information in Webpage through Heuristic Rules, section 3.2 and the pseudo code of
3.3.3. The sub-tree G generations above a text node is satisfiable if

1. a text node of its G-th generation has at least α characters,
2. SL_text, the characters of all its text nodes, are at least β, and SL_anchor, those in links, at most γ · SL_text.

Satisfiable sub-trees inside another one are ignored; the text of the others, SST_max, is the page's content. The text
node is of the G-th generation, so condition 1 holds if one of the text nodes that lead to a sub-tree has α characters.
If a text node has fewer than G ancestors, the page's root is used. An image's ``alt`` is not a text node. A block is
kept if at least half of its characters are in such a sub-tree.
"""

from __future__ import annotations

from dataclasses import dataclass

from victorpy.base.parameters import check_count, check_range
from victorpy.document import Document, Labelling
from victorpy.labellers.base import LABELLERS, PageLabeller, label_kept
from victorpy.page.tree import PageTree


@LABELLERS.register("satisfiable-subtree")
@dataclass(eq=False, repr=False)
class SatisfiableSubtree(PageLabeller):
    """Keeps the largest sub-trees with long text and few links."""

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
        inside = [text for root in self.largest(tree) for text in tree.text_ranges[root]]
        return label_kept(document, tree.blocks_with([text for text in inside if tree.texts[text].shown], 0.5))

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

    def largest(self, tree: PageTree) -> list[int]:
        """Return ROOT(SST_max): the satisfiable sub-trees that are in no other one."""
        return list(tree.topmost(self.satisfiable(tree)))
