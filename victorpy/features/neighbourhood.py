"""Features of the elements around a block and of the blocks beside it; beyond the thesis."""

from __future__ import annotations

import re

import numpy as np

from victorpy.columns import Column, Columns, Counts
from victorpy.columns.elements import REACHES
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
    """Share of the block's characters that are in links."""
    return page.link_characters / page.lengths


@feature("name.*")
def named(page: Columns, what: str) -> Column:
    """Number of elements around the block whose class, id or role matches a pattern of name-*."""
    patterns = [re.compile(part, re.IGNORECASE | re.MULTILINE) for part in page.config.get(f"name-{what}")]
    names, name_of_element = page.names
    matching = np.array([any(p.search(name.partition(" ")[2]) for p in patterns) for name in names], dtype=bool)
    return page.inside(np.flatnonzero(matching[name_of_element]))


@feature("ancestor{0..6}.words")
def ancestor_words(page: Columns, level: str) -> Column:
    """Number of words in the block's ancestor at this level."""
    return page.ancestor_sums.words[int(level)]


@feature("ancestor{0..6}.link-share")
def ancestor_link_share(page: Columns, level: str) -> Column:
    """Share of link words among the words of the block's ancestor at this level."""
    return page.ancestor_sums.link_share[int(level)]


@feature("ancestor{0..6}.block-share")
def ancestor_share(page: Columns, level: str) -> Column:
    """Share that the block's ancestor at this level has of the page's words."""
    return page.ancestor_sums.words[int(level)] / page.all_words


@feature("ancestor{0..6}.block-words")
def ancestor_block_words(page: Columns, level: str) -> Column:
    """Average number of words in the blocks of the block's ancestor at this level."""
    return page.ancestor_sums.block_words[int(level)]


@feature("ancestor{0..6}.blocks")
def ancestor_blocks(page: Columns, level: str) -> Column:
    """Number of blocks in the block's ancestor at this level."""
    return page.ancestor_sums.blocks[int(level)]


@feature("ancestor{0..3}.children")
def ancestor_children(page: Columns, level: str) -> Column:
    """Number of elements directly in the block's ancestor at this level."""
    return page.ancestor_children[int(level)]


@feature("window{1,2,3,5,12,25}.words")
def window_words(page: Columns, reach: str) -> Column:
    """Average number of words in the blocks within this distance."""
    return page.window_sums.block_words[REACHES.index(int(reach))]


@feature("window{1,2,3,5,12,25}.link-share")
def window_link_share(page: Columns, reach: str) -> Column:
    """Share of link words among the words of the blocks within this distance."""
    return page.window_sums.link_share[REACHES.index(int(reach))]


@feature("depth")
def depth(page: Columns) -> Column:
    """Number of elements around the block."""
    return np.array([len(block.containers) for block in page.blocks])


@feature("look.blocks")
def look_blocks(page: Columns) -> Column:
    """Number of blocks of the page that look like this one: the same names of their element and its parent."""
    return page.look_sums.blocks


@feature("look.words")
def look_words(page: Columns) -> Column:
    """Average number of words in the blocks of the page that look like this one."""
    return page.look_sums.block_words


@feature("look.link-share")
def look_link_share(page: Columns) -> Column:
    """Share of link words among the words of the blocks of the page that look like this one."""
    return page.look_sums.link_share


@feature("look.word-share")
def look_word_share(page: Columns) -> Column:
    """Share that the blocks which look like this one have of the page's words."""
    return page.look_sums.words / page.all_words


@feature("look.again")
def look_again(page: Columns) -> Column:
    """1 where the block looks like the block before: the same names of its element and its parent."""
    return _as_before(page.look)


@feature("element.again")
def element_again(page: Columns) -> Column:
    """1 where the block lies in the same element as the block before, so that only a line break divides them."""
    return _as_before(page.element)


@feature("parent.again")
def parent_again(page: Columns) -> Column:
    """1 where the block's element has the same parent as that of the block before."""
    return _as_before(page.ancestor(1))


def _as_before(column: Column) -> Column:
    same = np.zeros(len(column), dtype=bool)
    same[1:] = column[1:] == column[:-1]
    return same


@feature("words-before")
def words_before(page: Columns) -> Column:
    """Number of words in the page before the block."""
    return np.cumsum(page.words) - page.words


@feature("words-after")
def words_after(page: Columns) -> Column:
    """Number of words in the page after the block."""
    return page.words.sum() - np.cumsum(page.words)


@feature("words-before-share")
def words_before_share(page: Columns) -> Column:
    """Share of the page's words that come before the block."""
    return (np.cumsum(page.words) - page.words) / page.all_words


@feature("title-share")
def title_share(page: Columns) -> Column:
    """Share of the block's words that are words of the page's title."""
    return page.title_share


@feature("headline-distance")
def headline_distance(page: Columns) -> Column:
    """Number of blocks since the headline, the heading most like the page's title; negative before it."""
    return np.arange(page.count) - page.headline


@feature("headline-words")
def headline_words(page: Columns) -> Column:
    """Number of words between the headline and the block; negative before it."""
    before = np.cumsum(page.words) - page.words
    return before - before[page.headline] if page.count else before


@feature("heading-distance")
def heading_distance(page: Columns) -> Column:
    """Number of blocks since the last heading; large where none came before."""
    headings = page.within("class-header")
    at: Counts = np.arange(page.count)
    last = np.maximum.accumulate(np.where(headings, at, -1000))
    return at - last


@feature("document.link-share")
def document_link_share(page: Columns) -> Column:
    """Share of link words among the words of the page."""
    return np.full(page.count, page.link_words.sum() / page.all_words)


@feature("trunk.{inside,words,link-share}")
def trunk(page: Columns, what: str) -> Column:
    """Of the trunk, the element with most prose directly in it or in its children: what it holds, where blocks lie.

    inside: how many levels above the block's own element the first ancestor that is around the trunk lies;
    words: share of the page's words that it holds; link-share: share of link words among its words.
    """
    return page.trunk[what]


@feature("document.prose-share")
def document_prose(page: Columns) -> Column:
    """Share of the page's words in blocks of ten and more words outside links."""
    return np.full(page.count, page.prose.sum() / page.all_words)


@feature("document.block-words")
def document_block_words(page: Columns) -> Column:
    """Average number of words in the page's blocks."""
    return np.full(page.count, page.words.sum() / max(page.count, 1))


@feature("document.elements-with.*")
def document_elements(page: Columns, what: str) -> Column:
    """Number of elements of the page with this tag, or with a tag of this class."""
    return np.full(page.count, page.element_count(what))


@feature("document.named-share")
def document_named(page: Columns) -> Column:
    """Share of blocks whose element has a class, an id, a role or an itemprop; low on pages of the old web."""
    names, name_of_element = page.near_names
    named = np.array([" " in name for name in names], dtype=bool)
    return np.full(page.count, named[name_of_element[page.element]].mean() if page.count else 0.0)
