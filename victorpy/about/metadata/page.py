"""A page as metadata is read from it: each kind of place looked up once, when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit

from lxml import etree

from victorpy.about.metadata.near import Line, lines_near
from victorpy.about.metadata.structured import Thing, plain, read_json_ld, read_meta_tags, read_microdata
from victorpy.parse import Tree

# What stands in these is said of other pages, of the site, or by readers.
_AROUND = re.compile(
    r"(?<![a-z])(?:comment|related|sidebar|side-bar|footer|recommend|widget|menu|nav|promo|newsletter|teaser|"
    r"popular|trending|latest|recent|also|more|breadcrumb|cookie|modal|popup|advert|share|social|reply|replies|"
    r"testimonial|review|card|carousel|slider)",
    re.IGNORECASE,
)
_MARKS = re.compile("author|byline|username|writer|date|publish|posted|time|meta")
_AROUND_TAGS = frozenset(["aside", "footer", "nav"])
_MOST_HEADINGS = 60
LONGEST_TITLE = 300  # characters
_MARKUP = re.compile("<|-->")
_DEEPEST = 50
_NO_TEXT = frozenset(["script", "style", "noscript", "svg", "template", "button"])
_NO_HEADLINE = _NO_TEXT | {"title", "option", etree.Comment}


class Candidate(NamedTuple):
    """A value of a field and where it was found."""

    value: str
    source: str


class Page:
    """What a page offers to those who look for its metadata."""

    def __init__(self, tree: Tree, url: str = "") -> None:
        self.root = tree.root if tree.root is not None else etree.Element("html")
        self.title_tag = _own_part(plain(tree.title))
        self.url = url or tree.url
        self.own_url = tree.url
        self.is_read_from_markup = tree.root is not None

    @cached_property
    def meta_tags(self) -> dict[str, list[str]]:
        """The values of meta tags by name."""
        return read_meta_tags(self.root)

    @cached_property
    def things(self) -> list[Thing]:
        """What the page describes, those of JSON-LD first: they are made for machines by whoever runs the site."""
        return read_json_ld(self.root) + self.microdata

    @cached_property
    def microdata(self) -> list[Thing]:
        """What the page's attributes describe."""
        return read_microdata(self.root)

    @cached_property
    def written(self) -> list[Thing]:
        """The things of the page that somebody wrote, that which bears the page's title first."""
        found = [thing for thing in self.things if thing.is_written]
        own = words(self.title_tag)
        return sorted(found, key=lambda thing: not _is_about(thing, own))

    @cached_property
    def is_article(self) -> bool:
        """Whether the page says that somebody wrote it."""
        return bool(self.written) or "article" in self.meta_tags.get("og:type", [])

    @cached_property
    def headings(self) -> list[tuple[etree._Element, str]]:
        """The page's h1 and their texts."""
        found = [(element, text_of(element).rstrip("¶#§ ")) for element in self.root.iter("h1")]
        return [(element, text) for element, text in found if text]

    @cached_property
    def _short_texts(self) -> set[tuple[str, ...]]:
        """The texts that begin an element, as words, as far as they may be headlines."""
        found = (element.text for element in self.root.iter("*") if element.tag not in _NO_HEADLINE and element.text)
        return {tuple(words(text)) for text in found if len(text) <= LONGEST_TITLE}

    def shows(self, text: str) -> bool:
        """Whether an element of the page begins with just this text."""
        return tuple(words(text)) in self._short_texts

    @cached_property
    def headline(self) -> etree._Element | None:
        """The heading that bears the title, the most of it, else the first h1."""
        whole = words(self.title_tag)
        best, length = None, 0
        for element in islice(self.root.iter("h1", "h2"), _MOST_HEADINGS):
            own = words(text_of(element))
            if len(own) > length and _is_part(own, whole):
                best, length = element, len(own)
        return best if best is not None or not self.headings else self.headings[0][0]

    @cached_property
    def lines(self) -> list[Line]:
        """The texts near the headline, those behind it first, each nearer than the next."""
        return list(lines_near(self.headline)) if self.headline is not None else []

    @cached_property
    def is_home(self) -> bool:
        """Whether this is where a site begins: what has an author and a date there are other pages."""
        try:
            return bool(self.url) and urlsplit(self.url).path in {"", "/"}
        except ValueError:
            return False

    @cached_property
    def marked(self) -> list[tuple[etree._Element, str]]:
        """Elements whose attributes speak of authors or dates, with what these say, in lower case."""
        found = []
        for element in self.root.iter("*"):
            get = element.get
            said = f"{get('class') or ''} {get('rel') or ''} {get('itemprop') or ''} {get('data-testid') or ''}".lower()
            if len(said) > 3 and _MARKS.search(said):
                found.append((element, said))
        return found

    def meta(self, names: Iterable[str]) -> list[Candidate]:
        """What meta tags of these names say, in the order of the names."""
        return [Candidate(value, f"meta {name}") for name in names for value in self.meta_tags.get(name, ())]


def _own_part(title: str) -> str:
    """A title without the rest of the page, which one that is never closed swallows.

    >>> _own_part("BBC Sport <script> var a; </script> " + 300 * "x"), _own_part("How to use <b>")
    ('BBC Sport', 'How to use <b>')
    """
    return title if len(title) <= LONGEST_TITLE else _MARKUP.split(title)[0].strip()


def text_of(element: etree._Element) -> str:
    """The text in an element, without that of scripts and pictures."""
    return " ".join(pieces_of(element))


def pieces_of(element: etree._Element) -> list[str]:
    """The texts in an element between its tags, without those of scripts and pictures."""
    pieces: list[str] = []
    _collect(element, pieces)
    found = (" ".join(piece.split()) for piece in pieces)
    return [piece for piece in found if piece]


def _collect(element: etree._Element, pieces: list[str], depth: int = 0) -> None:
    if element.tag in _NO_TEXT or depth > _DEEPEST:
        return
    pieces.append(element.text or "")
    for child in element:
        _collect(child, pieces, depth + 1)
        pieces.append(child.tail or "")


def _is_part(own: list[str], whole: list[str]) -> bool:
    """Whether words stand in a row among others."""
    return any(whole[at : at + len(own)] == own for at in range(len(whole) - len(own) + 1))


def is_around(element: etree._Element) -> bool:
    """Whether an element stands in what is around the page's own text: a side column, the readers' comments."""
    return any(
        node.tag in _AROUND_TAGS or _AROUND.search(f"{node.get('class') or ''} {node.get('id') or ''}")
        for node in (element, *element.iterancestors())
        if node.tag not in {"html", "body"}
    )


def words(text: str) -> list[str]:
    """The words of a text as texts are compared by: in lower case, without punctuation."""
    return re.findall(r"\w+", text.casefold())


def _is_about(thing: Thing, title: list[str]) -> bool:
    """Whether a thing bears the page's title, which begins with it as a rule."""
    names = [words(text) for text in (*thing.texts("headline"), *thing.texts("name"))]
    return any(name and title[: len(name)] == name for name in names)
