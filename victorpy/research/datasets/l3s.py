"""L3S-GN1: original/ID.html, and annotated/ID.html with a span of class x-nc-selK around every text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from victorpy.page.parse import parse
from victorpy.research.align import Gold
from victorpy.research.datasets.base import DATASETS, GoldPage, Warn, guess_address, read_gold, read_page

_KIND = re.compile(r"\bx-nc-sel(\d)\b")
# 1 is a headline, 2 full text, 3 a supplement such as a caption; noise, related content and comments are not content.
_CONTENT = frozenset("123")


@DATASETS.register("l3s")
def read_l3s(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Read original/ID.html with annotated/ID.html."""
    for page in sorted((directory / "original").glob("*.html")):
        annotated = directory / "annotated" / page.name
        if not annotated.is_file():
            warn(f"{page}: no annotated page of the same name")
            continue
        marked = read_gold(annotated, warn)
        if not marked:
            continue
        tree = parse(marked, delete=("script", "style", "noscript"))
        text = "" if tree.root is None else "\n".join(_content(tree.root))
        if not text.strip():
            warn(f"{annotated}: no text in it is marked as content")
            continue
        content = read_page(page, warn)
        if content is None:
            continue
        yield GoldPage(page.stem, content, (Gold(text),), guess_address(content), "article")


def _content(root: etree._Element) -> Iterator[str]:
    """Give the texts whose innermost mark says that they are content."""
    kinds = ["0"]
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            mark = _KIND.search(element.get("class") or "")
            kinds.append(mark[1] if mark else kinds[-1])
            text = element.text
        else:
            kinds.pop()
            text = element.tail
        if text and text.strip() and kinds[-1] in _CONTENT:
            yield text.strip()
