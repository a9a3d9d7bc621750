"""SWDE: VERTICAL/VERTICAL-SITE(...)/N.htm and groundtruth/VERTICAL/VERTICAL-SITE-ATTRIBUTE.txt.

Its gold is not a text but the values that a cleaner must keep, each of them a segment.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from victorpy.page.decode import decode
from victorpy.research.align import Gold
from victorpy.research.datasets.base import DATASETS, GoldPage, Warn, read_gold, read_page

_MISSING = "<NULL>"


@DATASETS.register("swde")
def read_swde(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Read every site's pages with the attribute values that belong to them."""
    for site in sorted(path for path in directory.glob("*/*") if path.is_dir() and path.parent.name != "groundtruth"):
        vertical = site.parent.name
        name = site.name.partition("(")[0]
        values = _values(directory / "groundtruth" / vertical, name, warn)
        for page in sorted(site.glob("*.htm*")):
            page_values = values.get(page.stem, [])
            if not page_values:
                warn(f"{page}: no attribute values")
                continue
            content = read_page(page, warn)
            if content is None:
                continue
            text = " ".join(html.unescape(decode(content).text).split())
            places = {value: text.find(" ".join(value.split())) % (len(text) + 1) for value in page_values}
            gold = tuple(Gold(value) for value in sorted(page_values, key=places.__getitem__))  # in page order
            url = f"http://{name.removeprefix(vertical + '-')}.example/{page.stem}"
            yield GoldPage(f"{name}/{page.stem}", content, gold, url, vertical)


def _values(directory: Path, site: str, warn: Warn) -> dict[str, list[str]]:
    """Return the attribute values of a site's pages, by page."""
    values: dict[str, list[str]] = defaultdict(list)
    for path in sorted(directory.glob(f"{site}-*.txt")):
        for number, line in enumerate(read_gold(path, warn).split("\n")[2:], 3):
            page, *rest = line.rstrip("\r").split("\t")
            if len(rest) < 2:
                warn(f"{path}:{number}: expected page, count and values between tabs")
                continue
            values[page] += [html.unescape(value) for value in rest[1:] if value and value != _MISSING]
    return values
