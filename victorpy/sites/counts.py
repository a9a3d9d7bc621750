"""On how many pages of a site something is: counted page by page, in memory that does not grow with the pages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from victorpy.sites.hashes import Numbers

MOST = 2_000_000
"""How many different numbers are remembered."""

_PENDING = 500_000


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
        """Count the numbers of a page, which is itself identified by a number."""
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
