"""Map a page to its site's style tree to find its noise (Yi, Liu and Li 2003, 3.4, figure 7)."""

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
    """The deepest element node around a block that is in the tree, and whether it is the block's leaf."""

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
    """Find the places of a page's blocks. Blocks in an unknown style stay at the element with that style."""
    places = [Place(tree.root, is_leaf=False)] * len(document.blocks)
    open_nodes: list[tuple[ElementNode, PageNode]] = [(tree.root, tree.page(document))]
    while open_nodes:
        element, node = open_nodes.pop()
        for block in node.blocks:
            places[block] = Place(element, is_leaf=True)
        keys = [child.key for child in node.children]
        if tree.aligned:  # elements with names are found even in a style that no other page has
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
    """Return the importance of each block of a page: that of its leaf, or 0 if the pages repeat all of it there.

    Figure 7 stops at maximal noisy and meaningful nodes. All leaves of a noisy node are noisy, and no leaf of a
    meaningful node is, so the leaf of each block gives the same result. A block in a style that the site does not have
    may be meaningful, unless the element with that style is noisy. So it is as important as the most important node
    there.
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
    """Whether a block has only features that pages repeat (3.6, the third enhancement).

    Words count first: the same words are noise even if each page links them to another target ("Share").
    """
    if not repeated:
        return False
    features = simple_words(block.text) or link_features(document, block)
    return bool(features) and repeated.issuperset(features)
