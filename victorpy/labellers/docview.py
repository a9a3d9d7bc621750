"""The cleaner of the DocView paper, which keeps blocks of text and drops blocks of links and images.

Z. Zhang, J. Chen and X. Li, A Preprocessing Framework and Approach for Web Applications, 2004, sections 3.1 and 4. The
cleaner keeps the topic nodes of a topic page (with `central=True` only in its central area), the central area of a hub
page, and the image nodes of an image page with the topic nodes beside them. The paper gives no thresholds. They were
chosen with `python -m benchmarks.docview`.
"""

from __future__ import annotations

from dataclasses import dataclass

from victorpy.base.parameters import check_range
from victorpy.description.tag_tree import TagTree, Thresholds, Type
from victorpy.document import Document, Labelling
from victorpy.labellers.base import LABELLERS, PageLabeller, label_kept


@LABELLERS.register("docview")
@dataclass(eq=False, repr=False)
class DocViewCleaner(PageLabeller):
    """Keeps blocks of text, or blocks of links and images if the page consists of them."""

    hub: float = Thresholds().hub
    image: float = Thresholds().image
    page_hub: float = Thresholds().page_hub
    page_image: float = Thresholds().page_image
    central: bool = False

    def __post_init__(self) -> None:
        check_range("docview", 0, 1, hub=self.hub, page_hub=self.page_hub, page_image=self.page_image)
        check_range("docview", 0, image=self.image)

    def label(self, document: Document) -> Labelling:
        tree = TagTree(document)
        pairs = zip(tree.nodes, self.kept_nodes(tree), strict=True)
        kept = [text for node, is_kept in pairs if is_kept for text in node.texts]
        return label_kept(document, tree.page.blocks_with(kept, 0.5))

    def kept_nodes(self, tree: TagTree) -> list[bool]:
        """Return which nodes to keep on a page of this type."""
        thresholds = Thresholds(self.hub, self.image, self.page_hub, self.page_image)
        types = [node.type(thresholds) for node in tree.nodes]
        match tree.page_type(thresholds):
            case Type.HUB:
                return tree.central
            case Type.IMAGE:
                nodes = list(zip(tree.nodes, types, strict=True))
                parents = {node.parent for node, kind in nodes if kind is Type.IMAGE}
                return [kind is Type.IMAGE or (kind is Type.TOPIC and node.parent in parents) for node, kind in nodes]
            case _:
                pairs = zip(types, tree.central, strict=True)
                return [kind is Type.TOPIC and (is_central or not self.central) for kind, is_central in pairs]
