"""What is mined: pages of several sites, each in a known vertical; and the methods that clean them.

A vertical is one of SWDE's kinds of page (book, camera ...), the papers' class. Pages are kept compressed, because a
site may have pages in several verticals and is cleaned as a whole.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from victorpy.base.parameters import split_names
from victorpy.base.words import simple_words
from victorpy.errors import DataError
from victorpy.methods import Method
from victorpy.research.datasets import read_dataset
from victorpy.research.datasets.base import Warn
from victorpy.research.gold import parse_data
from victorpy.sites.grouping import SITE_KEYS

NONE = "none"
"""Name of the method that does not clean: all text of a page."""


@dataclass(frozen=True, slots=True)
class MinedPage:
    """A page with its site, its vertical, and the values that a cleaner must keep."""

    name: str
    site: str
    vertical: str
    url: str
    values: tuple[str, ...]
    """Lower-cased words separated by one space. Values without a word are left out."""
    packed: bytes

    @property
    def html(self) -> bytes:
        """The page's original bytes."""
        return zlib.decompress(self.packed)


def parse_methods(names: str) -> list[Method]:
    """Read ``sst,sst(t=0.3)``. No cleaning always comes first, since all others are compared with it."""
    methods = [
        Method("everything" if name == NONE else name, tuple(parameters), label=name)
        for name, parameters in [(NONE, []), *split_names(names)]
    ]
    for method in methods:
        method.load()  # report a wrong name or parameter before the pages are read
    return list(dict.fromkeys(methods))


def read_pages(specs: Iterable[str], limit: int, warn: Warn, site_key: str = SITE_KEYS[0]) -> list[MinedPage]:
    """Read data sets, at most `limit` pages per site and vertical (0 for all), and sort the pages by site."""
    counts: Counter[tuple[str, str]] = Counter()
    pages = []
    for spec in specs:
        for page in read_dataset(*parse_data(spec), warn, site_key):
            if not page.page_type:
                raise DataError(
                    f"{spec}: the kind of {page.name} is not known; mining needs kinds of pages, as in swde"
                )
            counts[page.site, page.page_type] += 1
            if not limit or counts[page.site, page.page_type] <= limit:
                values = tuple(value for segment in page.gold if (value := " ".join(simple_words(segment.text))))
                packed = zlib.compress(page.html, 1)
                pages.append(MinedPage(page.name, page.site, page.page_type, page.url, values, packed))
    return sorted(pages, key=lambda page: (page.site, page.vertical, page.name))


def check_pages(pages: Sequence[MinedPage]) -> None:
    """Raise if pages cannot be mined: there must be two verticals, and values to keep."""
    verticals = sorted({page.vertical for page in pages})
    if len(verticals) < 2:
        found = f"only {verticals[0]!r} was found" if verticals else "no page was found"
        raise DataError(f"mining needs pages of at least two verticals; {found}")
    if not any(page.values for page in pages):
        raise DataError("no page has values to keep: is the groundtruth directory there?")


def by_site(pages: Sequence[MinedPage]) -> list[list[MinedPage]]:
    """Group sorted pages by site."""
    return [list(group) for _, group in groupby(pages, key=lambda page: page.site)]
