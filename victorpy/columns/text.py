"""What can be counted of blocks' texts: characters, words, tokens, sentences, repetitions."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.base import unicode
from victorpy.config import Config
from victorpy.document import Block, Document

# How far into a block patterns are tried, so that none takes long on a long one.
PATTERN_REACH = 500

Column = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


OUTSIDE = -1.0
"""What a number of a block outside the page is."""


def shifted(column: Column, offset: int) -> Column:
    """The numbers of the blocks so far away.

    >>> shifted(np.array([1, 2, 3]), -1)
    array([-1.,  1.,  2.])
    """
    if not offset:
        return column
    result = np.full(len(column), OUTSIDE)
    if 0 < offset < len(column):
        result[:-offset] = column[offset:]
    elif 0 < -offset < len(column):
        result[-offset:] = column[:offset]
    return result


class TextColumns:
    """The arrays of a page's texts.

    A page's text is one array of characters; a table look-up classes them, and one sum over the boundaries of
    blocks gives every count.
    """

    def __init__(self, document: Document, config: Config) -> None:
        self.document = document
        self.blocks: tuple[Block, ...] = document.blocks
        self.config = config
        self.count = len(document.blocks)

    def forget_characters(self) -> None:
        """Let go of what is as large as the page's text; it is counted again if asked for."""
        for name in ("_joined", "_codes", "_flags", "_block_of_char", "_word_weight_of_char", "beginnings"):
            self.__dict__.pop(name, None)

    # Text: characters, and the pieces and blocks that they belong to.

    @cached_property
    def texts(self) -> list[str]:
        """The text of each block."""
        return [block.text for block in self.blocks]

    @cached_property
    def beginnings(self) -> list[str]:
        """What patterns are tried on: the start of each block, so that no pattern takes long on a long one."""
        return [text[:PATTERN_REACH] for text in self.texts]

    @cached_property
    def lengths(self) -> Counts:
        """How many characters each block has."""
        return np.array([len(text) for text in self.texts], dtype=np.int64)

    @cached_property
    def _codes(self) -> npt.NDArray[np.uint32]:
        """The page's characters, a line break after each block."""
        return np.frombuffer(self._joined.encode("utf-32-le"), dtype="<u4")

    @cached_property
    def _joined(self) -> str:
        return "\n".join([*self.texts, ""])

    @cached_property
    def _starts(self) -> Counts:
        """Where in the characters each block begins."""
        return np.cumsum(self.lengths + 1) - self.lengths - 1

    @cached_property
    def _flags(self) -> npt.NDArray[np.uint8]:
        return np.take(unicode.flags_table(), self._codes)

    @cached_property
    def _block_of_char(self) -> Counts:
        return np.repeat(np.arange(self.count), self.lengths + 1)

    def _has(self, flags: int) -> Flags:
        return (self._flags & flags) != 0

    def _per_block(self, chars: Flags) -> Counts:
        """Count the marked characters of each block."""
        return np.add.reduceat(chars, self._starts, dtype=np.int64) if self.count else np.zeros(0, dtype=np.int64)

    @cached_property
    def letters(self) -> Counts:
        """How many letters each block has."""
        return self._per_block(self._has(unicode.LETTER))

    @cached_property
    def capitals(self) -> Counts:
        """How many capital letters each block has."""
        return self._per_block(self._has(unicode.UPPER))

    @cached_property
    def digits(self) -> Counts:
        """How many digits each block has."""
        return self._per_block(self._has(unicode.DIGIT))

    @cached_property
    def punctuation(self) -> Counts:
        """How many punctuation marks each block has."""
        return self._per_block(self._has(unicode.PUNCTUATION))

    @cached_property
    def white(self) -> Counts:
        """How many white-space characters each block has."""
        return self._per_block(self._has(unicode.SPACE)) - 1  # less the line break behind it

    # Words and tokens.

    @cached_property
    def _word_weight_of_char(self) -> Floats:
        """1 where a word begins; in scripts without spaces two letters make a word on average."""
        unspaced = self._has(unicode.UNSPACED)
        wordly = self._has(unicode.LETTER | unicode.DIGIT) & ~unspaced
        begins = wordly.copy()
        begins[1:] &= ~wordly[:-1]
        return begins + 0.5 * unspaced

    @cached_property
    def words(self) -> Floats:
        """How many words each block has."""
        if not self.count:
            return np.zeros(0)
        return np.add.reduceat(self._word_weight_of_char, self._starts)

    @cached_property
    def all_words(self) -> float:
        """How many words the page has, 1 at least, to divide by."""
        return max(float(self.words.sum()), 1.0)

    @cached_property
    def tokens(self) -> dict[str, Floats]:
        """How many tokens of each class (alpha, num, mix, other) each block has.

        Tokens are what white space separates; one in a script without spaces counts as the words in it.
        """
        space = self._has(unicode.SPACE)
        begins = np.flatnonzero(~space & np.append(True, space[:-1]))
        if not len(begins):
            return {kind: np.zeros(self.count) for kind in ("alpha", "num", "mix", "other")}
        holds = np.bitwise_or.reduceat(self._flags, begins)
        unspaced = np.add.reduceat(self._has(unicode.UNSPACED), begins, dtype=np.int64)
        weights = np.maximum(unspaced // 2, 1)
        has_letter, has_digit = (holds & unicode.LETTER) != 0, (holds & unicode.DIGIT) != 0
        kinds = {
            "alpha": has_letter & ~has_digit,
            "num": has_digit & ~has_letter,
            "mix": has_letter & has_digit,
            "other": ~has_letter & ~has_digit,
        }
        owner = self._block_of_char[begins]
        return {name: np.bincount(owner, weights * kind, self.count).astype(np.float64) for name, kind in kinds.items()}

    # Sentences.

    @cached_property
    def sentences(self) -> Counts:
        """How many sentence ends each block has: runs of ``. ! ?`` that end a word; no look at abbreviations."""
        ends = self._has(unicode.END)
        follows = np.append(self._flags[1:], 0)
        goes_on = (follows & (unicode.LETTER | unicode.DIGIT | unicode.END)) != 0
        ideographic = self._codes >= 0x3000  # the full stop of a script without spaces ends in mid-line
        last_of_run = ends & (~goes_on | (ideographic & ((follows & unicode.END) == 0)))
        return self._per_block(last_of_run)

    @cached_property
    def begins_sentence(self) -> Flags:
        """Whether a block's first letter or digit may begin a sentence, that is, is not in lower case."""
        first = self._first_of(self._has(unicode.LETTER | unicode.DIGIT))
        found = first >= 0
        return found & ((self._flags[np.maximum(first, 0)] & unicode.LOWER) == 0)

    @cached_property
    def ends_sentence(self) -> Flags:
        """Whether a block ends with the end of a sentence, closing quotes and brackets aside."""
        closing, ends = unicode.CLOSING, unicode.ENDS
        return np.array([text.rstrip(closing)[-1:] in ends for text in self.texts], dtype=bool)

    def _first_of(self, chars: Flags) -> Counts:
        """Where each block's first marked character is, -1 for none."""
        where = np.flatnonzero(chars)
        at = np.searchsorted(where, self._starts)
        first = np.append(where, len(chars))[at]
        return np.where(first < self._starts + self.lengths, first, -1)

    # Repetition.

    @cached_property
    def _duplicate_groups(self) -> tuple[Counts, Counts, Counts]:
        """For each distinct content the first block that has it; for each block its content's number; sizes."""
        letters = self._codes[self._has(unicode.LETTER)].tobytes()
        numbers: dict[bytes, int] = {}
        group: list[int] = []
        first: list[int] = []
        start = 0
        for block, stop in enumerate((np.cumsum(self.letters) * self._codes.itemsize).tolist()):
            number = numbers.setdefault(letters[start:stop], len(first))
            if number == len(first):
                first.append(block)
            group.append(number)
            start = stop
        return np.array(first), np.array(group), np.bincount(group)

    @cached_property
    def duplicates(self) -> Counts:
        """How many blocks have the same letters as this one, itself included; 0 for a block without letters."""
        if not self.count:
            return np.zeros(0, dtype=np.int64)
        _, group, size = self._duplicate_groups
        return np.where(self.letters > 0, size[group], 0)

    @cached_property
    def first_duplicate(self) -> Flags:
        """Whether a block is the first of several with the same letters."""
        if not self.count:
            return np.zeros(0, dtype=bool)
        first, group, _ = self._duplicate_groups
        return (self.duplicates > 1) & (first[group] == np.arange(self.count))
