"""Find the places of a page that contain metadata. Each is cached on first use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from lxml import etree

from victorpy import native
from victorpy.base.words import simple_words
from victorpy.description.metadata.structured import (
    MOST_ITEMS,
    Thing,
    plain,
    read_json_ld,
    read_meta_tags,
    read_microdata,
)
from victorpy.page.parse import METADATA_ATTRIBUTES, MOST_TITLE, Tree

_native = native.load("split")

# Matches names of elements whose content is about other pages or the site, or is written by readers.
_AROUND = re.compile(
    r"(?<![a-z])(?:comment|related|sidebar|side-bar|footer|recommend|widget|menu|nav|promo|newsletter|teaser|"
    r"popular|trending|latest|recent|also|more|breadcrumb|cookie|modal|popup|advert|share|social|reply|replies|"
    r"testimonial|review|card|carousel|slider)",
    re.IGNORECASE,
)
_MARKS = ("author", "byline", "username", "writer", "date", "publish", "posted", "time", "meta")
_ONE_OF_MARKS = re.compile("|".join(_MARKS))
_MICRODATA = etree.XPath("descendant-or-self::*[@itemscope or @itemprop]")
_COMMENTS = re.compile(
    r"(?<!\S)comments?(?:-?list|[-_](?:area|section|body|content|thread|wrapper))?(?!\S)", re.IGNORECASE
)
_AROUND_TAGS = frozenset(["aside", "footer", "nav"])
_MOST_HEADINGS = 60
_LONGEST_TITLE = 300  # characters
LONGEST_LINE = 150  # maximum length of a byline
_AFTER, _BEFORE = 60, 40  # number of elements after and before the headline that are searched
_MARKUP = re.compile("<|-->")
_DEEPEST, _MOST_PIECES, _MOST_TEXT = 50, 200, 10_000
_NO_LINE = frozenset(["script", "style", "noscript", "svg", "template"])
_NO_TEXT = _NO_LINE | {"button"}
_NO_HEADLINE = _NO_TEXT | {"title", "option"}


class Candidate(NamedTuple):
    """A value of a field and where it was found."""

    value: str
    source: str


class ShortText(NamedTuple):
    """A short text near the headline."""

    text: str
    previous: str  # the previous short text
    element: etree._Element  # the element that contains or precedes the text


class Page:
    """A parsed page, for the functions that find its metadata."""

    def __init__(self, tree: Tree, url: str = "", source: str | bytes = "itemscope") -> None:
        self.root = tree.root if tree.root is not None else etree.Element("html")
        self.url = url or tree.url
        # Few pages have microdata, and searching the source is faster than searching the tree.
        self._may_have_items = (b"itemscope" in source) if isinstance(source, bytes) else "itemscope" in source
        self._known: dict[Callable[[etree._Element], bool], dict[etree._Element, bool]] = {}
        self.losses: list[str] = []
        if len(tree.title) > MOST_TITLE:
            self.losses.append(f"metadata uses only the first {MOST_TITLE:,} characters of the title")
        self.title_tag = plain(tree.title)
        if len(self.title_tag) > _LONGEST_TITLE:  # an unclosed <title> contains the whole page
            self.title_tag = _MARKUP.split(self.title_tag)[0].strip()[:MOST_TITLE]

    @cached_property
    def meta_tags(self) -> dict[str, list[str]]:
        return read_meta_tags(self.root)

    @cached_property
    def things(self) -> list[Thing]:
        """Structured data, JSON-LD first, because sites write it for machines."""
        nodes: Any = _MICRODATA(self.root) if self._may_have_items else []
        if len(nodes) > MOST_ITEMS:
            self.losses.append(f"metadata ignores microdata, because it has more than {MOST_ITEMS:,} properties")
            nodes = []
        return read_json_ld(self.root) + read_microdata(nodes)

    @cached_property
    def written(self) -> list[Thing]:
        """The things of a written type, such as articles. Things with the page title come first."""
        title = words(self.title_tag)

        def lacks_title(thing: Thing) -> bool:
            names = (words(text) for text in (*thing.texts("headline"), *thing.texts("name")))
            return not any(name and title[: len(name)] == name for name in names)

        return sorted((thing for thing in self.things if thing.is_written), key=lacks_title)

    @cached_property
    def is_article(self) -> bool:
        """Whether the page declares an article or another written work."""
        return bool(self.written) or "article" in self.meta_tags.get("og:type", [])

    @cached_property
    def is_home(self) -> bool:
        """Whether this is a home page, where authors and dates belong to other pages."""
        try:
            return bool(self.url) and urlsplit(self.url).path in {"", "/"}
        except ValueError:
            return False

    @cached_property
    def headings(self) -> list[tuple[etree._Element, str]]:
        """The page's h1 elements and their texts."""
        headings = [(element, text_of(element).rstrip("¶#§ ")) for element in self.root.iter("h1")]
        return [(element, text) for element, text in headings if text]

    @cached_property
    def _short_texts(self) -> set[tuple[str, ...]]:
        texts = (element.text for element in self.root.iter("*") if element.tag not in _NO_HEADLINE and element.text)
        return {tuple(words(text)) for text in texts if len(text) <= _LONGEST_TITLE}

    def shows(self, text: str) -> bool:
        """Whether an element of the page begins with exactly this text."""
        return tuple(words(text)) in self._short_texts

    @cached_property
    def headline(self) -> etree._Element | None:
        """The heading that contains the longest part of the title, or else the first h1."""
        title = words(self.title_tag)
        best, length = None, 0
        for element in islice(self.root.iter("h1", "h2"), _MOST_HEADINGS):
            own = words(text_of(element))
            is_part = any(title[start : start + len(own)] == own for start in range(len(title) - len(own) + 1))
            if len(own) > length and is_part:
                best, length = element, len(own)
        return best if best is not None or not self.headings else self.headings[0][0]

    @cached_property
    def lines(self) -> list[ShortText]:
        """The short texts near the headline, which may be bylines or dates: first those after it, then those before."""
        if self.headline is None:
            return []
        before = reversed(list(islice(_elements_beside(self.headline, before=True), _BEFORE)))
        after = chain(self.headline.iter("*"), _elements_beside(self.headline, before=False))
        return [*_lines(islice(after, _AFTER)), *reversed(list(_lines(before)))]

    @cached_property
    def marked(self) -> list[tuple[etree._Element, str]]:
        """Elements whose names refer to authors or dates, with these names in lower case."""
        elements = (
            _native.elements_mentioning(self.root, METADATA_ATTRIBUTES, _MARKS) if _native else self.root.iter("*")
        )
        named = [(node, " ".join(filter(None, map(node.get, METADATA_ATTRIBUTES))).lower()) for node in elements]
        return [(node, names) for node, names in named if _ONE_OF_MARKS.search(names)]

    def any_around(self, element: etree._Element, condition: Callable[[etree._Element], bool]) -> bool:
        """Whether an element or one of its ancestors meets a condition. Each element is examined once."""
        known = self._known.setdefault(condition, {})
        inner = []
        node: etree._Element | None = element
        while node is not None and node not in known:
            inner.append(node)
            node = node.getparent()
        result = node is not None and known[node]
        for node in reversed(inner):
            result = known[node] = result or condition(node)
        return result

    def meta(self, *names: str) -> list[Candidate]:
        """Return the values of the meta tags with these names, in the order of the names."""
        return [Candidate(value, f"meta {name}") for name in names for value in self.meta_tags.get(name, ())]

    def written_texts(self, *properties: str) -> list[Candidate]:
        """Return the texts of some properties of all written things."""
        texts = ((text, thing) for thing in self.written for name in properties for text in thing.texts(name))
        return [Candidate(text, thing.source) for text, thing in texts]


def _elements_beside(element: etree._Element, before: bool) -> Iterator[etree._Element]:
    """Yield the elements after an element, or those before it, nearest first."""
    node: etree._Element | None = element
    while node is not None:
        for sibling in node.itersiblings("*", preceding=before):
            yield from reversed(list(islice(sibling.iter("*"), _BEFORE))) if before else sibling.iter("*")
        node = node.getparent()


def _lines(elements: Iterable[etree._Element]) -> Iterator[ShortText]:
    previous = ""
    for element in elements:
        inner_text = "" if element.tag in _NO_LINE else element.text
        for raw in (element.get("datetime"), inner_text, element.tail):
            text = " ".join((raw or "")[: 4 * LONGEST_LINE].split())
            if 1 < len(text) <= LONGEST_LINE:
                yield ShortText(text, previous, element)
                previous = text
            elif text:
                previous = ""


def text_of(element: etree._Element) -> str:
    """Return the text in an element, joined from `pieces_of`."""
    return " ".join(pieces_of(element))


def pieces_of(element: etree._Element) -> list[str]:
    """Return the texts between the tags of an element, without scripts and pictures.

    At most `_MOST_PIECES` are returned. Examined elements may be nested, so reading all text could take quadratic time.
    """
    pieces: list[str] = []

    def collect(node: etree._Element, depth: int) -> None:
        if node.tag in _NO_TEXT or depth > _DEEPEST or len(pieces) > _MOST_PIECES:
            return
        pieces.append((node.text or "")[:_MOST_TEXT])
        for child in node:
            collect(child, depth + 1)
            pieces.append((child.tail or "")[:_MOST_TEXT])
            if len(pieces) > _MOST_PIECES:
                return

    collect(element, 0)
    return [" ".join(piece.split()) for piece in pieces if piece and not piece.isspace()]


def is_around(element: etree._Element) -> bool:
    """Whether an element is a side column, the readers' comments, or another part outside the main text."""
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    is_named = element.tag in _AROUND_TAGS or _AROUND.search(names)
    return element.tag not in {"html", "body"} and bool(is_named)


def is_comment(element: etree._Element) -> bool:
    """Whether an element contains readers' comments. The class of `<body>` often mentions comments and is ignored."""
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return element.tag not in {"html", "body"} and _COMMENTS.search(names) is not None


def words(text: str) -> list[str]:
    """Return the words of a text for comparisons that ignore case and punctuation."""
    return simple_words(text.casefold())
