"""Numbers that stand for texts, the same in every process, and on how many pages of a site each number is."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.uint64]

MASK = (1 << 64) - 1
"""Reduces any whole number to 64 bits."""

MOST = 2_000_000
"""How many different numbers are counted; memory does not grow with the pages."""

_PENDING = 500_000
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)


def number_of(text: str) -> int:
    """Return a 64-bit number for a text. Python's own hash of a text differs from process to process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def numbers_of(texts: Iterable[str]) -> list[int]:
    """Return the numbers of texts, hashing equal texts once."""
    texts = list(texts)
    numbers = {text: number_of(text) for text in dict.fromkeys(texts)}
    return [numbers[text] for text in texts]


def mixed(numbers: Numbers) -> Numbers:
    """Scatter numbers, so that their order is random."""
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(33))


def windows(sequence: Numbers, size: int) -> Numbers:
    """Return a number for each stretch of `size` members. A shorter sequence is one stretch, an empty one none.

    The stretch at i is the polynomial of its members: the difference of two running sums of member · base^place,
    divided by base^i. All of it is modulo 2^64, where an odd base has an inverse.

    >>> found = windows(np.array([7, 8, 9, 7, 8], dtype=np.uint64), 2)
    >>> len(found), bool(found[0] == found[3]), bool(found[0] == found[1])
    (4, True, False)
    """
    size = min(size, len(sequence))
    if not size:
        return sequence[:0]
    places = len(sequence) - size + 1
    sums = np.append(np.uint64(0), np.add.accumulate(mixed(sequence + np.uint64(1)) * _powers(_BASE, len(sequence))))
    return mixed((sums[size:] - sums[:-size]) * _powers(_INVERSE, places))


def _powers(base: int, count: int) -> Numbers:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


class PageCounts:
    """Counts the pages of a site that have a number. A page that is added twice counts once."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._pages: set[int] = set()
        self._numbers = np.zeros(0, dtype=np.uint64)
        self._counts = np.zeros(0, dtype=np.int64)
        self._pending: list[Numbers] = []

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, page: int, numbers: Numbers) -> None:
        """Add a page's hashes to the counts. `page` is a number that identifies the page."""
        if page in self._pages:
            return
        self._pages.add(page)
        self._pending.append(np.unique(numbers))
        if sum(map(len, self._pending)) > _PENDING:
            self._merge()

    def with_page(self, page: int) -> int:
        """Return how many pages there are, including this one."""
        return len(self._pages) + (page not in self._pages)

    def spread(self, page: int, numbers: Numbers) -> npt.NDArray[np.int64]:
        """Return on how many pages each number of a page is, including the page itself."""
        self._merge()
        if not len(self._numbers):
            return np.ones(len(numbers), dtype=np.int64)
        place = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        counts = np.where(self._numbers[place] == numbers, self._counts[place], 0)
        spread: npt.NDArray[np.int64] = np.maximum(counts + (page not in self._pages), 1)
        return spread

    def _merge(self) -> None:
        """Add up the pending numbers. If there are too many, forget those on the fewest pages."""
        if not self._pending:
            return
        numbers = np.concatenate([self._numbers, *self._pending])
        counts = np.ones(len(numbers), dtype=np.int64)
        counts[: len(self._counts)] = self._counts
        self._numbers, place = np.unique(numbers, return_inverse=True)
        self._counts = np.bincount(place, weights=counts).astype(np.int64)
        self._pending = []
        fewest = 1
        while len(self._numbers) > self._most:
            kept = self._counts > fewest
            self._numbers, self._counts = self._numbers[kept], self._counts[kept]
            fewest += 1


def enough(wanted: int, pages: int) -> int:
    """Return on how many pages of a site a template must be: `wanted`, on small sites half, but at least two."""
    return min(wanted, max(2, (pages + 1) // 2))
