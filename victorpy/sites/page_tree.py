"""A page as the tree that is merged into a site's: elements with their display, and leaves that hold blocks.

Two ways to see a page. ``paper`` is that of Yi, Liu and Li (2003): every element is a node, told apart by tag and
display attributes, and the order of its children is its style. On pages of today that finds hardly two pages with
the same style: layout is in classes, lists have a varying number of items, text is full of inline elements. So
``modern`` sees the elements that hold whole blocks only, tells them apart by tag and the names in class, id and role
without their digits, and takes a run of siblings with the same name for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from victorpy.document import Document, Elements

ROOT = "#root"
TEXT = "#text"
"""The tag of text that lies beside elements."""

DISPLAY = ("align", "valign", "width", "height", "bgcolor", "background", "color", "face", "size", "border")
NAMES = ("class", "id", "role")
STYLES = ("modern", "paper")

_DIGITS = re.compile(r"\d+")


@dataclass(slots=True)
class PageNode:
    """An element of a page, or the text beside some."""

    tag: str
    display: str
    children: list[PageNode] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    """The blocks of a leaf."""
    images: list[int] = field(default_factory=list)
    """The elements of a leaf that are images."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from its siblings: tag and display attributes."""
        return self.tag, self.display

    def leaves(self) -> Iterator[PageNode]:
        """All nodes without children, in order."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


def page_tree(document: Document, styles: str = "modern", virtual_leaves: bool = True) -> PageNode:
    """The tree of a page's body below a root without attributes.

    With `virtual_leaves` the parents of leaves are the leaves (3.6, the second enhancement): tags within a line and
    items of a list are too small to be judged.
    """
    root = PageNode(ROOT, "")
    _grow(root, document, styles)
    _finish(root, virtual_leaves)
    return root


def _finish(node: PageNode, virtual_leaves: bool) -> None:
    """Make text before a node's first child a child too, and fold children into their parent."""
    if not node.children:
        return
    if node.blocks:
        node.children.insert(0, PageNode(TEXT, "", blocks=node.blocks))
        node.blocks = []
    if virtual_leaves and node.tag != ROOT and not any(child.children for child in node.children):
        node.blocks = [block for child in node.children for block in child.blocks]
        node.images += [image for child in node.children for image in child.images]
        node.children = []
    for child in node.children:
        _finish(child, virtual_leaves)


def _grow(root: PageNode, document: Document, styles: str) -> None:
    """Hang the page's elements and blocks below a root, in document order."""
    elements = document.elements
    wanted = _all_elements(elements) if styles == "paper" else _holders(document)
    nodes: list[PageNode] = []
    """The node of each element, or of the nearest one around it that has one."""
    at = 0
    for number, parent in enumerate(elements.parent):
        around = nodes[parent] if parent >= 0 else root
        at = _hang_blocks(document, at, number, nodes, root)
        if wanted[number]:
            node = PageNode(elements.tag[number], _display(elements.attributes[number], styles))
            around.children.append(node)
            around = node
        if elements.tag[number] == "img":
            around.images.append(number)
        nodes.append(around)
    _hang_blocks(document, at, len(elements), nodes, root)


def _hang_blocks(document: Document, at: int, before: int, nodes: list[PageNode], root: PageNode) -> int:
    """Hang the blocks that began before an element opened on the nodes that hold them."""
    stop = document.elements.first_block[before] if before < len(document.elements) else len(document.blocks)
    while at < stop:
        holder = document.blocks[at].element
        if holder >= len(nodes):
            break  # its element is yet to come
        _add_block(nodes[holder] if holder >= 0 else root, at)
        at += 1
    return at


def _add_block(node: PageNode, block: int) -> None:
    if not node.children:
        node.blocks.append(block)
        return
    last = node.children[-1]
    if last.tag != TEXT:
        last = PageNode(TEXT, "")
        node.children.append(last)
    last.blocks.append(block)


def _all_elements(elements: Elements) -> list[bool]:
    """Every element of the body."""
    return [tag not in {"html", "head"} for tag in elements.tag]


def _holders(document: Document) -> list[bool]:
    """The elements that hold whole blocks; html and body say nothing."""
    elements = document.elements
    holds = [False] * len(elements)
    for block in document.blocks:
        element = block.element
        while element >= 0 and not holds[element]:
            holds[element] = True
            element = elements.parent[element]
    return [held and tag not in {"html", "head", "body"} for held, tag in zip(holds, elements.tag, strict=True)]


def _display(attributes: dict[str, str], styles: str) -> str:
    if not attributes:
        return ""
    if styles == "paper":
        return " ".join(f"{name}={attributes[name]}" for name in DISPLAY if name in attributes)
    names = [_DIGITS.sub("#", attributes[name].lower()) for name in NAMES if name in attributes]
    return " ".join(sorted({token for name in names for token in name.split()}))
