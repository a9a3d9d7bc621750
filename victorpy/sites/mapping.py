"""A page mapped to its site's style tree: which of its blocks are noise (Yi, Liu and Li 2003, 3.4, figure 7)."""

from __future__ import annotations

from victorpy.document import Block, Document
from victorpy.sites.content import link_features, words
from victorpy.sites.importance import Judgement
from victorpy.sites.page_tree import PageNode
from victorpy.sites.style_tree import ElementNode, StyleTree


def leaves_of_blocks(tree: StyleTree, document: Document) -> list[ElementNode | None]:
    """The element node that each block of a page lies in as in a leaf; None where the page has a style of its own."""
    found: list[ElementNode | None] = [None] * len(document.blocks)
    open_nodes: list[tuple[ElementNode, PageNode]] = [(tree.root, tree.page(document))]
    while open_nodes:
        element, node = open_nodes.pop()
        for block in node.blocks:
            found[block] = element
        open_nodes += _matching(tree, element, node)
    return found


def _matching(tree: StyleTree, element: ElementNode, node: PageNode) -> list[tuple[ElementNode, PageNode]]:
    """The children of a page's node with the element nodes that they match."""
    if tree.styles == "paper":
        style = element.styles.get(tuple(child.key for child in node.children))
        return [] if style is None else list(zip(style.elements, node.children, strict=True))
    # Elements that are told apart by name are known even in a style that no page had before.
    pairs = [(element.known.get(child.key), child) for child in node.children]
    return [(known, child) for known, child in pairs if known is not None]


def block_importances(tree: StyleTree, judgement: Judgement, document: Document) -> list[float]:
    """How important each block of a page is: as its leaf, or not at all if the pages repeat all of it there.

    Figure 7 stops at maximal noisy and meaningful nodes. A noisy one has only noisy leaves and a meaningful one none,
    so that it comes to the same to ask each block's leaf. A block in a style that the site does not have is possibly
    meaningful, and wholly important.
    """
    found = []
    for block, leaf in zip(document.blocks, leaves_of_blocks(tree, document), strict=True):
        if leaf is None or leaf.content is None:
            found.append(1.0)
        else:
            judged = judgement.of(leaf)
            found.append(0.0 if _repeats(document, block, judged.repeated) else judged.said)
    return found


def _repeats(document: Document, block: Block, repeated: frozenset[str]) -> bool:
    """Whether all features of a block are among those that the pages repeat."""
    return (
        bool(repeated)
        and repeated.issuperset(words(block.text))
        and repeated.issuperset(link_features(document, block))
    )
