"""SWDE: VERTICAL/VERTICAL-SITE(...)/N.htm and groundtruth/VERTICAL/VERTICAL-SITE-ATTRIBUTE.txt.

Its gold is no text but the values that a cleaner must keep: each is a segment.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from victorpy.align import Gold
from victorpy.datasets.base import DATASETS, GoldPage, Warn, read_gold, read_page
from victorpy.decode import decode

_MISSING = "<NULL>"


@DATASETS.register("swde")
def read_swde(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Read every site's pages with the attribute values that belong to them."""
    for site in sorted(path for path in directory.glob("*/*") if path.is_dir() and path.parent.name != "groundtruth"):
        vertical = site.parent.name
        name = site.name.partition("(")[0]
        values = _values(directory / "groundtruth" / vertical, name, warn)
        for page in sorted(site.glob("*.htm*")):
            found = values.get(page.stem, [])
            if not found:
                warn(f"{page}: no attribute values")
                continue
            url = f"http://{name.removeprefix(vertical + '-')}.example/{page.stem}"
            content = read_page(page, warn)
            if content is None:
                continue
            yield GoldPage(f"{name}/{page.stem}", content, _in_page_order(found, content), url, vertical)


def _in_page_order(values: list[str], page: bytes) -> tuple[Gold, ...]:
    """Attribute files come one after the other; the page shows their values in an order of its own."""
    text = " ".join(html.unescape(decode(page).text).split())
    places = {value: text.find(" ".join(value.split())) for value in values}
    return tuple(Gold(value) for value in sorted(values, key=lambda value: places[value] % (len(text) + 1)))


def _values(directory: Path, site: str, warn: Warn) -> dict[str, list[str]]:
    """Collect the attribute values of a site's pages, by page."""
    values: dict[str, list[str]] = defaultdict(list)
    for path in sorted(directory.glob(f"{site}-*.txt")):
        for number, line in enumerate(read_gold(path, warn).split("\n")[2:], 3):
            page, *rest = line.rstrip("\r").split("\t")
            if len(rest) < 2:
                warn(f"{path}:{number}: expected page, count and values between tabs")
                continue
            values[page] += [html.unescape(value) for value in rest[1:] if value and value != _MISSING]
    return values
