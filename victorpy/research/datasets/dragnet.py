"""Dragnet: HTML/N.html, Corrected/N.html.corrected.txt; readers' comments come after a mark and are left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from victorpy.research.align import Gold
from victorpy.research.datasets.base import DATASETS, GoldPage, Warn, by_number, guess_address, read_gold, read_page

COMMENTS = "!@#$%^&*()  COMMENTS"


@DATASETS.register("dragnet")
def read_dragnet(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Read HTML/N.html with Corrected/N.html.corrected.txt."""
    for page in sorted((directory / "HTML").glob("*.html"), key=by_number):
        gold = directory / "Corrected" / f"{page.name}.corrected.txt"
        if not gold.is_file():
            warn(f"{page}: no gold {gold.name}")
            continue
        text = read_gold(gold, warn)
        article = text.partition(COMMENTS)[0].strip()
        if not article:
            if text:
                warn(f"{gold}: the gold is empty")
            continue
        content = read_page(page, warn)
        if content is None:
            continue
        yield GoldPage(page.stem, content, (Gold(article),), guess_address(content), "article")
