"""The terms that categories are told by, and pages as vectors of them.

Terms are selected by χ² (Y. Yang and J. O. Pedersen, A Comparative Study on Feature Selection in Text Categorization,
1997): how far a term's being on a page and the page's being of a category are from chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Bag = Mapping[str, int]
"""How often each term is on a page."""


class Vectors(NamedTuple):
    """Pages as sparse rows of one matrix: the weights of all, their columns, and the row of each."""

    rows: Numbers
    columns: Numbers
    weights: Floats
    height: int
    """How many rows there are; one may have no weights."""

    def dot(self, dense: Floats) -> Floats:
        """The product of every row with a vector."""
        return summed(self.rows, self.weights * dense[self.columns], self.height)


def summed(places: Numbers, values: Floats, count: int) -> Floats:
    """Add values up by place; there are so many places."""
    return np.asarray(np.bincount(places, values, minlength=count), dtype=np.float64)


@dataclass(frozen=True)
class Vocabulary:
    """The terms that count, the most telling first, and how rare each is."""

    terms: tuple[str, ...]
    idf: Floats

    @cached_property
    def number(self) -> dict[str, int]:
        """The column of each term."""
        return {term: number for number, term in enumerate(self.terms)}

    def vectors(self, bags: Sequence[Bag]) -> Vectors:
        """Pages as vectors of length one: (1 + log of a term's count) times its rarity."""
        rows, columns, counts = [], [], []
        for row, bag in enumerate(bags):
            known = [(self.number[term], count) for term, count in bag.items() if term in self.number]
            rows += [row] * len(known)
            columns += [column for column, _ in known]
            counts += [count for _, count in known]
        row_of, column_of = np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
        weights = (1 + np.log(np.array(counts, dtype=np.float64))) * self.idf[column_of]
        lengths = np.sqrt(summed(row_of, weights**2, len(bags)))
        return Vectors(row_of, column_of, weights / lengths[row_of], len(bags))

    def vector(self, bag: Bag) -> Floats:
        """One page as a vector with a place for every term; all zero where it has none of them."""
        found = self.vectors([bag])
        dense = np.zeros(len(self.terms))
        dense[found.columns] = found.weights
        return dense


def select_terms(bags: Sequence[Bag], labels: Sequence[int], categories: int, most: int) -> Vocabulary:
    """The terms with the highest χ², that of the category that each tells best; as many as asked for."""
    on_pages = document_frequencies(bags, labels, categories)
    terms = sorted(term for term in on_pages if sum(on_pages[term]) > 1)  # on a single page it says nothing of others
    table = np.array([on_pages[term] for term in terms], dtype=np.float64).reshape(len(terms), categories)
    sizes = np.bincount(np.asarray(labels, dtype=np.int64), minlength=categories).astype(np.float64)
    best = chi_squared(table, sizes).max(axis=1, initial=0)
    chosen = np.lexsort((np.arange(len(terms)), -best))[:most]
    frequency = table.sum(axis=1)[chosen]
    return Vocabulary(tuple(terms[number] for number in chosen), np.log(len(bags) / frequency) + 1)


def document_frequencies(bags: Sequence[Bag], labels: Sequence[int], categories: int) -> dict[str, list[int]]:
    """On how many pages of each category every term is."""
    found: dict[str, list[int]] = {}
    counts = [Counter[str]() for _ in range(categories)]
    for bag, label in zip(bags, labels, strict=True):
        counts[label].update(bag.keys())
    for label, counted in enumerate(counts):
        for term, number in counted.items():
            found.setdefault(term, [0] * categories)[label] = number
    return found


def chi_squared(on_pages: Floats, sizes: Floats) -> Floats:
    """χ² of each term (rows) and category: N(AD - CB)² / ((A + C)(B + D)(A + B)(C + D)).

    A pages of the category have the term, B of the others; C and D have it not.

    >>> chi_squared(np.array([[4.0, 0.0], [2.0, 2.0]]), np.array([4.0, 4.0])).tolist()
    [[8.0, 8.0], [0.0, 0.0]]
    """
    total = sizes.sum()
    a = on_pages
    b = on_pages.sum(axis=1, keepdims=True) - a
    c = sizes - a
    d = total - sizes - b
    below = (a + c) * (b + d) * (a + b) * (c + d)
    above = total * (a * d - c * b) ** 2
    return np.asarray(np.divide(above, below, out=np.zeros_like(above), where=below > 0))
