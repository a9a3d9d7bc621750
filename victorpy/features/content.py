"""Features of a block's text (Marek 2007, 4.2)."""

from __future__ import annotations

import re

import numpy as np

from victorpy.columns import Column, Columns
from victorpy.features.base import feature


@feature("char.{alpha,num,punct,white,other}-abs")
def characters(page: Columns, kind: str) -> Column:
    """Number of letters (alpha), digits (num), punctuation marks (punct), white space (white) or other characters."""
    return page.characters[kind]


@feature("char.{alpha,num,punct,white,other}-rel")
def character_share(page: Columns, kind: str) -> Column:
    """Share of letters (alpha), digits (num), punctuation marks (punct), white space (white) or other characters."""
    return page.characters[kind] / page.lengths


@feature("token.{alpha,num,mix,other}-abs")
def tokens(page: Columns, kind: str) -> Column:
    """Number of tokens, split at white space, with letters (alpha), digits (num), both (mix) or neither (other)."""
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
def sentence_length(page: Columns) -> Column:
    """Average number of words per sentence."""
    return page.words / np.maximum(page.sentences, 1)


@feature("sentence-begin")
def begins_sentence(page: Columns) -> Column:
    """1 if the block's first letter or digit is not in lower case."""
    return page.begins_sentence


@feature("sentence-end")
def ends_sentence(page: Columns) -> Column:
    """1 if the block ends a sentence. Closing quotes and brackets are ignored."""
    return page.ends_sentence


@feature("first-duplicate")
def first_duplicate(page: Columns) -> Column:
    """1 if the block is the first of several blocks with the same letters."""
    return page.first_duplicate


@feature("duplicate-count")
def duplicates(page: Columns) -> Column:
    """Number of blocks with the same letters, including this block. Blocks without letters have 0."""
    return page.duplicates


@feature("regexp.*")
def first_match(page: Columns, name: str) -> Column:
    """Number of the first pattern of the variable regexp-* that matches the text, 0 for none."""
    patterns = [re.compile(pattern) for pattern in page.config.get(f"regexp-{name}")]
    first = [next((n for n, pattern in enumerate(patterns, 1) if pattern.search(text)), 0) for text in page.beginnings]
    return np.array(first, dtype=np.int64)


@feature("bullet")
def bullet(page: Columns) -> Column:
    """Patterns of the variable bullet that match the text, one bit each. Items of one list have the same value."""
    bits = [(re.compile(pattern), 1 << number) for number, pattern in enumerate(page.config.get("bullet"))]
    values = [sum(bit for pattern, bit in bits if pattern.search(text)) for text in page.beginnings]
    return np.array(values, dtype=np.int64)


@feature("{div,td}-group.word-ratio")
def group_share(page: Columns, tag: str) -> Column:
    """Share of the page's words outside links that are in the same <div> or <td>."""
    return page.group_share(tag)


@feature("repeat{1,3}.before")
def repeated_before(page: Columns, length: str) -> Column:
    """Share of the block's words (1) or sequences of three words (3) that earlier blocks contain. Quotes have 1."""
    return page.repeated(int(length))[0]


@feature("repeat{1,3}.after")
def repeated_after(page: Columns, length: str) -> Column:
    """Share of the block's words (1) or sequences of three words (3) that later blocks contain."""
    return page.repeated(int(length))[1]


@feature("letter-surprise")
def letter_surprise(page: Columns) -> Column:
    """Average number of bits to predict a letter from the previous letter, as in the other blocks of the page.

    Text in another language and gibberish have high values.
    """
    return page.letter_surprise
