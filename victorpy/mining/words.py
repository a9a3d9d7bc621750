"""The words of pages, the terms among them, and the count matrices that mining starts from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

_WORD = re.compile(r"\w+")

Counts = Any
"""A sparse matrix of scipy with a row per page and a column per term."""


def words_of(text: str) -> list[str]:
    """Return the words of a text, lower-cased.

    >>> words_of("Canon's EOS-7D: $1,699")
    ['canon', 's', 'eos', '7d', '1', '699']
    """
    return _WORD.findall(text.lower())


def phrase(text: str) -> str:
    """Return the words of a text, separated by one space."""
    return " ".join(words_of(text))


def terms(words: Iterable[str]) -> Counter[str]:
    """Count the words that say what a page is about: no single characters, no numbers.

    >>> sorted(terms(words_of("Canon's EOS-7D: $1,699")).items())
    [('7d', 1), ('canon', 1), ('eos', 1)]
    """
    return Counter(word for word in words if len(word) > 1 and not word.isdigit())


class Bags:
    """Collects the terms of pages as numbers, which are far smaller than the texts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._columns: list[npt.NDArray[np.int32]] = []
        self._counts: list[npt.NDArray[np.int32]] = []

    def add(self, counts: Mapping[str, int]) -> None:
        """Add the counts of a page."""
        columns = [self._numbers.setdefault(term, len(self._numbers)) for term in counts]
        self._columns.append(np.array(columns, dtype=np.int32))
        self._counts.append(np.fromiter(counts.values(), dtype=np.int32, count=len(counts)))

    def matrix(self) -> Counts:
        """Return all pages as one sparse matrix, with rows in the order in which pages were added."""
        from scipy.sparse import csr_matrix

        ends = np.cumsum([0, *(len(columns) for columns in self._columns)])
        empty = np.empty(0, dtype=np.int32)  # there may be no page at all
        columns, counts = (np.concatenate([*parts, empty]) for parts in (self._columns, self._counts))
        shape = (len(self._columns), max(len(self._numbers), 1))
        return csr_matrix((counts, columns, ends), shape=shape)
