"""The tree of a page, which is merged into the tree of its site. Its leaves hold blocks.

There are two kinds of styles. With ``paper`` (Yi, Liu and Li 2003), elements are distinguished by tag and display
attributes, and the sequence of an element's children is its style. With ``modern``, elements are distinguished by tag
and the names in class, id and role without digits, and siblings with the same name are merged.

Only elements that hold whole blocks of text are nodes. ``paper`` without virtual leaves, the basic algorithm, also has
nodes for images, line breaks and empty elements, as in figure 3. Inline elements inside a block are never nodes: their
text belongs to the block, and a leaf without text would lower equation 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from victorpy.document import Document
from victorpy.page.markup import block_level

Key = tuple[str, str]  # tag and display attributes

ROOT = "#root"
ROOT_KEY, TEXT_KEY = (ROOT, ""), ("#text", "")
"""The keys of the root and of text beside elements."""

DISPLAY = ("align", "valign", "width", "height", "bgcolor", "background", "color", "face", "size", "border")
STYLES = ("modern", "paper")

_DIGITS = re.compile(r"\d+")


class PageNode:
    """An element of a page, or text beside elements."""

    __slots__ = ("blocks", "children", "images", "key")

    def __init__(self, key: Key, blocks: list[int] | None = None) -> None:
        self.key = key
        self.children: list[PageNode] = []
        self.blocks = blocks or []  # the blocks of a leaf
        self.images: list[int] = []  # the elements of a leaf that are images

    def leaves(self) -> Iterator[PageNode]:
        """Yield all nodes without children, in order."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


def page_tree(document: Document, styles: str, virtual_leaves: bool) -> PageNode:
    """Return the tree of a page's body below a root without attributes.

    With `virtual_leaves` the parents of leaves become leaves (3.6, the second enhancement): inline tags and list items
    are too small to be judged.
    """
    elements, blocks = document.elements, document.blocks
    has_all_elements = styles == "paper" and not virtual_leaves
    holders = {-1}  # the elements that hold whole blocks
    for block in blocks:
        element = block.element
        while element not in holders:
            holders.add(element)
            element = elements.parent[element]
    root = PageNode(ROOT_KEY)
    nodes: list[PageNode] = []  # for each element, its node or that of the closest ancestor with a node
    added = 0
    for number, (tag, parent) in enumerate(zip(elements.tag, elements.parent, strict=True)):
        node = nodes[parent] if parent >= 0 else root
        if number in holders or (has_all_elements and (tag == "img" or tag in block_level())):
            while added < elements.first_block[number]:
                _add_block(nodes, root, blocks[added].element, added)
                added += 1
            key = _key(tag, elements.attributes[number], styles)
            if key is not None:
                node.children.append(PageNode(key))
                node = node.children[-1]
        if tag == "img":
            node.images.append(number)
        nodes.append(node)
    for block in blocks[added:]:
        _add_block(nodes, root, block.element, block.index)
    _finish(root, virtual_leaves)
    return root


def _add_block(nodes: list[PageNode], root: PageNode, element: int, block: int) -> None:
    node = nodes[element] if element >= 0 else root
    if not node.children:
        node.blocks.append(block)
    elif node.children[-1].key == TEXT_KEY:
        node.children[-1].blocks.append(block)
    else:
        node.children.append(PageNode(TEXT_KEY, [block]))


def _finish(node: PageNode, virtual_leaves: bool) -> None:
    """Turn text before a node's first child into a child, and fold children into their parent."""
    if not node.children:
        return
    if node.blocks:
        node.children.insert(0, PageNode(TEXT_KEY, node.blocks))
        node.blocks = []
    if virtual_leaves and node.key != ROOT_KEY and not any(child.children for child in node.children):
        node.blocks = [block for child in node.children for block in child.blocks]
        node.images += [image for child in node.children for image in child.images]
        node.children = []
        return
    node.images = []  # only leaves have content; an image between larger parts belongs to none
    for child in node.children:
        _finish(child, virtual_leaves)


def _key(tag: str, attributes: dict[str, str], styles: str) -> Key | None:
    """Return the tag with display attributes or names; None for an element outside the body.

    In the style ``modern``, the body is the root itself.
    """
    if tag in {"html", "head"} or (tag == "body" and styles == "modern"):
        return None
    if styles == "paper":
        return tag, " ".join(f"{name}={attributes[name]}" for name in DISPLAY if name in attributes)
    named = attributes and (attributes.get("class", ""), attributes.get("id", ""), attributes.get("role", ""))
    return tag, _names(named) if named else ""


@lru_cache(maxsize=10_000)  # the pages of a site share their names
def _names(values: tuple[str, ...]) -> str:
    """Return the distinct names in class, id and role, without digits."""
    return " ".join(sorted(set(_DIGITS.sub("#", " ".join(values).lower()).split())))
