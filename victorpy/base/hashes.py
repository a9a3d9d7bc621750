"""Hashes of texts that are the same in every process, and counters of the pages that contain a hash."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]

MASK = (1 << 64) - 1  # reduces an integer to 64 bits
_MAX_PENDING = 500_000
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)


def hash_text(text: str) -> int:
    """Return a 64-bit hash of a text. Python's own hash differs between processes."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def hash_texts(texts: Iterable[str]) -> list[int]:
    """Return the hashes of texts. Equal texts are hashed once."""
    texts = list(texts)
    hashes = {text: hash_text(text) for text in dict.fromkeys(texts)}
    return [hashes[text] for text in texts]


def mix(hashes: Hashes) -> Hashes:
    """Mix the bits of hashes, so that their order is random."""
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(33))


def windows(sequence: Hashes, size: int) -> Hashes:
    """Return a hash for each window of `size` members. A shorter sequence is one window.

    The hash of a window is a polynomial modulo 2^64: the difference of two running sums of member · base^position,
    divided by base^start. An odd base has an inverse modulo 2^64.

    >>> hashes = windows(np.array([7, 8, 9, 7, 8], dtype=np.uint64), 2)
    >>> len(hashes), bool(hashes[0] == hashes[3]), bool(hashes[0] == hashes[1])
    (4, True, False)
    """
    size = min(size, len(sequence))
    if not size:
        return sequence[:0]
    count = len(sequence) - size + 1
    sums = np.append(np.uint64(0), np.add.accumulate(mix(sequence + np.uint64(1)) * _powers(_BASE, len(sequence))))
    return mix((sums[size:] - sums[:-size]) * _powers(_INVERSE, count))


def _powers(base: int, count: int) -> Hashes:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


class PageCounts:
    """Counts the pages of a site that contain each hash. Adding a page again has no effect.

    Memory is bounded by `most` hashes, however many pages are added.
    """

    def __init__(self, most: int = 2_000_000) -> None:
        self._most = most
        self._pages: set[int] = set()
        self._hashes = np.zeros(0, dtype=np.uint64)
        self._counts = np.zeros(0, dtype=np.int64)
        self._pending: list[Hashes] = []

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, page: int, hashes: Hashes) -> None:
        """Count the hashes of a page, which is identified by the hash `page`."""
        if page in self._pages:
            return
        self._pages.add(page)
        self._pending.append(np.unique(hashes))
        if sum(map(len, self._pending)) > _MAX_PENDING:
            self._merge()

    def with_page(self, page: int) -> int:
        """Return the number of counted pages, including the given page."""
        return len(self._pages) + (page not in self._pages)

    def spread(self, page: int, hashes: Hashes) -> npt.NDArray[np.int64]:
        """Return the number of pages with each hash, including the given page."""
        self._merge()
        if not len(self._hashes):
            return np.ones(len(hashes), dtype=np.int64)
        index = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        counts = np.where(self._hashes[index] == hashes, self._counts[index], 0)
        spread: npt.NDArray[np.int64] = np.maximum(counts + (page not in self._pages), 1)
        return spread

    def _merge(self) -> None:
        """Merge the pending hashes. If there are too many, drop the hashes on the fewest pages."""
        if not self._pending:
            return
        hashes = np.concatenate([self._hashes, *self._pending])
        counts = np.ones(len(hashes), dtype=np.int64)
        counts[: len(self._counts)] = self._counts
        self._hashes, index = np.unique(hashes, return_inverse=True)
        self._counts = np.bincount(index, weights=counts).astype(np.int64)
        self._pending = []
        fewest = 1
        while len(self._hashes) > self._most:
            kept = self._counts > fewest
            self._hashes, self._counts = self._hashes[kept], self._counts[kept]
            fewest += 1


def min_template_pages(wanted: int, pages: int) -> int:
    """Return how many pages must contain a template text: `wanted`, or half of a small site, but at least two."""
    return min(wanted, max(2, (pages + 1) // 2))
