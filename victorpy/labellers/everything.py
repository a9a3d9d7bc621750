"""Keep everything: what any method must beat."""

from __future__ import annotations

from victorpy.document import Document, Labelling
from victorpy.labellers.base import LABELLERS, PageLabeller
from victorpy.labellers.kinds import label_kept


@LABELLERS.register("everything")
class KeepEverything(PageLabeller):
    """Keeps every block of a page."""

    def label(self, document: Document) -> Labelling:
        """Keep all blocks."""
        return label_kept(document, [True] * len(document.blocks))
