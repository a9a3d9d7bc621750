"""The words of pages: the terms that are counted, and the count matrices that mining starts from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

_WORD = re.compile(r"\w+")

Counts = Any
"""A sparse matrix of scipy: a row a page, a column a term."""


def words_of(text: str) -> list[str]:
    """The words of a text, lower-cased.

    >>> words_of("Canon's EOS-7D: $1,699")
    ['canon', 's', 'eos', '7d', '1', '699']
    """
    return _WORD.findall(text.lower())


def phrase(text: str) -> str:
    """The words of a text with one space between."""
    return " ".join(words_of(text))


def terms(words: Iterable[str]) -> Counter[str]:
    """Count the words that say what a page is about: single characters and mere numbers do not.

    >>> sorted(terms(words_of("Canon's EOS-7D: $1,699")).items())
    [('7d', 1), ('canon', 1), ('eos', 1)]
    """
    return Counter(word for word in words if len(word) > 1 and not word.isdigit())


class Bags:
    """The terms of pages as they come, as numbers: far smaller than the texts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._columns: list[npt.NDArray[np.int32]] = []
        self._counts: list[npt.NDArray[np.int32]] = []

    def add(self, counts: Mapping[str, int]) -> None:
        """Add a page."""
        numbers = self._numbers
        columns = [numbers.setdefault(term, len(numbers)) for term in counts]
        self._columns.append(np.array(columns, dtype=np.int32))
        self._counts.append(np.fromiter(counts.values(), dtype=np.int32, count=len(counts)))

    def matrix(self) -> Counts:
        """All pages as one sparse matrix, rows in the order in which they came."""
        from scipy.sparse import csr_matrix

        ends = np.cumsum([0, *(len(columns) for columns in self._columns)])
        nothing = np.empty(0, dtype=np.int32)
        columns = np.concatenate([*self._columns, nothing])
        counts = np.concatenate([*self._counts, nothing])
        shape = (len(self._columns), max(len(self._numbers), 1))
        return csr_matrix((counts, columns, ends), shape=shape)
