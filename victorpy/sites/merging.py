"""Element nodes of different styles that are the same element (Yi, Liu and Li 2003, 3.6, the first enhancement).

Two element nodes below the same parent are merged when their tags and display attributes are equal and the
characteristic features of what pages say below them, those that at least `freq` of their pages have, overlap by
`lam`. They are of different styles, and no page has two styles of one element, so that merging adds up what different
pages said.
"""

from __future__ import annotations

from victorpy.sites.content import Content
from victorpy.sites.style_tree import ElementNode, StyleNode, StyleTree

FREQ = 0.85
LAM = 0.85

MOST_COMPARED = 500
"""Of the children of one element so many are compared with the others."""


def merge_alike(tree: StyleTree, freq: float = FREQ, lam: float = LAM) -> None:
    """Merge element nodes wherever it is possible, from the top down."""
    open_nodes = [tree.root]
    while open_nodes:
        element = open_nodes.pop()
        if len(element.styles) > 1:
            _merge_children(element, freq, lam)
        open_nodes += element.children()


def _merge_children(parent: ElementNode, freq: float, lam: float) -> None:
    characters = {id(child): _character(child, freq) for child in parent.children()}
    same: dict[int, ElementNode] = {}
    firsts: dict[tuple[str, str], list[ElementNode]] = {}
    for child in list(parent.children()):
        known = firsts.setdefault((child.tag, child.display), [])
        for first in known[:MOST_COMPARED]:
            if first.pages & child.pages:  # of the same style, or merged with one that is
                continue
            if _overlap(characters[id(first)], characters[id(child)]) >= lam:
                merge_element(first, child)
                characters[id(first)] = _character(first, freq)
                same[id(child)] = first
                break
        else:
            known.append(child)
    for style in parent.styles.values():
        style.elements = [same.get(id(element), element) for element in style.elements]


def _overlap(first: set[str], second: set[str]) -> float:
    return len(first & second) / len(first | second) if first and second else 0.0


def _character(element: ElementNode, freq: float) -> set[str]:
    """The characteristic features I of an element."""
    least = freq * element.page_count
    return {feature for feature, pages in _said_below(element).items() if pages.bit_count() >= least}


def _said_below(element: ElementNode) -> dict[str, int]:
    """The features of all leaves below an element, each with a bit for every page that has it."""
    found: dict[str, int] = {}
    for node in element.walk():
        if node.content is not None:
            for feature, (pages, _, _) in node.content.sums.items():
                found[feature] = found.get(feature, 0) | int(pages)
    return found


def merge_element(first: ElementNode, second: ElementNode) -> None:
    """Take the second element node into the first, with all below."""
    first.pages |= second.pages
    for keys, style in second.styles.items():
        known = first.styles.get(keys)
        if known is None:
            first.styles[keys] = style
        else:
            _merge_style(known, style)
    if second.content is not None:
        first.content = first.content or Content()
        first.content.merge(second.content)


def _merge_style(first: StyleNode, second: StyleNode) -> None:
    first.pages |= second.pages
    for ours, theirs in zip(first.elements, second.elements, strict=True):
        if ours is not theirs:
            merge_element(ours, theirs)
