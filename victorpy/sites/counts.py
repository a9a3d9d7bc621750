"""On how many pages of a site something is: counted page by page, in memory that does not grow with the pages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from victorpy.sites.hashes import Numbers

MOST = 2_000_000
"""So many different numbers are remembered."""

_PENDING = 500_000


class PageCounts:
    """Counts the pages of a site that have a number. A page that comes twice is one page."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._seen: set[int] = set()
        self._numbers = np.zeros(0, dtype=np.uint64)
        self._counts = np.zeros(0, dtype=np.int64)
        self._pending: list[Numbers] = []

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, page: int, numbers: Numbers) -> None:
        """Count the numbers of a page, which itself is known by one."""
        if page in self._seen:
            return
        self._seen.add(page)
        self._pending.append(np.unique(numbers))
        if sum(map(len, self._pending)) > _PENDING:
            self._merge()

    def with_page(self, page: int) -> int:
        """How many pages there are when this one is among them."""
        return len(self._seen) + (page not in self._seen)

    def spread(self, page: int, numbers: Numbers) -> npt.NDArray[np.int64]:
        """On how many pages each number of a page is, the page itself always among them."""
        self._merge()
        if not len(self._numbers):
            return np.ones(len(numbers), dtype=np.int64)
        place = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        counts = np.where(self._numbers[place] == numbers, self._counts[place], 0)
        found: npt.NDArray[np.int64] = np.maximum(counts + (page not in self._seen), 1)
        return found

    def _merge(self) -> None:
        """Add up what has come in. When it is too much, what was on the fewest pages is forgotten."""
        if not self._pending:
            return
        numbers = np.concatenate([self._numbers, *self._pending])
        counts = np.ones(len(numbers), dtype=np.int64)
        counts[: len(self._counts)] = self._counts
        self._numbers, place = np.unique(numbers, return_inverse=True)
        self._counts = np.bincount(place, weights=counts).astype(np.int64)
        self._pending = []
        few = 1
        while len(self._numbers) > self._most:
            kept = self._counts > few
            self._numbers, self._counts = self._numbers[kept], self._counts[kept]
            few += 1


def enough(wanted: int, pages: int) -> int:
    """On how many pages of a site a template is: as many as wanted, but on small sites half of the pages, and two."""
    return min(wanted, max(2, (pages + 1) // 2))
