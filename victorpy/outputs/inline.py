"""The inline markup of a segment that outputs keep: links, bold, italic and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from victorpy.document import Document
from victorpy.markup import pieces
from victorpy.outputs.base import Segment, joint

_STYLES = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "code": "code",
    "kbd": "code",
    "tt": "code",
}
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_SAFE_SCHEMES = frozenset(["http", "https", "mailto", "tel", "ftp"])


class Run(NamedTuple):
    """A stretch of text with one look."""

    text: str
    styles: frozenset[str]
    href: str


def runs(segment: Segment, document: Document) -> Iterator[Run]:
    """Cut a segment into runs; neighbours that look the same are one."""
    pending: Run | None = None
    for run in _pieces(segment, document):
        if pending is not None and pending[1:] == run[1:]:
            pending = pending._replace(text=pending.text + run.text)
        else:
            if pending is not None:
                yield pending
            pending = run
    if pending is not None:
        yield pending


def _pieces(segment: Segment, document: Document) -> Iterator[Run]:
    before = None
    for block in segment.blocks:
        glue = joint(before, block) if before is not None else ""
        for piece, (_, text) in zip(block.pieces, pieces(block), strict=True):
            styles, href = _look(document, piece.element)
            space = glue or (" " if text[:1] == " " and not block.preformatted else "")
            if space:
                yield Run(space, frozenset(), "")
            yield Run(text if block.preformatted else text.lstrip(" "), styles, href)
            glue = ""
        before = block


def _look(document: Document, element: int) -> tuple[frozenset[str], str]:
    """Find the styles and the link that an element inherits."""
    styles, href = set(), ""
    elements = document.elements
    while element >= 0:
        tag = elements.tag[element]
        if tag in _STYLES:
            styles.add(_STYLES[tag])
        if tag == "a" and not href:
            href = safe_link(elements.attributes[element].get("href", ""), document.url)
        element = elements.parent[element]
    return frozenset(styles), href


def safe_link(href: str, base: str = "") -> str:
    """Give a link's target in full, or nothing if it would run a script.

    >>> safe_link("../a b.html", "http://example.org/x/y.html"), safe_link(" javascript:alert(1)")
    ('http://example.org/a%20b.html', '')
    """
    href = "".join(char for char in href.strip() if char.isprintable()).replace(" ", "%20")
    if href and base.startswith(("http://", "https://")):
        try:
            href = urljoin(base, href)
        except ValueError:
            return ""
    scheme = _SCHEME.match(href)
    return href if not scheme or scheme[1].lower() in _SAFE_SCHEMES else ""
