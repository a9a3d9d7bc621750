"""Count characters, words, tokens, sentences and duplicates in the texts of a page's blocks."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.base import unicode
from victorpy.config import Config
from victorpy.document import Block, Document

Column = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

PATTERN_REACH = 500  # maximum number of characters of a block that patterns are matched against, to bound the time


class TextColumns:
    """Counts over the texts of a page's blocks, as arrays with one entry per block.

    The texts form one array of characters, classified by a table look-up. Each count is a sum between
    block boundaries.
    """

    def __init__(self, document: Document, config: Config) -> None:
        self.document = document
        self.config = config
        self.count = len(document.texts)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.document.blocks

    def forget_characters(self) -> None:
        """Free the arrays with one entry per character. They are computed again on demand."""
        for name in ("_joined", "_codes", "_flags", "_block_of_char", "_word_starts", "beginnings"):
            self.__dict__.pop(name, None)

    @cached_property
    def texts(self) -> list[str]:
        return self.document.texts

    @cached_property
    def beginnings(self) -> list[str]:
        """The first `PATTERN_REACH` characters of each block."""
        return [text[:PATTERN_REACH] for text in self.texts]

    @cached_property
    def lengths(self) -> Counts:
        """Number of characters in the block."""
        return np.array([len(text) for text in self.texts], dtype=np.int64)

    # Characters. A line break follows each block.

    @cached_property
    def _joined(self) -> str:
        return "\n".join([*self.texts, ""])

    @cached_property
    def _codes(self) -> npt.NDArray[np.uint32]:
        return np.frombuffer(self._joined.encode("utf-32-le"), dtype="<u4")

    @cached_property
    def _flags(self) -> npt.NDArray[np.uint8]:
        return np.take(unicode.flags_table(), self._codes)

    @cached_property
    def _starts(self) -> Counts:
        """The offset of each block's first character."""
        return np.cumsum(self.lengths + 1) - self.lengths - 1

    @cached_property
    def _block_of_char(self) -> Counts:
        return np.repeat(np.arange(self.count), self.lengths + 1)

    def _has(self, flags: int) -> Flags:
        return (self._flags & flags) != 0

    def _per_block(self, chars: Column, dtype: type = np.int64) -> Column:
        """Sum a value per character over each block."""
        return np.add.reduceat(chars, self._starts, dtype=dtype) if self.count else np.zeros(0, dtype=dtype)

    def _first_of(self, chars: Flags) -> Counts:
        """Return the offset of each block's first marked character, or -1."""
        offsets = np.flatnonzero(chars)
        first = np.append(offsets, len(chars))[np.searchsorted(offsets, self._starts)]
        return np.where(first < self._starts + self.lengths, first, -1)

    @cached_property
    def letters(self) -> Counts:
        return self._per_block(self._has(unicode.LETTER))

    @cached_property
    def capitals(self) -> Counts:
        return self._per_block(self._has(unicode.UPPER))

    @cached_property
    def digits(self) -> Counts:
        return self._per_block(self._has(unicode.DIGIT))

    @cached_property
    def punctuation(self) -> Counts:
        return self._per_block(self._has(unicode.PUNCTUATION))

    @cached_property
    def white(self) -> Counts:
        """The number of white-space characters per block."""
        return self._per_block(self._has(unicode.SPACE)) - 1  # the line break after the block

    @cached_property
    def characters(self) -> dict[str, Counts]:
        """Count characters by kind: alpha, num, punct, white or other."""
        kinds = {"alpha": self.letters, "num": self.digits, "punct": self.punctuation, "white": self.white}
        return kinds | {"other": np.maximum(self.lengths - sum(kinds.values()), 0)}

    def begins_with(self, flags: int) -> Flags:
        """Return whether the first character that is not white space has one of the Unicode flags."""
        return (self._first_flags & flags) != 0

    @cached_property
    def _first_flags(self) -> npt.NDArray[np.uint8]:
        first = self._first_of(~self._has(unicode.SPACE))
        return np.where(first >= 0, self._flags[np.maximum(first, 0)], 0).astype(np.uint8)

    # Words and tokens.

    @cached_property
    def _word_starts(self) -> Floats:
        """Return 1 for each character that starts a word, and 0.5 for letters of scripts without spaces."""
        unspaced = self._has(unicode.UNSPACED)
        in_word = self._has(unicode.LETTER | unicode.DIGIT) & ~unspaced
        starts = in_word.copy()
        starts[1:] &= ~in_word[:-1]
        return starts + 0.5 * unspaced

    @cached_property
    def words(self) -> Floats:
        """Number of words in the block, in any script."""
        return self._per_block(self._word_starts, np.float64)

    @cached_property
    def all_words(self) -> float:
        """The number of words in the page, or 1 if it has none."""
        return max(float(self.words.sum()), 1.0)

    @cached_property
    def capitalised_share(self) -> Floats:
        """Share of the block's words that start with a capital letter."""
        starts = (self._word_starts == 1) & self._has(unicode.UPPER)
        return self._per_block(starts) / np.maximum(self.words, 1)

    @cached_property
    def tokens(self) -> dict[str, Floats]:
        """Count tokens separated by white space, by kind: alpha, num, mix or other.

        A token in a script without spaces counts as half as many tokens as it has letters.
        """
        space = self._has(unicode.SPACE)
        starts = np.flatnonzero(~space & np.append(True, space[:-1]))
        if not len(starts):
            return {kind: np.zeros(self.count) for kind in ("alpha", "num", "mix", "other")}
        flags = np.bitwise_or.reduceat(self._flags, starts)
        unspaced = np.add.reduceat(self._has(unicode.UNSPACED), starts, dtype=np.int64)
        weights = np.maximum(unspaced // 2, 1)
        has_letter, has_digit = (flags & unicode.LETTER) != 0, (flags & unicode.DIGIT) != 0
        kinds = {
            "alpha": has_letter & ~has_digit,
            "num": has_digit & ~has_letter,
            "mix": has_letter & has_digit,
            "other": ~has_letter & ~has_digit,
        }
        block = self._block_of_char[starts]
        return {name: np.bincount(block, weights * kind, self.count).astype(np.float64) for name, kind in kinds.items()}

    # Sentences.

    @cached_property
    def sentences(self) -> Counts:
        """Number of sentence ends in the block."""
        ends = self._has(unicode.END)  # only the last of several consecutive signs counts
        next_flags = np.append(self._flags[1:], 0)
        continues = (next_flags & (unicode.LETTER | unicode.DIGIT | unicode.END)) != 0
        # In scripts without spaces, a full stop may be followed by a letter.
        ideographic = self._codes >= 0x3000
        return self._per_block(ends & (~continues | (ideographic & ((next_flags & unicode.END) == 0))))

    @cached_property
    def begins_sentence(self) -> Flags:
        """1 if the block's first letter or digit is not in lower case."""
        first = self._first_of(self._has(unicode.LETTER | unicode.DIGIT))
        return (first >= 0) & ((self._flags[np.maximum(first, 0)] & unicode.LOWER) == 0)

    @cached_property
    def ends_sentence(self) -> Flags:
        """1 if the block ends a sentence. Closing quotes and brackets are ignored."""
        return np.array([text.rstrip(unicode.CLOSING)[-1:] in unicode.ENDS for text in self.texts], dtype=bool)

    # Duplicates.

    @cached_property
    def _letter_group(self) -> Counts:
        """A group number for each block. Blocks with the same letters have the same number."""
        letters = self._codes[self._has(unicode.LETTER)].tobytes()
        stops = np.cumsum(self.letters) * self._codes.itemsize
        groups: dict[bytes, int] = {}
        spans = pairwise([0, *stops.tolist()])
        return np.array([groups.setdefault(letters[i:j], len(groups)) for i, j in spans], dtype=np.int64)

    @cached_property
    def duplicates(self) -> Counts:
        """Number of blocks with the same letters, including this block. Blocks without letters have 0."""
        return np.where(self.letters > 0, np.bincount(self._letter_group)[self._letter_group], 0)

    @cached_property
    def first_duplicate(self) -> Flags:
        """1 if the block is the first of several blocks with the same letters."""
        _, first = np.unique(self._letter_group, return_index=True)
        return (self.duplicates > 1) & np.isin(np.arange(self.count), first)
