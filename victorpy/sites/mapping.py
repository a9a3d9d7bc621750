"""A page mapped to its site's style tree: which of its blocks are noise (Yi, Liu and Li 2003, 3.4, figure 7)."""

from __future__ import annotations

from typing import NamedTuple

from victorpy.document import Document
from victorpy.sites.content import BlockFeatures, Content
from victorpy.sites.importance import Judgement
from victorpy.sites.page_tree import PageNode
from victorpy.sites.style_tree import ElementNode, StyleTree

EPSILON = 0.01


class Place(NamedTuple):
    """How far down a block could be followed: the deepest element node around it, and whether it is the leaf."""

    element: ElementNode
    is_leaf: bool


def leaves_of_blocks(tree: StyleTree, document: Document) -> list[ElementNode | None]:
    """The element node that each block of a page lies in as in a leaf; None where the page has a style of its own."""
    return [place.element if place.is_leaf else None for place in places_of_blocks(tree, document)]


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
    groups = tree.groups(node)
    style = element.styles.get(tuple(group[0].key for group in groups))
    if style is not None:
        matched: list[ElementNode | None] = list(style.elements)
    else:  # a style that no page had before; elements that are told by name are known all the same
        matched = [element.known.get(group[0].key) for group in groups]
    return [(child, each) for child, group in zip(matched, groups, strict=True) for each in group]


def block_importances(
    tree: StyleTree, judgement: Judgement, document: Document, epsilon: float = EPSILON
) -> list[float]:
    """How important each block of a page is: as its leaf, or not at all if it is locally noisy there.

    Figure 7 stops at maximal noisy and meaningful nodes. A noisy one has only noisy leaves and a meaningful one none,
    so that it comes to the same to ask each block's leaf. A block in a style that the site does not have is possibly
    meaningful, unless what has the style is noisy: it is as important as the most important of all below that.
    """
    found = []
    features = BlockFeatures(document)
    for block, (element, is_leaf) in zip(document.blocks, places_of_blocks(tree, document), strict=True):
        if not is_leaf or element.content is None:
            found.append(judgement.of(element).highest)
        elif locally_noisy(element.content, features.of(block), epsilon):
            found.append(0.0)
        else:
            found.append(judgement.of(element).said)
    return found


def locally_noisy(content: Content, features: list[str], epsilon: float = EPSILON) -> bool:
    """Whether all features of a block are repeated by the pages at its place (3.6, the third enhancement).

    The paper drops features whose entropy by equation 5 is smaller than epsilon. By that equation a feature of one
    page alone has entropy 0 and one of all pages 1: it would drop what a page alone says. Its examples ("Home" in
    every page's path) are the others, so what is small must be the information, 1 - H. And as labels are of blocks,
    a block is dropped when all its features are.
    """
    return bool(features) and content.page_count > 1 and all(1 - content.entropy(each) < epsilon for each in features)
