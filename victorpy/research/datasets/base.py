"""What a gold page is, and how a reader of a data set is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from victorpy.base.registry import Registry
from victorpy.errors import DataError, VictorError
from victorpy.page.decode import decode
from victorpy.research.align import Gold
from victorpy.sites.grouping import SITE_KEYS, site_of


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A page as it was found, and its gold."""

    name: str
    html: bytes
    gold: tuple[Gold, ...]
    url: str = ""
    page_type: str = ""
    site_key: str = SITE_KEYS[0]

    @property
    def site(self) -> str:
        """The page's site, or the page's name if it has no address."""
        return site_of(self.url, self.site_key) or self.name

    @property
    def text(self) -> str:
        """The gold text alone."""
        return "\n".join(segment.text for segment in self.gold)


_ADDRESSES = [
    re.compile(rb"<link\b[^>]*\brel=[\"']?canonical\b[^>]*\bhref=[\"']?(https?://[^\"'>\s]+)", re.IGNORECASE),
    re.compile(rb"<meta\b[^>]*\bog:url\b[^>]*\bcontent=[\"']?(https?://[^\"'>\s]+)", re.IGNORECASE),
    re.compile(rb"<base\b[^>]*\bhref=[\"']?(https?://[^\"'>\s]+)", re.IGNORECASE),
]
_LINK = re.compile(rb"\bhref=[\"']?(https?://[^\"'>\s/]+)", re.IGNORECASE)

Warn = Callable[[str], None]
Reader = Callable[[Path, Warn], Iterator[GoldPage]]

DATASETS: Registry[Reader] = Registry("data set", "victorpy.research.datasets")


def read_dataset(kind: str, directory: Path, warn: Warn, site_key: str = SITE_KEYS[0]) -> Iterator[GoldPage]:
    """Read the pages of a data set; what is wrong with a page is told to `warn`, and the page left out."""
    if not directory.is_dir():
        raise DataError(f"{directory}: no such directory")
    found = False
    for page in DATASETS.get(kind)(directory, warn):
        found = True
        yield replace(page, site_key=site_key)
    if not found:
        raise DataError(f"{directory}: no pages in the layout of {kind!r} in it")


def guess_address(page: bytes) -> str:
    """Guess the address of a page that came without one: what it says of itself, else where most of its links go."""
    for pattern in _ADDRESSES:
        found = pattern.search(page)
        if found:
            return found[1].decode("ascii", "replace")
    sites = Counter(site_of(link.decode("ascii", "replace")) for link in _LINK.findall(page))
    return f"http://{sites.most_common(1)[0][0]}/" if sites else ""


def read_page(path: Path, warn: Warn) -> bytes | None:
    """Read a page; one that cannot be read, or has nothing in it, is warned of."""
    try:
        content = path.read_bytes()
    except OSError as error:
        warn(f"{path}: cannot be read: {error.strerror or error}")
        return None
    if not content.strip():
        warn(f"{path}: the page is empty")
        return None
    return content


def read_gold(path: Path, warn: Warn) -> str:
    """Read a gold text of any encoding; one that cannot be read or says nothing is warned of, and empty."""
    try:
        decoded = decode(path.read_bytes())
    except (OSError, VictorError) as error:
        warn(f"{path}: the gold cannot be read: {error}")
        return ""
    if decoded.loss and decoded.source != "fallback":
        warn(f"{path}: used, but {decoded.loss}")
    text = decoded.text.strip()
    if not text:
        warn(f"{path}: the gold is empty")
    return text


def by_number(path: Path) -> tuple[int, str]:
    """Order files by the number that they are named with."""
    digits = "".join(char for char in path.name.partition(".")[0] if char.isdigit())
    return int(digits or 0), path.name
