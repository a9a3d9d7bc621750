"""Pages of several sites, each of a known kind: what is mined.

A kind of page is SWDE's vertical (book, camera ...), the papers' class. Pages are kept packed, because a site may have
pages in several verticals and is cleaned as one.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from victorpy.datasets import GoldPage, read_dataset
from victorpy.datasets.base import Warn
from victorpy.errors import DataError
from victorpy.gold import parse_data
from victorpy.mining.words import phrase


@dataclass(frozen=True, slots=True)
class MinedPage:
    """A page, the site that it is of, what kind of page it is, and the values that a cleaner must keep."""

    name: str
    site: str
    vertical: str
    url: str
    values: tuple[str, ...]
    """Lower-cased words with one space between; a value without any word cannot be looked for."""
    packed: bytes

    @property
    def html(self) -> bytes:
        """The page as it was found."""
        return zlib.decompress(self.packed)


def read_pages(specs: Iterable[str], limit: int, warn: Warn) -> list[MinedPage]:
    """Read data sets; of each site and vertical at most the first `limit` pages, or all for 0. Sites are together."""
    taken: Counter[tuple[str, str]] = Counter()
    pages = []
    for spec in specs:
        kind, directory = parse_data(spec)
        for page in read_dataset(kind, directory, warn):
            _check_type(page, spec)
            taken[page.site, page.page_type] += 1
            if not limit or taken[page.site, page.page_type] <= limit:
                pages.append(_packed(page))
    return sorted(pages, key=lambda page: (page.site, page.vertical, page.name))


def _check_type(page: GoldPage, spec: str) -> None:
    if not page.page_type:
        raise DataError(f"{spec}: {page.name} is of no known kind; mining needs pages of known kinds, as swde has them")


def _packed(page: GoldPage) -> MinedPage:
    values = tuple(filter(None, (phrase(segment.text) for segment in page.gold)))
    return MinedPage(page.name, page.site, page.page_type, page.url, values, zlib.compress(page.html, 1))


def check_pages(pages: Sequence[MinedPage]) -> None:
    """Refuse pages that cannot be mined: there must be two verticals, and something that must survive."""
    verticals = sorted({page.vertical for page in pages})
    if len(verticals) < 2:
        found = f"only {verticals[0]!r} was found" if verticals else "no page was found"
        raise DataError(f"pages of at least two verticals are needed to cluster and classify them; {found}")
    if not any(page.values for page in pages):
        raise DataError("no page has values that must survive: is the groundtruth directory there?")


def by_site(pages: Sequence[MinedPage]) -> list[list[MinedPage]]:
    """The pages of each site, in their order."""
    return [list(found) for _, found in groupby(pages, key=lambda page: page.site)]
