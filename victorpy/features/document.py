"""Features of the whole document, and of a block's place in it (Marek 2007, 4.3)."""

from __future__ import annotations

import numpy as np

from victorpy.columns import Column, Columns
from victorpy.features.base import feature


@feature("position")
def position(page: Columns) -> Column:
    """Place of the block in the page, counted in blocks: 0 the first, 1 the last."""
    return np.arange(page.count) / max(page.count - 1, 1)


@feature("document.word-count")
def document_words(page: Columns) -> Column:
    """Number of words in the page."""
    return np.full(page.count, page.words.sum())


@feature("document.sentence-count")
def document_sentences(page: Columns) -> Column:
    """Number of sentence ends in the page."""
    return np.full(page.count, page.sentences.sum())


@feature("document.block-count")
def document_blocks(page: Columns) -> Column:
    """Number of blocks in the page."""
    return np.full(page.count, page.count)


@feature("document.max-div-group")
def largest_div_group(page: Columns) -> Column:
    """Largest div-group.word-ratio of the page; low on pages made of many small parts."""
    return np.full(page.count, page.group_share(page.group("div")).max(initial=0))


@feature("document.max-td-group")
def largest_td_group(page: Columns) -> Column:
    """Largest td-group.word-ratio of the page."""
    return np.full(page.count, page.group_share(page.group("td")).max(initial=0))
