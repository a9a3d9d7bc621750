"""The markup that HTML and Markdown keep: quotations and list items around parts, styles and links inside segments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from victorpy.document import Document, Elements, Label
from victorpy.outputs.base import Segment, joint
from victorpy.outputs.tables import Part, Table
from victorpy.page.markup import pieces

_ITEMS = frozenset(["li", "dt", "dd"])
_START = re.compile("[+-]?[0-9]{1,9}")
_MOST_KNOWN = 10_000  # elements whose surroundings are remembered
_MAX_LINKS = 8  # nested links; browsers allow only one
_MAX_DEPTH = 16  # deeper nesting would fill Markdown lines with indentation

_STYLES = {
    **dict.fromkeys(["b", "strong"], "bold"),
    **dict.fromkeys(["i", "em"], "italic"),
    **dict.fromkeys(["code", "kbd", "tt"], "code"),
    "a": "link",
}
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_SAFE_SCHEMES = frozenset(["http", "https", "mailto", "tel", "ftp"])

# Class names for the language of a listing, as in the HTML standard, GitHub, SyntaxHighlighter and Sphinx.
_LANGUAGE = re.compile(
    r"(?<!\S)(?:(?:language|lang|gatsby-code|highlight-source)-|brush:\s*+|highlight-(?=\S+ notranslate))"
    r"(?P<name>[A-Za-z][A-Za-z0-9+#.-]{0,19})(?!\S*[^\s;])"
)
_NO_LANGUAGES = frozenset(["default", "none", "plain", "plaintext", "text", "txt", "undefined", "unknown"])
_ELEMENTS_ABOVE_LISTING = 2


class Place(NamedTuple):
    """A quotation or a list item."""

    element: int
    """Number of its element, below -1 for an item without an item element."""
    is_quote: bool
    list: int = -1
    """Number of the list element."""
    number: int | None = None
    """Item number in a numbered list."""


Places = tuple[Place, ...]


def outline(parts: Iterable[Part], document: Document, within: int = -1) -> Iterator[tuple[Part, Places]]:
    """Yield every part with the quotations and list items around it, outermost first, below the element `within`.

    Labels decide which parts are list items. The markup decides their list, depth and number.
    """
    open_places: Places = ()
    last_items: dict[int, tuple[int, int]] = {}
    around: dict[int, tuple[int, ...]] = {}
    for part in parts:
        if len(around) > _MOST_KNOWN:
            around.clear()
        open_places = _places(part, open_places, last_items, document.elements, within, around)
        yield part, open_places


def count_shared(previous: Places, places: Places) -> int:
    """Count the outermost places that two parts have in common."""
    shared = 0
    for old, new in zip(previous, places, strict=False):
        if old != new:
            break
        shared += 1
    return shared


def _places(
    part: Part,
    previous: Places,
    last_items: dict[int, tuple[int, int]],
    elements: Elements,
    within: int,
    known_around: dict[int, tuple[int, ...]],
) -> Places:
    """Return the places of a part.

    A part without an item label is in an item only if it continues an open item, such as a listing between two steps.
    In an open numbered list a table or an inner list also starts an item, so that the numbering continues.
    """
    is_item = part.label is Label.LIST
    if part.label is Label.HEADER:
        return ()
    if isinstance(part, Table):
        element = part.element
    else:
        element = part.blocks[0].element
        if not is_item and not previous and "blockquote" not in part.blocks[0].containers:
            return ()  # most parts of most pages
    tag, parent = elements.tag, elements.parent
    around = _around(element, elements, within, known_around)
    open_items = {place.element: place for place in previous}
    terms = {parent[number]: place for number, place in open_items.items() if number >= 0 and tag[number] == "dt"}
    innermost = next((number for number in reversed(around) if tag[number] in _ITEMS), -1) if is_item else -1
    numbered_lists = set()
    if is_item or isinstance(part, Table):
        numbered_lists = {place.list for place in previous if place.number is not None}
    places: list[Place] = []
    for number in around:
        if tag[number] == "blockquote":
            places.append(Place(number, is_quote=True))
        elif number in open_items or number == innermost or parent[number] in numbered_lists:
            if tag[number] == "dd" and parent[number] in terms:
                places.append(terms[parent[number]])
            places.append(open_items.get(number) or _item(number, last_items, elements))
    if is_item and isinstance(part, Segment) and all(place.is_quote for place in places):
        places.append(Place(-2 - part.blocks[0].index, is_quote=False))
    return tuple(places)


def _around(element: int, elements: Elements, within: int, known: dict[int, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the list items and quotations around an element, outermost first. `known` has earlier results."""
    inner = []
    while element > within and element not in known:
        inner.append(element)
        element = elements.parent[element]
    around = known.get(element, ())
    for element in reversed(inner):
        is_place = elements.tag[element] in _ITEMS or elements.tag[element] == "blockquote"
        if is_place and len(around) < _MAX_DEPTH:
            around = (*around, element)
        known[element] = around
    return around


def _item(element: int, last_items: dict[int, tuple[int, int]], elements: Elements) -> Place:
    """Make a list item. `last_items` has the last item of each numbered list and its number."""
    tag, parent = elements.tag, elements.parent
    list_element = parent[element]
    if list_element < 0 or tag[list_element] != "ol":
        return Place(element, False, list_element)
    if list_element in last_items:
        last, number = last_items[list_element]
    else:
        start = elements.attributes[list_element].get("start", "").strip()
        last, number = list_element, int(start) - 1 if _START.fullmatch(start) else 0
    number += sum(tag[other] == "li" and parent[other] == list_element for other in range(last + 1, element + 1))
    last_items[list_element] = element, number
    return Place(element, False, list_element, number)


class Run(NamedTuple):
    """A stretch of text in one style. Its line breaks are line breaks of the page."""

    text: str
    styles: frozenset[str]
    href: str
    link: int = -1
    """Number of the link element."""


_Marks = frozenset[tuple[str, int]]
"""Styles and links, each with its element number."""


def runs(segment: Segment, document: Document) -> list[Run]:
    """Cut a segment into runs."""
    first = segment.blocks[0]
    is_one_piece = len(segment.blocks) == 1 == len(first.pieces) and first.pieces[0].element == first.element
    if is_one_piece and _STYLES.keys().isdisjoint(first.containers):
        return [Run(first.text, frozenset(), "")]
    found: list[Run] = []
    samples: dict[_Marks, Run] = {frozenset(): Run("", frozenset(), "")}
    marks_around: dict[int, _Marks] = {-1: frozenset()}

    def add(text: str, marks: _Marks) -> None:
        if marks not in samples:
            link = max((element for style, element in marks if style == "link"), default=-1)
            href = safe_link(document.elements.attributes[link]["href"], document.url) if link >= 0 else ""
            styles = frozenset(style for style, _ in marks if style != "link")
            samples[marks] = Run("", styles, href, link if href else -1)
        _, styles, href, link = samples[marks]
        if found and found[-1][1:] == (styles, href, link):
            found[-1] = Run(found[-1].text + text, styles, href, link)
        else:
            found.append(Run(text, styles, href, link))

    previous_block = None
    marks: _Marks = frozenset()
    for block in segment.blocks:
        space = ""
        if previous_block is not None:
            follows = block.index == previous_block.index + 1 and not block.preformatted
            space = "\n" if follows and "br" in block.distance else joint(previous_block, block)
        for piece, (_, text) in zip(block.pieces, pieces(block), strict=True):
            previous_marks, marks = marks, _marks(document.elements, piece.element, marks_around)
            if not space and not block.preformatted and text[:1] == " ":
                space = " "
            if space:  # a space has the styles that both neighbours share
                add(space, frozenset() if space == "\n" else previous_marks & marks)
            add(text if block.preformatted else text.lstrip(" "), marks)
            space = ""
        previous_block = block
    return found


def _marks(elements: Elements, element: int, known: dict[int, _Marks]) -> _Marks:
    """Return the links and the outermost element of each style around an element. `known` has earlier results.

    Two texts share a style if, and only if, its outermost elements are the same. Of nested links few are kept.
    """
    inner = []
    while element not in known:
        inner.append(element)
        element = elements.parent[element]
    marks = known[element]
    for element in reversed(inner):
        style = _STYLES.get(elements.tag[element])
        if style == "link" and "href" in elements.attributes[element]:
            links = sorted(mark for mark in marks if mark[0] == style)
            marks = marks.difference(links[: 1 - _MAX_LINKS]) | {(style, element)}
        elif style and style != "link" and all(style != other for other, _ in marks):
            marks |= {(style, element)}
        known[element] = marks
    return marks


def code_language(segment: Segment, document: Document) -> str:
    """Return the language of a listing if a class on or near it names one, else an empty string."""
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
    """Return the absolute address of a link, or an empty string if it could run a script.

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
