"""The words of pages, the terms among them, count matrices, and what survives cleaning.

The share of words that a method drops and the share of values that survive belong together: keeping everything keeps
all values, dropping everything removes all noise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
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

    def extend(self, other: Bags) -> None:
        """Add the pages of other bags."""
        numbers = [self._numbers.setdefault(term, len(self._numbers)) for term in other._numbers]
        ours = np.array(numbers, dtype=np.int32)
        self._columns += [ours[columns] for columns in other._columns]
        self._counts += other._counts

    def matrix(self) -> Counts:
        """Return all pages as one sparse matrix, with rows in the order in which pages were added."""
        from scipy.sparse import csr_matrix

        ends = np.cumsum([0, *(len(columns) for columns in self._columns)])
        empty = np.empty(0, dtype=np.int32)  # there may be no page at all
        columns, counts = (np.concatenate([*parts, empty]) for parts in (self._columns, self._counts))
        shape = (len(self._columns), max(len(self._numbers), 1))
        return csr_matrix((counts, columns, ends), shape=shape)


def occurring(values: Iterable[str], words: Sequence[str]) -> tuple[bool, ...]:
    """Whether the words of each value follow one another in a text.

    >>> occurring(["canon eos", "eos canon", "can"], ["the", "canon", "eos", "7d"])
    (True, False, False)
    """
    text = f" {' '.join(words)} "
    return tuple(f" {value} " in text for value in values)


@dataclass(frozen=True, slots=True)
class Survival:
    """Counts of pages, their values and their words, before and after cleaning."""

    pages: int = 0
    empty: int = 0
    """Pages of which nothing is left, although they had words."""
    values: int = 0
    present: int = 0
    """Values that occur in the text before cleaning. Others are in attributes, titles or pictures, or reworded."""
    survived: int = 0
    """Those that still occur after cleaning."""
    words: int = 0
    kept: int = 0

    @classmethod
    def of(cls, before: Sequence[bool], after: Sequence[bool], words: int, kept: int) -> Survival:
        """Count one page, given which of its values occur before and after cleaning, and its numbers of words."""
        survived = sum(first and second for first, second in zip(before, after, strict=True))
        return cls(1, int(words > 0 and not kept), len(before), sum(before), survived, words, kept)

    @classmethod
    def sum(cls, counts: Iterable[Survival]) -> Survival:
        """Add up the counts of many pages."""
        pages = list(counts)
        return cls(*(sum(getattr(page, column.name) for page in pages) for column in fields(cls)))

    def scores(self) -> dict[str, Any]:
        """Return the counts and the two shares; a share of nothing is None."""
        survived = self.survived / self.present if self.present else None
        removed = 1 - self.kept / self.words if self.words else None
        return asdict(self) | {"survived_share": survived, "removed_share": removed}
