"""Read a page's structured data: JSON-LD, microdata and meta tags."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from lxml import etree

# Limits on items. Pages with more items are catalogues or attacks. The items about the page usually come first.
DEEPEST = 8
MOST_THINGS = 500
MOST_ITEMS = 2_500  # maximum number of items and properties of microdata
MOST_VALUES = 100  # maximum number of values of a property
_COMMENT = re.compile(r"<!--|-->|<!\[CDATA\[|\]\]>|^[^\S\n]*//.*$|/\*[^*]*\*/", re.MULTILINE)
_COMMA = re.compile(r",(?=\s*[\]}])")
_MOST_TEXT, _MOST_PIECES = 10_000, 1_000  # maximum characters of a property, and pieces of its text

# Attributes that contain the value of a property.
_VALUE_OF_TAG = {
    **dict.fromkeys(["audio", "embed", "iframe", "img", "source", "track", "video"], "src"),
    **dict.fromkeys(["a", "area", "link"], "href"),
    **dict.fromkeys(["data", "meter"], "value"),
    "meta": "content",
    "object": "data",
}

# Properties that link a page or container to its main topic.
_TOWARDS_TOPIC = ("@graph", "mainEntity", "mainEntityOfPage")

# Types of written works, in addition to those that end in _WRITTEN_ENDS.
_WRITTEN = frozenset("report review recipe question howto quotation creativework book thesis podcastepisode".split())
_WRITTEN_ENDS = ("article", "posting", "blogpost")


@dataclass(frozen=True, slots=True)
class Thing:
    """An item of structured data: an article, a person, the site."""

    types: tuple[str, ...]  # schema.org types, spelled as on the page
    properties: Mapping[str, Any]
    source: str
    by_id: Mapping[str, dict[str, Any]]  # all items of the page that have an ``@id``

    @property
    def is_written(self) -> bool:
        """Whether the item is a written work, such as an article, a post or a recipe."""
        return any(name.lower().endswith(_WRITTEN_ENDS) or name.lower() in _WRITTEN for name in self.types)

    def is_a(self, *names: str) -> bool:
        return any(kind.lower() in names for kind in self.types)

    def texts(self, name: str) -> list[str]:
        """Return the texts of a property. For a property that is an item, return its name."""
        texts = []
        for value in _as_list(self.properties.get(name))[:MOST_VALUES]:
            if isinstance(value, dict):
                texts += self._names(value)
            elif isinstance(value, str | int) and not isinstance(value, bool):
                texts.append(plain(str(value)))
        return [text for text in texts if text]

    def _names(self, value: dict[str, Any]) -> list[str]:
        properties = make_thing(value, self.source, self.by_id).properties
        for name in ("name", "@value", "legalName", "alternateName", "url", "contentUrl"):
            names = [plain(text) for text in _as_list(properties.get(name)) if isinstance(text, str)]
            if names:
                return names
        given, family = (plain(" ".join(map(str, _as_list(properties.get(n))))) for n in ("givenName", "familyName"))
        return [f"{given} {family}".strip()]


def plain(text: str) -> str:
    """Collapse white space in a value, and unescape it, because many pages escape values twice.

    >>> plain("Long-Distance &#038; Cross-Country  Movers")
    'Long-Distance & Cross-Country Movers'
    """
    return " ".join(html.unescape(text).split())


def make_thing(value: dict[str, Any], source: str, by_id: Mapping[str, dict[str, Any]]) -> Thing:
    """Make a Thing from a JSON object.

    If an object refers to another one by its id, the properties of the other object are added.
    """
    identity = value.get("@id")
    if isinstance(identity, str) and identity in by_id:
        value = {**by_id[identity], **value}
    types = [_local_name(kind) for kind in _as_list(value.get("@type")) if isinstance(kind, str)]
    properties = {_local_name(name): content for name, content in value.items()}
    return Thing(tuple(filter(None, types)), properties, source, by_id)


def read_json_ld(root: etree._Element) -> list[Thing]:
    """Return the items in a page's scripts, in order. Damaged scripts are skipped."""
    items = []
    for script in root.iter("script"):
        if script.get("type") != "application/ld+json":
            continue
        text = script.text or ""
        with suppress(ValueError, RecursionError):  # skip only this script
            try:
                value = json.loads(text, strict=False)
            except ValueError:  # it may contain comments and trailing commas or semicolons
                value = json.loads(_COMMA.sub("", _COMMENT.sub("", text)).strip(" \n\r\t;"), strict=False)
            items += _as_list(value)
    return _things(items, "json-ld")


def read_microdata(nodes: Sequence[etree._Element]) -> list[Thing]:
    """Return the items in the attributes of elements. `nodes` are all elements with ``itemscope`` or ``itemprop``."""
    scopes: dict[etree._Element, dict[str, Any]] = {}
    items = []
    for node in nodes:  # outer items come first
        value: Any = {"@type": (node.get("itemtype") or "").split()} if "itemscope" in node.attrib else None
        around = next((scopes[outer] for outer in node.iterancestors() if outer in scopes), None)
        names = (node.get("itemprop") or "").split()
        if value is not None:
            scopes[node] = value
            if around is None or not names:
                items.append(value)
        if around is not None:
            for name in names:
                values = around.setdefault(name, [])
                if len(values) < MOST_VALUES:
                    values.append(_property_value(node, name) if value is None else value)
    return _things(items, "microdata")


def _property_value(node: etree._Element, name: str) -> str:
    """Return the value of a property: an attribute, or the text. The value of a link to an author is its text."""
    attribute = "" if "author" in name else _VALUE_OF_TAG.get(str(node.tag), "")
    value = node.get(attribute) if attribute else node.get("datetime") or node.get("content")
    if value or attribute:
        return value or ""
    pieces, length = [], 0
    for piece in node.itertext("*"):
        pieces.append(str(piece))
        length += len(piece)
        if length > _MOST_TEXT or len(pieces) > _MOST_PIECES:  # properties may be nested, so limit the work
            break
    return " ".join("".join(pieces).split())


def read_meta_tags(root: etree._Element) -> dict[str, list[str]]:
    """Return the values of all meta tags by name in lower case, whichever attribute has the name."""
    values: dict[str, list[str]] = {}
    for tag in root.iter("meta"):
        content = plain(tag.get("content") or "")
        names = {(tag.get(key) or "").strip().lower() for key in ("name", "property", "itemprop", "http-equiv")}
        for name in names - {""} if content else ():
            values.setdefault(name, []).append(content)
    return values


def _things(items: list[Any], source: str) -> list[Thing]:
    nodes = [node for item in items for node in _nodes(item)][:MOST_THINGS]
    by_id: dict[str, dict[str, Any]] = {}
    for node in nodes:
        if isinstance(node.get("@id"), str):
            by_id.setdefault(node["@id"], node)
    return [make_thing(node, source, by_id) for node in nodes]


def _nodes(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the objects about the page itself, outermost first. Objects that are only mentioned are left out."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _nodes(part, depth + 1)
    elif isinstance(value, dict):
        if "@type" in value:
            yield value
        if value.get("@type") == "FAQPage":  # the questions of an FAQ are not articles
            return
        for name in _TOWARDS_TOPIC:
            yield from _nodes(value.get(name), depth + 1)
        posts = _as_list(value.get("blogPost"))
        yield from _nodes(posts if len(posts) == 1 else None, depth + 1)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _local_name(name: str) -> str:
    """Remove the vocabulary from a name: ``schema:Article``, ``http://schema.org/Article``."""
    if name.startswith("@"):
        return name
    return name.strip().rstrip("/").rpartition("/")[2].rpartition(":")[2].rpartition("#")[2]
