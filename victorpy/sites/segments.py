"""Pages as trees of segments (the paper on sentence entropy, sst-sentence-entropy, sections 3.1 and 3.2).

From the leaves up, siblings that are all leaves with the same tag become one, and a node with a single child takes
the child into itself. A node of the site's tree has seven parts: tag, attributes, the collection of what pages say
there, parent, children, a counter of pages, and a threshold; tree and threshold are kept apart here, and the rest is
an ElementNode.
"""

from __future__ import annotations

from victorpy.document import Document
from victorpy.sites.page_tree import PageNode, page_tree
from victorpy.sites.style_tree import StyleTree


class SegmentTree(StyleTree):
    """A style tree whose pages are merged into segments, and whose nodes are one for each tag and attributes."""

    @property
    def aligned(self) -> bool:
        """Always: the paper knows no sequences of children."""
        return True

    def page(self, document: Document) -> PageNode:
        """The segments of a page."""
        root = page_tree(document, self.styles, virtual_leaves=False)
        for child in root.children:
            merge_segments(child)
        return root


def merge_segments(node: PageNode) -> None:
    """Merge leaves that are alike and only children, children before their parents.

    Siblings are alike when tag and attributes are the same, as the nodes of the site's tree are told apart: by tag
    alone, pages that are laid out in nested divisions would become one segment.
    """
    for child in node.children:
        merge_segments(child)
    children = node.children
    if (
        len(children) > 1
        and not any(child.children for child in children)
        and len({each.key for each in children}) == 1
    ):
        node.children = [_joined(children)]
    if len(node.children) == 1:
        only = node.children[0]
        node.blocks += only.blocks
        node.images += only.images
        node.children = only.children


def _joined(leaves: list[PageNode]) -> PageNode:
    joined = PageNode(leaves[0].key, [block for leaf in leaves for block in leaf.blocks])
    joined.images = [image for leaf in leaves for image in leaf.images]
    return joined
