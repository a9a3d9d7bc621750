"""CleanEval and CleanPortalEval: input/N.html, gold/N.txt with <p>, <h> and <l> before segments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from victorpy.document import Label
from victorpy.research.align import Gold
from victorpy.research.datasets.base import DATASETS, GoldPage, Warn, by_number, read_gold, read_page

_SEGMENT = re.compile(r"<([phl])>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LABELS = {"p": Label.PARAGRAPH, "h": Label.HEADER, "l": Label.LIST}
_WRAPPER_ID = re.compile(rb"<text\b[^>]*?\bid\s*=\s*[\"']?([^\"'>\s]+)", re.IGNORECASE)


@DATASETS.register("cleanportaleval")
@DATASETS.register("cleaneval")
def read_cleaneval(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Read input/N.html with gold/N.txt; a directory of such directories is read whole."""
    for part in sorted(path.parent for path in directory.glob("**/input") if path.is_dir()):
        for page in sorted((part / "input").glob("*.html"), key=by_number):
            gold = part / "gold" / f"{page.stem}.txt"
            if not gold.is_file():
                warn(f"{page}: no gold {gold.name}")
                continue
            text = read_gold(gold, warn)
            url, segments = parse_gold(text)
            if not segments:
                if text:
                    warn(f"{gold}: the gold is empty")
                continue
            content = read_page(page, warn)
            if content is None:
                continue
            wrapper = _WRAPPER_ID.search(content[:2000])
            url = url or (wrapper[1].decode("ascii", "replace") if wrapper else "")
            yield GoldPage(str(page.relative_to(directory).with_suffix("")), content, segments, url)


def has_tags(text: str) -> bool:
    """Whether a gold text has segment tags."""
    return _SEGMENT.search(text) is not None


def parse_gold(text: str) -> tuple[str, tuple[Gold, ...]]:
    """Read a gold file: its URL and its segments; text before the first tag is a paragraph.

    >>> parse_gold("URL: http://x.example/ \\n<h>News<p>All is well.")
    ('http://x.example/', (Gold(text='News', label=<Label.HEADER: 'header'>),
                           Gold(text='All is well.', label=<Label.PARAGRAPH: 'paragraph'>)))
    """
    url = ""
    text = _COMMENT.sub("", text)
    first, _, rest = text.lstrip().partition("\n")
    if first.upper().startswith("URL:"):
        url, text = first[4:].strip(), rest
    head, *parts = _SEGMENT.split(text)
    segments = [Gold(head.strip(), Label.PARAGRAPH)]
    segments += [Gold(body.strip(), _LABELS[tag.lower()]) for tag, body in zip(parts[::2], parts[1::2], strict=True)]
    return url, tuple(segment for segment in segments if segment.text)
