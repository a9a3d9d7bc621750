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
    pattern = re.compile("|".join(f"(?:{part})" for part in page.config.get(f"name-{what}")), re.IGNORECASE)
    names, name_of_element = page.names
    matching = np.array([pattern.search(name) is not None for name in names], dtype=bool)
    return page.inside(np.flatnonzero(matching[name_of_element]))


@feature("ancestor1.*")
def first_ancestor(page: Columns, what: str) -> Column:
    """Of the element around the block's own: words, link-share, block-words (a block) or block-share (of the page)."""
    return _ancestor(page, 1, what)


@feature("ancestor2.*")
def second_ancestor(page: Columns, what: str) -> Column:
    """The same of the element two levels up."""
    return _ancestor(page, 2, what)


@feature("ancestor3.*")
def third_ancestor(page: Columns, what: str) -> Column:
    """The same of the element three levels up."""
    return _ancestor(page, 3, what)


def _ancestor(page: Columns, levels: int, what: str) -> Column:
    element = page.ancestor(levels)
    words = page.element_sum(page.words, element)
    if what == "words":
        return words
    if what == "link-share":
        return page.element_sum(page.link_words, element) / np.maximum(words, 1)
    if what == "block-share":
        return words / max(float(page.words.sum()), 1.0)
    if what == "block-words":
        return words / np.maximum(page.element_sum(np.ones(page.count), element), 1)
    raise ValueError(f"ancestor features are words, link-share, block-share and block-words, not {what!r}")


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
