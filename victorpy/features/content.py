"""Features of a block's text (Marek 2007, 4.2)."""

from __future__ import annotations

import re

import numpy as np

from victorpy.columns import Column, Columns
from victorpy.features.base import feature


@feature("char.alpha-rel")
def letter_share(page: Columns) -> Column:
    """Share of letters among a block's characters."""
    return page.letters / page.lengths


@feature("char.num-rel")
def digit_share(page: Columns) -> Column:
    """Share of digits among a block's characters."""
    return page.digits / page.lengths


@feature("char.punct-rel")
def punctuation_share(page: Columns) -> Column:
    """Share of punctuation among a block's characters."""
    return page.punctuation / page.lengths


@feature("char.white-rel")
def white_share(page: Columns) -> Column:
    """Share of white space among a block's characters."""
    return page.white / page.lengths


@feature("char.other-rel")
def other_share(page: Columns) -> Column:
    """Share of characters that are no letter, digit, punctuation or white space."""
    rest = page.lengths - page.letters - page.digits - page.punctuation - page.white
    return np.maximum(rest, 0) / page.lengths


@feature("token.{alpha,num,mix,other}-abs")
def tokens(page: Columns, kind: str) -> Column:
    """Number of tokens, set apart by white space, with letters (alpha), digits (num), both (mix) or neither (other)."""
    return page.tokens[kind]


@feature("token.{alpha,num,mix,other}-rel")
def token_share(page: Columns, kind: str) -> Column:
    """Share of tokens with letters (alpha), digits (num), both (mix) or neither (other)."""
    return page.tokens[kind] / np.maximum(sum(page.tokens.values()), 1)


@feature("sentence.count")
def sentences(page: Columns) -> Column:
    """Number of sentence ends in the block."""
    return page.sentences


@feature("sentence.avg-length")
def words_a_sentence(page: Columns) -> Column:
    """Average length of the block's sentences in words."""
    return page.words / np.maximum(page.sentences, 1)


@feature("sentence-begin")
def begins_sentence(page: Columns) -> Column:
    """1 where the block's first letter or digit is not in lower case."""
    return page.begins_sentence


@feature("sentence-end")
def ends_sentence(page: Columns) -> Column:
    """1 where the block ends with the end of a sentence, closing quotes and brackets aside."""
    return page.ends_sentence


@feature("first-duplicate")
def first_duplicate(page: Columns) -> Column:
    """1 where the block is the first of several with the same letters."""
    return page.first_duplicate


@feature("duplicate-count")
def duplicates(page: Columns) -> Column:
    """Number of blocks with the same letters as this one, itself included; 0 where there is no letter."""
    return page.duplicates


@feature("regexp.*")
def first_match(page: Columns, what: str) -> Column:
    """Number of the first pattern of regexp-* that the text matches, 0 for none."""
    patterns = [re.compile(pattern) for pattern in page.config.get(f"regexp-{what}")]
    first = [next((n for n, pattern in enumerate(patterns, 1) if pattern.search(text)), 0) for text in page.beginnings]
    return np.array(first, dtype=np.int64)


@feature("bullet")
def bullet(page: Columns) -> Column:
    """Which patterns of the variable bullet the text matches, one bit each, so that items of a list agree."""
    bits = [(re.compile(pattern), 1 << number) for number, pattern in enumerate(page.config.get("bullet"))]
    values = [sum(bit for pattern, bit in bits if pattern.search(text)) for text in page.beginnings]
    return np.array(values, dtype=np.int64)


@feature("div-group.word-ratio")
def div_group_share(page: Columns) -> Column:
    """Share that the blocks of the same <div> have of the page's words outside links."""
    return page.group_share(page.group("div"))


@feature("td-group.word-ratio")
def td_group_share(page: Columns) -> Column:
    """Share that the blocks of the same <td> have of the page's words outside links."""
    return page.group_share(page.group("td"))
