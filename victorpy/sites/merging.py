"""Merge element nodes of different styles that are the same element (Yi, Liu and Li 2003, 3.6, first enhancement).

Two element nodes below the same parent are merged if their tags and display attributes are equal and their
characteristic features overlap by `lam`. These are the features below a node that at least `freq` of its pages have.
The nodes are of different styles, and no page has two styles of one element, so merging adds up different pages.
"""

from __future__ import annotations

from victorpy.sites.content import Content
from victorpy.sites.style_tree import ElementNode, StyleTree

FREQ = 0.85
LAM = 0.85

MOST_COMPARED = 500
"""Maximum number of children of an element that a child is compared with."""


def merge_alike(tree: StyleTree, freq: float = FREQ, lam: float = LAM) -> None:
    """Merge element nodes wherever it is possible, from the top down."""
    open_nodes = [tree.root]
    while open_nodes:
        element = open_nodes.pop()
        if len(element.styles) > 1:
            _merge_children(element, freq, lam)
        open_nodes += element.children()


def _merge_children(parent: ElementNode, freq: float, lam: float) -> None:
    features = {id(child): _characteristic(child, freq) for child in parent.children()}
    merged_into: dict[int, ElementNode] = {}
    different: dict[tuple[str, str], list[ElementNode]] = {}
    for child in list(parent.children()):
        candidates = different.setdefault((child.tag, child.display), [])
        theirs = features[id(child)]
        for first in candidates[:MOST_COMPARED]:
            if first.pages & child.pages:  # of the same style, or merged with a node of that style
                continue
            ours = features[id(first)]
            overlap = len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0
            if overlap >= lam:
                merge_element(first, child)
                features[id(first)] = _characteristic(first, freq)
                merged_into[id(child)] = first
                break
        else:
            candidates.append(child)
    for style in parent.styles.values():
        style.elements = [merged_into.get(id(element), element) for element in style.elements]


def _characteristic(element: ElementNode, freq: float) -> set[str]:
    """Return the characteristic features I of an element: the features of its leaves that enough pages have."""
    pages_with: dict[str, int] = {}
    for node in element.walk():
        if node.content is not None:
            for feature, (pages, _, _) in node.content.sums.items():
                pages_with[feature] = pages_with.get(feature, 0) | int(pages)
    least = freq * element.page_count
    return {feature for feature, pages in pages_with.items() if pages.bit_count() >= least}


def merge_element(first: ElementNode, second: ElementNode) -> None:
    """Merge the second element node into the first, with everything below."""
    first.pages |= second.pages
    for keys, theirs in second.styles.items():
        ours = first.styles.setdefault(keys, theirs)
        if ours is not theirs:
            ours.pages |= theirs.pages
            for our_element, their_element in zip(ours.elements, theirs.elements, strict=True):
                if our_element is not their_element:
                    merge_element(our_element, their_element)
    if second.content is not None:
        first.content = first.content or Content()
        first.content.merge(second.content)
