"""Features of the whole page, and of a block's position in it (Marek 2007, 4.3)."""

from __future__ import annotations

import numpy as np

from victorpy.columns import Column, Columns
from victorpy.features.base import column_features, feature

column_features("document", {"position": "position"})


@feature("document.word-count")
def document_words(page: Columns) -> Column:
    """Number of words in the page."""
    return page.totals["words"]


@feature("document.sentence-count")
def document_sentences(page: Columns) -> Column:
    """Number of sentence ends in the page."""
    return np.full(page.count, page.sentences.sum())


@feature("document.block-count")
def document_blocks(page: Columns) -> Column:
    """Number of blocks in the page."""
    return page.totals["blocks"]


@feature("document.max-{div,td}-group")
def largest_group(page: Columns, tag: str) -> Column:
    """Largest div-group.word-ratio or td-group.word-ratio of the page. Pages of many small parts have low values."""
    return np.full(page.count, page.group_share(tag).max(initial=0))
