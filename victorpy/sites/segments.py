"""Pages as trees of segments (the paper on sentence entropy, sst-sentence-entropy, sections 3.1 and 3.2).

From the leaves up, siblings that are all leaves with the same tag become one, and a node with a single child takes
over the child's content. A node of the site's tree has seven parts: tag, attributes, the collection of what pages say
there, parent, children, a counter of pages, and a threshold. Here the thresholds are kept apart from the tree, and the
rest is an ElementNode.
"""

from __future__ import annotations

from victorpy.document import Document
from victorpy.sites.page_tree import PageNode, page_tree
from victorpy.sites.style_tree import StyleTree


class SegmentTree(StyleTree):
    """A style tree whose pages are merged into segments, and whose nodes are one for each tag and attributes."""

    @property
    def aligned(self) -> bool:
        """Always true: the paper knows no sequences of children."""
        return True

    def page(self, document: Document) -> PageNode:
        root = page_tree(document, self.styles, virtual_leaves=False)
        for child in root.children:
            merge_segments(child)
        return root


def merge_segments(node: PageNode) -> None:
    """Merge leaves that are alike, and only children into their parents, from the bottom up.

    Siblings are alike if tag and attributes are the same, as in the site's tree. By tag alone, pages that are laid
    out in nested divisions would become one segment.
    """
    for child in node.children:
        merge_segments(child)
    children = node.children
    are_leaves = not any(child.children for child in children)
    if len(children) > 1 and are_leaves and len({child.key for child in children}) == 1:
        joined = PageNode(children[0].key, [block for leaf in children for block in leaf.blocks])
        joined.images = [image for leaf in children for image in leaf.images]
        node.children = [joined]
    if len(node.children) == 1:
        only = node.children[0]
        node.blocks += only.blocks
        node.images += only.images
        node.children = only.children
