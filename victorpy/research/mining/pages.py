"""Pages of several sites, each of a known kind: what is mined.

A kind of page is SWDE's vertical (book, camera ...), the papers' class. Pages are kept compressed, because a site may
have pages in several verticals and is cleaned as a whole.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from victorpy.errors import DataError
from victorpy.research.datasets import read_dataset
from victorpy.research.datasets.base import Warn
from victorpy.research.gold import parse_data
from victorpy.research.mining.words import phrase


@dataclass(frozen=True, slots=True)
class MinedPage:
    """A page with its site, its vertical, and the values that a cleaner must keep."""

    name: str
    site: str
    vertical: str
    url: str
    values: tuple[str, ...]
    """Lower-cased words separated by one space; values without a word are left out."""
    packed: bytes

    @property
    def html(self) -> bytes:
        """The page's original bytes."""
        return zlib.decompress(self.packed)


def read_pages(specs: Iterable[str], limit: int, warn: Warn) -> list[MinedPage]:
    """Read data sets, at most `limit` pages per site and vertical (0 for all), and sort the pages by site."""
    counts: Counter[tuple[str, str]] = Counter()
    pages = []
    for spec in specs:
        for page in read_dataset(*parse_data(spec), warn):
            if not page.page_type:
                raise DataError(
                    f"{spec}: {page.name} is of no known kind; mining needs pages of known kinds, as swde has them"
                )
            counts[page.site, page.page_type] += 1
            if not limit or counts[page.site, page.page_type] <= limit:
                values = tuple(filter(None, (phrase(segment.text) for segment in page.gold)))
                packed = zlib.compress(page.html, 1)
                pages.append(MinedPage(page.name, page.site, page.page_type, page.url, values, packed))
    return sorted(pages, key=lambda page: (page.site, page.vertical, page.name))


def check_pages(pages: Sequence[MinedPage]) -> None:
    """Raise if pages cannot be mined: there must be two verticals, and values that should survive."""
    verticals = sorted({page.vertical for page in pages})
    if len(verticals) < 2:
        found = f"only {verticals[0]!r} was found" if verticals else "no page was found"
        raise DataError(f"pages of at least two verticals are needed to cluster and classify them; {found}")
    if not any(page.values for page in pages):
        raise DataError("no page has values that must survive: is the groundtruth directory there?")


def by_site(pages: Sequence[MinedPage]) -> list[list[MinedPage]]:
    """Group sorted pages by site."""
    return [list(group) for _, group in groupby(pages, key=lambda page: page.site)]
