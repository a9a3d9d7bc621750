"""A table of what each Unicode character is, so that a page's characters are classed by one array look-up.

The table is kept as runs in unicode-runs.npy; ``python -m victorpy.base.unicode`` writes it anew.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

LETTER, UPPER, LOWER, DIGIT, PUNCTUATION, SPACE, UNSPACED, END = (1 << bit for bit in range(8))
"""What a character can be. UNSPACED letters are of scripts that put no space between words, an END ends
a sentence; a combining mark is a LETTER, because Thai and Hindi words are full of them."""

_RUNS = Path(__file__).parent / "unicode-runs.npy"
ENDS = frozenset("""!?.…。！？｡؟۔।॥։።፧៕။‼⁇⁈⁉""")
CLOSING = " \t\"'’”»›)]}」』）］】〉》"
"""What may follow the end of a sentence and still belong to it."""

_UNSPACED_SCRIPTS = (
    "CJK",
    "IDEOGRAPHIC ITERATION",
    "HIRAGANA",
    "KATAKANA",
    "HALFWIDTH KATAKANA",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
    "TIBETAN",
    "YI SYLLABLE",
)


@cache
def flags_table() -> npt.NDArray[np.uint8]:
    """Give the flags of every code point."""
    starts, flags = np.load(_RUNS, allow_pickle=False)
    lengths = np.diff(np.append(starts, sys.maxunicode + 1))
    return np.repeat(flags.astype(np.uint8), lengths)


def classify(char: str) -> int:
    """Work out the flags of one character from Python's Unicode database.

    >>> classify("É") == LETTER | UPPER, classify("語") == LETTER | UNSPACED, classify("?") == PUNCTUATION | END
    (True, True, True)
    """
    category = unicodedata.category(char)
    flags = END if char in ENDS else 0
    if char.isspace():
        return flags | SPACE
    if category[0] in "LM":
        flags |= LETTER
        flags |= {"Lu": UPPER, "Lt": UPPER, "Ll": LOWER}.get(category, 0)
        if category in {"Lo", "Lm", "Mn", "Mc"} and unicodedata.name(char, "").startswith(_UNSPACED_SCRIPTS):
            flags |= UNSPACED
    elif category[0] == "N":
        flags |= DIGIT
    elif category[0] == "P":
        flags |= PUNCTUATION
    return flags


def count_words(texts: Sequence[str]) -> list[float]:
    """How many words each text has; of scripts without spaces two letters are counted as one.

    >>> count_words(["Tea, hot tea", "", "茶是饮料"])
    [3.0, 0.0, 2.0]
    """
    if not texts:
        return []
    joined = "\n".join(["", *texts])
    flags = flags_table()[np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")]
    unspaced = (flags & UNSPACED) != 0
    wordly = ((flags & (LETTER | DIGIT)) != 0) & ~unspaced
    begins = wordly & ~np.append(False, wordly[:-1])
    lengths = np.array([len(text) + 1 for text in texts])
    counts: list[float] = np.add.reduceat(begins + 0.5 * unspaced, np.cumsum(lengths) - lengths).tolist()
    return counts


def build() -> npt.NDArray[np.uint32]:
    """Class every code point; a row of where runs start and a row of their flags."""
    flags = np.array([classify(chr(code)) for code in range(sys.maxunicode + 1)], dtype=np.uint32)
    starts = np.flatnonzero(np.append(True, flags[1:] != flags[:-1])).astype(np.uint32)
    return np.stack([starts, flags[starts]])


if __name__ == "__main__":
    np.save(_RUNS, build(), allow_pickle=False)
