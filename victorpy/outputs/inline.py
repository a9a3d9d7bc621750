"""The inline markup of a segment that outputs keep: links, bold, italic and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from victorpy.document import Document
from victorpy.outputs.base import Segment, joint
from victorpy.page.markup import pieces

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
    """A stretch of text in a single style. Line breaks in it are line breaks of the page."""

    text: str
    styles: frozenset[str]
    href: str
    link: int = -1
    """Number of the link's element."""


_Marks = frozenset[tuple[str, int]]
"""Styles and links, each with the number of its element."""


def runs(segment: Segment, document: Document) -> list[Run]:
    """Cut a segment into runs; neighbours that look the same are one."""
    block = segment.blocks[0]
    if len(segment.blocks) == 1 == len(block.pieces):
        is_plain = _STYLES.keys().isdisjoint(block.containers)
        return [_run(block.text, frozenset() if is_plain else _marks(document, block.element), document)]
    joined: list[Run] = []
    for run in _pieces(segment, document):
        if joined and joined[-1][1:] == run[1:]:
            joined[-1] = joined[-1]._replace(text=joined[-1].text + run.text)
        else:
            joined.append(run)
    return joined


def _pieces(segment: Segment, document: Document) -> Iterator[Run]:
    """Yield a segment's pieces and the spaces between them; a space looks like what both neighbours share."""
    previous_block = None
    marks: _Marks = frozenset()
    looks: dict[int, tuple[_Marks, Run]] = {}
    for block in segment.blocks:
        space = ""
        if previous_block is not None:
            follows = block.index == previous_block.index + 1 and not block.preformatted
            space = "\n" if follows and "br" in block.distance else joint(previous_block, block)
        for piece, (_, text) in zip(block.pieces, pieces(block), strict=True):
            element = piece.element
            if element not in looks:
                found = _marks(document, element)
                looks[element] = found, _run("", found, document)
            previous_marks, (marks, look) = marks, looks[element]
            if not space and text[:1] == " " and not block.preformatted:
                space = " "
            if space:
                yield _run(space, frozenset() if space == "\n" else previous_marks & marks, document)
            yield Run(text if block.preformatted else text.lstrip(" "), *look[1:])
            space = ""
        previous_block = block


def _marks(document: Document, element: int) -> _Marks:
    """Return the styles and links around an element."""
    marks: list[tuple[str, int]] = []
    tags, parents, attributes = document.elements.tag, document.elements.parent, document.elements.attributes
    while element >= 0:
        tag = tags[element]
        if tag in _STYLES and (tag != "a" or "href" in attributes[element]):
            marks.append((_STYLES[tag], element))
        element = parents[element]
    return frozenset(marks)


def _run(text: str, marks: _Marks, document: Document) -> Run:
    if not marks:
        return Run(text, frozenset(), "")
    link = max((element for style, element in marks if style == "link"), default=-1)
    href = safe_link(document.elements.attributes[link].get("href", ""), document.url) if link >= 0 else ""
    styles = frozenset(style for style, _ in marks if style != "link")
    return Run(text, styles, href, link if href else -1)


def code_language(segment: Segment, document: Document) -> str:
    """Return the language of a listing if a class near it names one, else an empty string."""
    elements = document.elements
    element = segment.blocks[0].element
    levels_above = -1
    while element >= 0 and levels_above < _ELEMENTS_ABOVE_LISTING:
        language = _LANGUAGE.search(elements.attributes[element].get("class", ""))
        if language:
            return "" if language["name"].lower() in _NO_LANGUAGES else language["name"]
        if levels_above >= 0 or elements.tag[element] == "pre":
            levels_above += 1
        element = elements.parent[element]
    return ""


def safe_link(href: str, base: str = "") -> str:
    """Return a link's target in full, or an empty string if it would run a script.

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
