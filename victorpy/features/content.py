"""Features of a block's text (Marek 2007, 4.2)."""

from __future__ import annotations

import re

import numpy as np

from victorpy.columns import Column, Columns
from victorpy.features.base import column_features, feature

column_features(
    "content",
    {
        "sentence.count": "sentences",
        "sentence-begin": "begins_sentence",
        "sentence-end": "ends_sentence",
        "first-duplicate": "first_duplicate",
        "duplicate-count": "duplicates",
        "letter-surprise": "letter_surprise",
    },
)


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


@feature("sentence.avg-length")
def sentence_length(page: Columns) -> Column:
    """Average number of words per sentence."""
    return page.words / np.maximum(page.sentences, 1)


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
