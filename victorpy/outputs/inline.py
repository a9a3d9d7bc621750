"""The inline markup of a segment that outputs keep: links, bold, italic and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from victorpy.document import Block, Document
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
    "a": "link",
}
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_SAFE_SCHEMES = frozenset(["http", "https", "mailto", "tel", "ftp"])


# How pages name the language of a listing in a class: HTML's own way, GitHub's, SyntaxHighlighter's, Sphinx's.
_LANGUAGE = re.compile(
    r"(?<!\S)(?:(?:language|lang|gatsby-code|highlight-source)-|brush:\s*+|highlight-(?=\S+ notranslate))"
    r"(?P<name>[A-Za-z][A-Za-z0-9+#.-]{0,19})(?!\S*[^\s;])"
)
_NO_LANGUAGES = frozenset(["default", "none", "plain", "plaintext", "text", "txt", "undefined", "unknown"])
_ELEMENTS_ABOVE_LISTING = 2


class Run(NamedTuple):
    """A stretch of text with one look; a line break in it was one on the page."""

    text: str
    styles: frozenset[str]
    href: str
    link: int = -1
    """The number of the link's element."""


_Mark = tuple[str, int]
"""A style, or a link, and the number of its element."""


def runs(segment: Segment, document: Document) -> list[Run]:
    """Cut a segment into runs; neighbours that look the same are one."""
    block = segment.blocks[0]
    if len(segment.blocks) == 1 == len(block.pieces):
        is_plain = _STYLES.keys().isdisjoint(block.containers)
        return [_run(block.text, frozenset() if is_plain else _marks(document, block.element), document)]
    found: list[Run] = []
    for run in _pieces(segment, document):
        if found and found[-1][1:] == run[1:]:
            found[-1] = found[-1]._replace(text=found[-1].text + run.text)
        else:
            found.append(run)
    return found


def _pieces(segment: Segment, document: Document) -> Iterator[Run]:
    before = None
    marks: frozenset[_Mark] = frozenset()
    known: dict[int, tuple[frozenset[_Mark], Run]] = {}
    for block in segment.blocks:
        glue = _glue(before, block) if before is not None else ""
        for piece, (_, text) in zip(block.pieces, pieces(block), strict=True):
            element = piece.element
            if element not in known:
                found = _marks(document, element)
                known[element] = found, _run("", found, document)
            around, (marks, look) = marks, known[element]
            space = glue or (" " if text[:1] == " " and not block.preformatted else "")
            if space:
                yield _run(space, frozenset() if space == "\n" else around & marks, document)
            yield Run(text if block.preformatted else text.lstrip(" "), *look[1:])
            glue = ""
        before = block


def _glue(before: Block, block: Block) -> str:
    """What stands between two blocks of a segment, line breaks of the page as such."""
    if "br" in block.distance and block.index == before.index + 1 and not block.preformatted:
        return "\n"
    return joint(before, block)


def _marks(document: Document, element: int) -> frozenset[_Mark]:
    """Find the styles and the link that an element inherits."""
    marks: list[_Mark] = []
    tags, parents, attributes = document.elements.tag, document.elements.parent, document.elements.attributes
    while element >= 0:
        tag = tags[element]
        if tag in _STYLES and (tag != "a" or "href" in attributes[element]):
            marks.append((_STYLES[tag], element))
        element = parents[element]
    return frozenset(marks)


def _run(text: str, marks: frozenset[_Mark], document: Document) -> Run:
    if not marks:
        return Run(text, frozenset(), "")
    link = max((element for style, element in marks if style == "link"), default=-1)
    href = safe_link(document.elements.attributes[link].get("href", ""), document.url) if link >= 0 else ""
    styles = frozenset(style for style, _ in marks if style != "link")
    return Run(text, styles, href, link if href else -1)


def code_language(segment: Segment, document: Document) -> str:
    """The language of a listing if a class near it names one, else nothing."""
    elements = document.elements
    element = segment.blocks[0].element
    above = -1
    while element >= 0 and above < _ELEMENTS_ABOVE_LISTING:
        found = _LANGUAGE.search(elements.attributes[element].get("class", ""))
        if found:
            return "" if found["name"].lower() in _NO_LANGUAGES else found["name"]
        if above >= 0 or elements.tag[element] == "pre":
            above += 1
        element = elements.parent[element]
    return ""


def safe_link(href: str, base: str = "") -> str:
    """Give a link's target in full, or nothing if it would run a script.

    >>> safe_link("../a b.html", "http://example.org/x/y.html"), safe_link(" javascript:alert(1)")
    ('http://example.org/a%20b.html', '')
    """
    href = href.strip()
    if not href.isprintable():
        href = "".join(char for char in href if char.isprintable())
    href = href.replace(" ", "%20")
    if href and base.startswith(("http://", "https://")):
        try:
            href = urljoin(base, href)
        except ValueError:
            return ""
    scheme = _SCHEME.match(href)
    return href if not scheme or scheme[1].lower() in _SAFE_SCHEMES else ""
