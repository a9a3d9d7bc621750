"""Keep everything: the baseline that any method must beat."""

from __future__ import annotations

from victorpy.document import Document, Labelling
from victorpy.labellers.base import LABELLERS, PageLabeller, label_kept


@LABELLERS.register("everything")
class KeepEverything(PageLabeller):
    """Keeps every block of a page."""

    def label(self, document: Document) -> Labelling:
        return label_kept(document, [True] * len(document.blocks))
