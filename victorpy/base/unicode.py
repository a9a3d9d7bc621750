"""A table of character classes, so that one array look-up classifies all characters of a page.

unicode-runs.npy stores the table as runs of equal classes. ``python -m victorpy.base.unicode`` creates it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

LETTER, UPPER, LOWER, DIGIT, PUNCTUATION, SPACE, UNSPACED, END = (1 << bit for bit in range(8))
"""Flags of a character. UNSPACED marks letters of scripts without spaces between words, END marks sentence ends.
Combining marks count as letters, because Thai and Hindi words contain many."""

_RUNS = Path(__file__).parent / "unicode-runs.npy"
ENDS = frozenset("""!?.…。！？｡؟۔।॥։።፧៕။‼⁇⁈⁉""")
CLOSING = " \t\"'’”»›)]}」』）］】〉》"  # characters that still belong to a sentence after its final punctuation

_UNSPACED_SCRIPTS = (
    *("CJK", "IDEOGRAPHIC ITERATION", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA"),
    *("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "YI SYLLABLE"),
)


@cache
def flags_table() -> npt.NDArray[np.uint8]:
    """Return the flags of every code point."""
    starts, flags = np.load(_RUNS, allow_pickle=False)
    lengths = np.diff(np.append(starts, sys.maxunicode + 1))
    return np.repeat(flags.astype(np.uint8), lengths)


def classify(char: str) -> int:
    """Compute the flags of one character from Python's Unicode database.

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
    """Count the words of each text. In scripts without spaces, two letters count as one word.

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
    """Classify every code point. Returns the starts of runs with equal flags, and the flags of each run."""
    flags = np.array([classify(chr(code)) for code in range(sys.maxunicode + 1)], dtype=np.uint32)
    starts = np.flatnonzero(np.append(True, flags[1:] != flags[:-1])).astype(np.uint32)
    return np.stack([starts, flags[starts]])


_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    r"""Remove the characters that XML does not allow.

    >>> xml_text("tea\x00\x1b")
    'tea'
    """
    return _NOT_XML.sub("", text)


if __name__ == "__main__":
    np.save(_RUNS, build(), allow_pickle=False)
