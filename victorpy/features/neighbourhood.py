"""Features of the elements around a block and of the blocks beside it; beyond the thesis."""

from __future__ import annotations

import re

import numpy as np

from victorpy.columns import Column, Columns, Counts
from victorpy.features.base import feature


@feature("hidden")
def hidden(page: Columns) -> Column:
    """1 where the block is hidden by the hidden attribute, aria-hidden or an inline display:none."""
    return np.array([block.hidden for block in page.blocks], dtype=bool)


@feature("char.upper-rel")
def capital_share(page: Columns) -> Column:
    """Share of capitals among a block's letters."""
    return page.capitals / np.maximum(page.letters, 1)


@feature("words")
def words(page: Columns) -> Column:
    """Number of words in the block, in any script."""
    return page.words


@feature("link-share")
def link_share(page: Columns) -> Column:
    """Share of the block's characters that stand in links."""
    return page.link_characters / page.lengths


@feature("name.*")
def named(page: Columns, what: str) -> Column:
    """Number of elements around the block whose class, id or role matches a pattern of name-*."""
    patterns = [re.compile(part, re.IGNORECASE | re.MULTILINE) for part in page.config.get(f"name-{what}")]
    names, name_of_element = page.names
    matching = np.array([any(pattern.search(name) for pattern in patterns) for name in names], dtype=bool)
    return page.inside(np.flatnonzero(matching[name_of_element]))


@feature("ancestor{1..3}.words")
def ancestor_words(page: Columns, level: str) -> Column:
    """Number of words in the element so many levels above the block's own."""
    return page.element_sum(page.words, page.ancestor(int(level)))


@feature("ancestor{1..3}.link-share")
def ancestor_link_share(page: Columns, level: str) -> Column:
    """Share of link words among the words of the element so many levels above the block's own."""
    element = page.ancestor(int(level))
    return page.element_sum(page.link_words, element) / np.maximum(page.element_sum(page.words, element), 1)


@feature("ancestor{1..3}.block-share")
def ancestor_share(page: Columns, level: str) -> Column:
    """Share that the element so many levels above the block's own has of the page's words."""
    return page.element_sum(page.words, page.ancestor(int(level))) / max(float(page.words.sum()), 1.0)


@feature("ancestor{1..3}.block-words")
def ancestor_block_words(page: Columns, level: str) -> Column:
    """Average number of words in the blocks of the element so many levels above the block's own."""
    element = page.ancestor(int(level))
    blocks = page.element_sum(np.ones(page.count), element)
    return page.element_sum(page.words, element) / np.maximum(blocks, 1)


@feature("window.words")
def window_words(page: Columns) -> Column:
    """Average number of words in the five blocks around."""
    return _window(page.words, 2) / _window(np.ones(page.count), 2)


@feature("window.link-share")
def window_link_share(page: Columns) -> Column:
    """Share of link words among the words of the eleven blocks around."""
    return _window(page.link_words, 5) / np.maximum(_window(page.words, 5), 1)


def _window(column: Column, reach: int) -> Column:
    """Sum over the blocks at most `reach` away."""
    total = np.concatenate([[0], np.cumsum(column)])
    at = np.arange(len(column))
    return total[np.minimum(at + reach + 1, len(column))] - total[np.maximum(at - reach, 0)]


@feature("words-before")
def words_before(page: Columns) -> Column:
    """Number of words in the page before the block."""
    return np.cumsum(page.words) - page.words


@feature("words-after")
def words_after(page: Columns) -> Column:
    """Number of words in the page after the block."""
    return page.words.sum() - np.cumsum(page.words)


@feature("heading-distance")
def heading_distance(page: Columns) -> Column:
    """Number of blocks since the last heading; large where none came before."""
    headings = page.inside(page.elements_with(page.tags_of("class-header"))) > 0
    at: Counts = np.arange(page.count)
    last = np.maximum.accumulate(np.where(headings, at, -1000))
    return at - last


@feature("document.link-share")
def document_link_share(page: Columns) -> Column:
    """Share of link words among the words of the page."""
    return np.full(page.count, page.link_words.sum() / max(float(page.words.sum()), 1.0))
