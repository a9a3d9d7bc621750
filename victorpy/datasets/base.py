"""What a gold page is, and how a reader of a data set is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from victorpy.align import Gold
from victorpy.decode import decode
from victorpy.errors import DataError, VictorError
from victorpy.registry import Registry


@dataclass(frozen=True, slots=True)
class GoldPage:
    """A page as it was found, and its gold."""

    name: str
    html: bytes
    gold: tuple[Gold, ...]
    url: str = ""
    page_type: str = ""

    @property
    def site(self) -> str:
        """The page's host, without www; pages of one site share it."""
        try:
            host = urlsplit(self.url).netloc.lower()
        except ValueError:  # pages have broken addresses
            host = ""
        return host.removeprefix("www.") or self.name

    @property
    def text(self) -> str:
        """The gold text alone."""
        return "\n".join(segment.text for segment in self.gold)


_ADDRESSES = [
    re.compile(rb"<link\b[^>]*\brel=[\"']?canonical\b[^>]*\bhref=[\"']?(https?://[^\"'>\s]+)", re.IGNORECASE),
    re.compile(rb"<meta\b[^>]*\bog:url\b[^>]*\bcontent=[\"']?(https?://[^\"'>\s]+)", re.IGNORECASE),
    re.compile(rb"<base\b[^>]*\bhref=[\"']?(https?://[^\"'>\s]+)", re.IGNORECASE),
    re.compile(rb"<a\b[^>]*\bhref=[\"']?(https?://[^\"'>\s]+)", re.IGNORECASE),
]

Warn = Callable[[str], None]
Reader = Callable[[Path, Warn], Iterator[GoldPage]]

DATASETS: Registry[Reader] = Registry("data set", "victorpy.datasets")


def read_dataset(kind: str, directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Read the pages of a data set; what is wrong with a page is told to `warn`, and the page left out."""
    if not directory.is_dir():
        raise DataError(f"{directory}: no such directory")
    found = False
    for page in DATASETS.get(kind)(directory, warn):
        found = True
        yield page
    if not found:
        raise DataError(f"{directory}: no pages in the layout of {kind!r} in it")


def canonical_site(page: bytes) -> str:
    """Guess the address of a page that came without one: its canonical link, og:url, base or first full link."""
    for pattern in _ADDRESSES:
        found = pattern.search(page)
        if found:
            return found[1].decode("ascii", "replace")
    return ""


def read_gold(path: Path, warn: Warn) -> str:
    """Read a gold text of any encoding; one that cannot be read or says nothing is warned of, and empty."""
    try:
        text = decode(path.read_bytes()).text.strip()
    except (OSError, VictorError) as error:
        warn(f"{path}: the gold cannot be read: {error}")
        return ""
    if not text:
        warn(f"{path}: the gold is empty")
    return text


def by_number(path: Path) -> tuple[int, str]:
    """Order files by the number that they are named with."""
    digits = "".join(char for char in path.name.partition(".")[0] if char.isdigit())
    return int(digits or 0), path.name
