"""A page mapped to its site's style tree: which of its blocks are noise (Yi, Liu and Li 2003, 3.4, figure 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from victorpy.base.words import simple_words
from victorpy.document import Block, Document
from victorpy.sites.content import link_features
from victorpy.sites.importance import Judgement
from victorpy.sites.page_tree import PageNode
from victorpy.sites.style_tree import ElementNode, StyleTree


class Place(NamedTuple):
    """How far down a block can be followed: the deepest element node around it, and whether it is the leaf."""

    element: ElementNode
    is_leaf: bool

    @property
    def leaf(self) -> ElementNode | None:
        """The element node, if it is the block's leaf."""
        return self.element if self.is_leaf else None


def leaves_of_blocks(tree: StyleTree, document: Document) -> list[ElementNode | None]:
    """Return the leaf of each block of a page; None where the page has a style of its own."""
    return [place.leaf for place in places_of_blocks(tree, document)]


def places_of_blocks(tree: StyleTree, document: Document) -> list[Place]:
    """Follow a page down the tree. Below a style that is not in the tree, blocks stay at the element that has it."""
    places = [Place(tree.root, is_leaf=False)] * len(document.blocks)
    open_nodes: list[tuple[ElementNode, PageNode]] = [(tree.root, tree.page(document))]
    while open_nodes:
        element, node = open_nodes.pop()
        for block in node.blocks:
            places[block] = Place(element, is_leaf=True)
        keys = [child.key for child in node.children]
        if tree.aligned:  # elements that have names are found even in a style that no other page has
            matches = tree.find(element, keys)
        else:
            style = element.styles.get(tuple(keys))
            matches = [None] * len(keys) if style is None else [*style.elements]
        for match, child in zip(matches, node.children, strict=True):
            if match is not None:
                open_nodes.append((match, child))
                continue
            for block in (block for leaf in child.leaves() for block in leaf.blocks):
                places[block] = Place(element, is_leaf=False)
    return places


def block_importances(
    tree: StyleTree, judgement: Judgement, document: Document, places: Sequence[Place] | None = None
) -> list[float]:
    """Return how important each block of a page is: as its leaf, or 0 if the pages repeat all of it there.

    Figure 7 stops at maximal noisy and meaningful nodes. All leaves of a noisy node are noisy, and none of a
    meaningful one, so that asking each block's leaf gives the same result. A block in a style that the site does not
    have is possibly meaningful, unless the element with that style is noisy. So it is as important as the most
    important node there.
    """
    importances = []
    places = places_of_blocks(tree, document) if places is None else places
    for block, (element, is_leaf) in zip(document.blocks, places, strict=True):
        judged = judgement.of(element)
        if not is_leaf or element.content is None:
            importances.append(judged.highest)
        else:
            importances.append(0.0 if _repeats(document, block, judged.repeated) else judged.said)
    return importances


def _repeats(document: Document, block: Block, repeated: frozenset[str]) -> bool:
    """Whether nothing of a block is left when features that pages repeat are not output (3.6, the third enhancement).

    Only text is output: the same words are noise even if they link to another target on each page ("Share").
    """
    if not repeated:
        return False
    features = simple_words(block.text) or link_features(document, block)
    return bool(features) and repeated.issuperset(features)
