"""Split texts and element names in any script into hashed tokens, with only a few array operations per page."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from victorpy.base import unicode
from victorpy.columns.text import Counts, Flags

Hashes = npt.NDArray[np.uint64]
Codes = npt.NDArray[np.uint32]

# All characters after the 64th are weighted like the 64th.
_LONGEST = 64
_POWERS = np.multiply.accumulate(np.full(_LONGEST, 0x100000001B3, dtype=np.uint64))
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Tokens(NamedTuple):
    """The tokens of a text, in order."""

    codes: Codes  # the folded characters of the text
    starts: Counts
    lengths: Counts
    hashes: Hashes

    def spell(self, number: int) -> str:
        start = int(self.starts[number])
        return self.codes[start : start + int(self.lengths[number])].tobytes().decode("utf-32-le")


def tokens_of_words(text: str) -> Tokens:
    """Split a text into words.

    A word is a run of letters and digits. Letters of scripts without spaces, and symbols such as © or €,
    are words by themselves.
    """
    codes = code_points(text)
    return split_words(text, codes, unicode.flags_table()[codes])


def split_words(text: str, codes: Codes, flags: npt.NDArray[np.uint8]) -> Tokens:
    """Split a text into words, given its code points and their Unicode flags."""
    unspaced = (flags & unicode.UNSPACED) != 0
    in_word = ((flags & (unicode.LETTER | unicode.DIGIT)) != 0) & ~unspaced
    begins = in_word.copy()
    begins[1:] &= ~in_word[:-1]
    alone = unspaced | (flags == 0)
    return _hashed(fold(text, flags), in_word | alone, begins | alone)


def tokens_of_names(names: list[str]) -> Tokens:
    """Split element names into tokens: ``div mainContent-2`` becomes ``<div``, ``main`` and ``content``."""
    joined = "".join(f"<{name}\n" for name in names)
    codes = code_points(joined)
    flags = unicode.flags_table()[codes]
    letters = (flags & unicode.LETTER) != 0
    upper = (flags & unicode.UPPER) != 0
    bracket = codes == ord("<")
    begins = letters.copy()
    begins[1:] &= (~letters[:-1] | (upper[1:] & ~upper[:-1])) & ~bracket[:-1]  # "<div" is one token
    return _hashed(fold(joined, flags), letters | bracket, begins | bracket)


def code_points(text: str) -> Codes:
    """Return the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def hash_tokens(codes: Codes, inside: Flags, begins: Flags) -> Hashes:
    """Hash the tokens of a folded text.

    The arguments mark the characters that are inside tokens and those that begin one.
    """
    return _hashed(codes, inside, begins).hashes


def fold(text: str, flags: npt.NDArray[np.uint8]) -> Codes:
    """Return a text's code points in lower case, with 0 for every digit."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.replace("İ", "I").lower()  # the only letter whose lower case is two characters
    return np.where((flags & unicode.DIGIT) != 0, ord("0"), code_points(lower)).astype(np.uint32)


def _hashed(codes: Codes, inside: Flags, begins: Flags) -> Tokens:
    offsets = np.flatnonzero(inside)
    if not len(offsets):
        return Tokens(codes, offsets, offsets, np.zeros(0, dtype=np.uint64))
    starts = np.flatnonzero(begins[offsets])
    lengths = np.diff(np.append(starts, len(offsets)))
    rank = np.minimum(np.arange(len(offsets)) - np.repeat(starts, lengths), _LONGEST - 1)
    spread = codes[offsets].astype(np.uint64) * _SPREAD
    mixed = (spread ^ (spread >> np.uint64(29))) * _POWERS[rank]
    return Tokens(codes, offsets[starts], lengths, np.add.reduceat(mixed, starts))
