"""A page mapped to its site's style tree: which of its blocks are noise (Yi, Liu and Li 2003, 3.4, figure 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from victorpy.document import Block, Document
from victorpy.sites.content import link_features, words
from victorpy.sites.importance import Judgement
from victorpy.sites.page_tree import PageNode
from victorpy.sites.style_tree import ElementNode, StyleTree


class Place(NamedTuple):
    """How far down a block could be followed: the deepest element node around it, and whether it is the leaf."""

    element: ElementNode
    is_leaf: bool

    @property
    def leaf(self) -> ElementNode | None:
        """The element node where it is the block's leaf."""
        return self.element if self.is_leaf else None


def leaves_of_blocks(tree: StyleTree, document: Document) -> list[ElementNode | None]:
    """The element node that each block of a page lies in as in a leaf; None where the page has a style of its own."""
    return [place.leaf for place in places_of_blocks(tree, document)]


def places_of_blocks(tree: StyleTree, document: Document) -> list[Place]:
    """Follow a page down the tree; where its style is not known, its blocks stay at the element that has it."""
    found = [Place(tree.root, is_leaf=False)] * len(document.blocks)
    open_nodes: list[tuple[ElementNode, PageNode]] = [(tree.root, tree.page(document))]
    while open_nodes:
        element, node = open_nodes.pop()
        for block in node.blocks:
            found[block] = Place(element, is_leaf=True)
        for child, below in _matching(tree, element, node):
            if child is not None:
                open_nodes.append((child, below))
                continue
            for block in (block for leaf in below.leaves() for block in leaf.blocks):
                found[block] = Place(element, is_leaf=False)
    return found


def _matching(tree: StyleTree, element: ElementNode, node: PageNode) -> list[tuple[ElementNode | None, PageNode]]:
    """The children of a page's node with the element nodes that they match, None where there is none."""
    if tree.aligned:  # elements that are told apart by name are known even in a style that no page had before
        found = tree.find(element, [child.key for child in node.children])
        return list(zip(found, node.children, strict=True))
    style = element.styles.get(tuple(child.key for child in node.children))
    matched = [None] * len(node.children) if style is None else style.elements
    return list(zip(matched, node.children, strict=True))


def block_importances(
    tree: StyleTree, judgement: Judgement, document: Document, places: Sequence[Place] | None = None
) -> list[float]:
    """How important each block of a page is: as its leaf, or not at all if the pages repeat all of it there.

    Figure 7 stops at maximal noisy and meaningful nodes. A noisy one has only noisy leaves and a meaningful one none,
    so that it comes to the same to ask each block's leaf. A block in a style that the site does not have is possibly
    meaningful, unless what has the style is noisy: it is as important as the most important of all below that.
    """
    found = []
    places = places_of_blocks(tree, document) if places is None else places
    for block, (element, is_leaf) in zip(document.blocks, places, strict=True):
        judged = judgement.of(element)
        if not is_leaf or element.content is None:
            found.append(judged.highest)
        else:
            found.append(0.0 if _repeats(document, block, judged.repeated) else judged.said)
    return found


def _repeats(document: Document, block: Block, repeated: frozenset[str]) -> bool:
    """Whether nothing of a block is left when features that pages repeat are not output (3.6, the third enhancement).

    What is output is text: the same words are noise although they link to another target on each page ("Share").
    """
    if not repeated:
        return False
    said = words(block.text) or link_features(document, block)
    return bool(said) and repeated.issuperset(said)
