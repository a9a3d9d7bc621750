"""Features of the elements around a block and of nearby blocks, which the thesis does not have."""

from __future__ import annotations

import re

import numpy as np

from victorpy.columns import Column, Columns
from victorpy.columns.elements import REACHES
from victorpy.features.base import column_features, feature

column_features(
    "neighbourhood",
    {
        "hidden": "hidden",
        "words": "words",
        "depth": "depth",
        "words-before": "words_before",
        "words-after": "words_after",
        "title-share": "title_share",
        "headline-distance": "since_headline",
        "headline-words": "words_since_headline",
    },
)


@feature("char.upper-rel")
def capital_share(page: Columns) -> Column:
    """Share of capitals among the block's letters."""
    return page.capitals / np.maximum(page.letters, 1)


@feature("link-share")
def link_share(page: Columns) -> Column:
    """Share of the block's characters in links."""
    return page.link_characters / page.lengths


@feature("name.*")
def named(page: Columns, name: str) -> Column:
    """Number of elements around the block whose class, id or role matches a pattern of the variable name-*."""
    patterns = [re.compile(part, re.IGNORECASE | re.MULTILINE) for part in page.config.get(f"name-{name}")]
    names, name_of_element = page.names
    matching = np.array([any(p.search(name.partition(" ")[2]) for p in patterns) for name in names], dtype=bool)
    return page.inside(np.flatnonzero(matching[name_of_element]))


@feature("ancestor{0..6}.words")
def ancestor_words(page: Columns, level: str) -> Column:
    """Number of words in the block's ancestor at this level. Level 0 is the block's own element."""
    return page.ancestor_sums.words[int(level)]


@feature("ancestor{0..6}.link-share")
def ancestor_link_share(page: Columns, level: str) -> Column:
    """Share of link words in the block's ancestor at this level."""
    return page.ancestor_sums.link_share[int(level)]


@feature("ancestor{0..6}.block-share")
def ancestor_share(page: Columns, level: str) -> Column:
    """Share of the page's words in the block's ancestor at this level."""
    return page.ancestor_sums.words[int(level)] / page.all_words


@feature("ancestor{0..6}.block-words")
def ancestor_block_words(page: Columns, level: str) -> Column:
    """Average number of words per block in the block's ancestor at this level."""
    return page.ancestor_sums.block_words[int(level)]


@feature("ancestor{0..6}.blocks")
def ancestor_blocks(page: Columns, level: str) -> Column:
    """Number of blocks in the block's ancestor at this level."""
    return page.ancestor_sums.blocks[int(level)]


@feature("ancestor{0..3}.children")
def ancestor_children(page: Columns, level: str) -> Column:
    """Number of child elements of the block's ancestor at this level."""
    return page.ancestor_children[int(level)]


@feature("window{1,2,3,5,12,25}.words")
def window_words(page: Columns, reach: str) -> Column:
    """Average number of words per block within this distance."""
    return page.window_sums.block_words[REACHES.index(int(reach))]


@feature("window{1,2,3,5,12,25}.link-share")
def window_link_share(page: Columns, reach: str) -> Column:
    """Share of link words in the blocks within this distance."""
    return page.window_sums.link_share[REACHES.index(int(reach))]


@feature("look.blocks")
def look_blocks(page: Columns) -> Column:
    """Number of blocks that look like this block: their elements and the parents have the same names."""
    return page.look_sums.blocks


@feature("look.words")
def look_words(page: Columns) -> Column:
    """Average number of words in the blocks that look like this block."""
    return page.look_sums.block_words


@feature("look.link-share")
def look_link_share(page: Columns) -> Column:
    """Share of link words in the blocks that look like this block."""
    return page.look_sums.link_share


@feature("look.word-share")
def look_word_share(page: Columns) -> Column:
    """Share of the page's words in the blocks that look like this block."""
    return page.look_sums.words / page.all_words


@feature("look.again")
def look_again(page: Columns) -> Column:
    """1 if the block looks like the previous block: its element and the parent have the same names."""
    return _same_as_previous(page.look)


@feature("element.again")
def element_again(page: Columns) -> Column:
    """1 if the block is in the same element as the previous block, so only a line break separates them."""
    return _same_as_previous(page.element)


@feature("parent.again")
def parent_again(page: Columns) -> Column:
    """1 if the elements of this block and of the previous block have the same parent."""
    return _same_as_previous(page.ancestor(1))


def _same_as_previous(column: Column) -> Column:
    same = np.zeros(len(column), dtype=bool)
    same[1:] = column[1:] == column[:-1]
    return same


@feature("words-before-share")
def words_before_share(page: Columns) -> Column:
    """Share of the page's words before the block."""
    return page.words_before / page.all_words


@feature("heading-distance")
def heading_distance(page: Columns) -> Column:
    """Number of blocks since the last heading. Above 1000 if there is no heading before the block."""
    block = np.arange(page.count)
    return block - np.maximum.accumulate(np.where(page.within("class-header"), block, -1000))


@feature("trunk.{inside,words,link-share}")
def trunk(page: Columns, what: str) -> Column:
    """Position and content of the trunk, the element with most prose directly inside it or its children.

    inside: number of levels from the block's element up to an ancestor that contains the trunk;
    words: share of the page's words in the trunk; link-share: share of link words in the trunk.
    """
    return page.trunk[what]


@feature("document.link-share")
def document_link_share(page: Columns) -> Column:
    """Share of link words in the page."""
    return page.totals["link-share"]


@feature("document.prose-share")
def document_prose(page: Columns) -> Column:
    """Share of the page's words in blocks with at least ten words outside links."""
    return page.totals["prose-share"]


@feature("document.block-words")
def document_block_words(page: Columns) -> Column:
    """Average number of words per block of the page."""
    return page.totals["block-words"]


@feature("document.elements-with.*")
def document_elements(page: Columns, name: str) -> Column:
    """Number of elements of the page with this tag or a tag of this class."""
    return page.elements_count(page.tags_of(name))


@feature("document.named-share")
def document_named(page: Columns) -> Column:
    """Share of blocks whose element has a class, id, role or itemprop. Low on old pages."""
    return page.totals["named-share"]
