"""Read a page's structured data: JSON-LD, microdata and meta tags.

extruct reads microdata if it is installed. Its OpenGraph and Dublin Core readers are not used, because they miss meta
tags that pages have, such as ``og:title`` in ``name=`` instead of ``property=``.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from lxml import etree

# Limits on items. Pages with more items are catalogues or attacks. Items about the page itself usually come first.
DEEPEST = 8
MOST_THINGS = 500
DEEPEST_SCOPES = 16
MOST_PROPERTIES = 2_000  # extruct's time grows with the square of the number of properties
MOST_VALUES = 100  # maximum number of values of a property
_COMMENT = re.compile(r"<!--|-->|<!\[CDATA\[|\]\]>|^\s*//.*$|/\*[^*]*\*/", re.MULTILINE)
_COMMA = re.compile(r",(?=\s*[\]}])")
_MOST_TEXT, _MOST_PIECES = 10_000, 1_000  # characters of a property, and texts between its tags

# Properties that link a page or container to its main topic.
_TOWARDS_TOPIC = ("@graph", "mainEntity", "mainEntityOfPage")

# Types with an author and a date, besides those that end in _WRITTEN_ENDS.
_WRITTEN = frozenset("report review recipe question howto quotation creativework book thesis podcastepisode".split())
_WRITTEN_ENDS = ("article", "posting", "blogpost")


@dataclass(frozen=True, slots=True)
class Thing:
    """An item of structured data: an article, a person, the site."""

    types: tuple[str, ...]  # types in schema.org's terms, spelled as on the page
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
        given, family = (plain(str(properties.get(name) or "")) for name in ("givenName", "familyName"))
        return [f"{given} {family}".strip()]


def plain(text: str) -> str:
    """Unescape a value, because many pages escape twice, and collapse its white space.

    >>> plain("Long-Distance &#038; Cross-Country  Movers")
    'Long-Distance & Cross-Country Movers'
    """
    return " ".join(html.unescape(text).split())


def make_thing(value: dict[str, Any], source: str, by_id: Mapping[str, dict[str, Any]]) -> Thing:
    """Make a Thing from a JSON object.

    An object that refers to another object by its id gets the properties of that object.
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
        with suppress(ValueError, RecursionError):  # only this script is lost
            try:
                value = json.loads(text, strict=False)
            except ValueError:  # it may have comments, and a comma or semicolon too many
                value = json.loads(_COMMA.sub("", _COMMENT.sub("", text)).strip(" \n\r\t;"), strict=False)
            items += _as_list(value)
    return _things(items, "json-ld")


class TooManyItemsError(Exception):
    """The microdata of a page exceeds a limit."""


def read_microdata(root: etree._Element) -> list[Thing]:
    """Return the items in the attributes of a page's elements; none if extruct is not installed."""
    scopes = [root] * ("itemscope" in root.attrib) + root.findall(".//*[@itemscope]")
    if not scopes or _microdata_extractor() is None:
        return []
    if len(scopes) > MOST_THINGS:
        raise TooManyItemsError(f"metadata ignores microdata, because it has more than {MOST_THINGS} items")
    if len(root.findall(".//*[@itemprop]")) > MOST_PROPERTIES:
        raise TooManyItemsError(f"metadata ignores microdata, because it has more than {MOST_PROPERTIES:,} properties")
    depths: dict[etree._Element, int] = {}
    for scope in scopes:  # in document order, so that outer items come first
        outer = next((ancestor for ancestor in scope.iterancestors() if ancestor in depths), None)
        depths[scope] = 1 + (depths[outer] if outer is not None else 0)
        if depths[scope] > DEEPEST_SCOPES:  # extruct's time grows with the cube of the depth
            words = f"metadata ignores microdata, because its items are nested more than {DEEPEST_SCOPES} levels deep"
            raise TooManyItemsError(words)
    try:
        items = _microdata_extractor().extract_items(root, None)
    except (ValueError, TypeError, RecursionError):  # extruct cannot handle this damage
        return []
    return _things([_as_json_ld(item) for item in items], "microdata")


def read_meta_tags(root: etree._Element) -> dict[str, list[str]]:
    """Return the values of all meta tags by name in lower case, whichever attribute has the name."""
    values: dict[str, list[str]] = {}
    for tag in root.iter("meta"):
        content = plain(tag.get("content") or "")
        names = {(tag.get(key) or "").strip().lower() for key in ("name", "property", "itemprop", "http-equiv")}
        for name in names - {""} if content else ():
            values.setdefault(name, []).append(content)
    return values


@cache
def _microdata_extractor() -> Any:
    try:
        from extruct.w3cmicrodata import MicrodataExtractor
    except ModuleNotFoundError:
        return None

    class PlainText(MicrodataExtractor):  # type: ignore[misc]
        """Reads an element's text directly. extruct renders each element, which costs more than cleaning the page."""

        def _extract_textContent(self, node: etree._Element) -> str:  # noqa: N802 (extruct's name)
            pieces, length = [], 0
            for piece in node.itertext("*"):
                pieces.append(str(piece))
                length += len(piece)
                if length > _MOST_TEXT or len(pieces) > _MOST_PIECES:  # properties may contain each other
                    break
            return " ".join("".join(pieces).split())

        def _extract_property_value(self, node: etree._Element, **around: Any) -> Any:
            """Take the text of an author's link, not its address, as the name."""
            if node.tag == "a" and "author" in (node.get("itemprop") or ""):
                return self._extract_textContent(node)
            if node.tag == "time" and not node.get("datetime"):
                return self._extract_textContent(node)
            return super()._extract_property_value(node, **around)

    return PlainText()


def _as_json_ld(item: Any, depth: int = 0) -> Any:
    """Convert an item of microdata to the form of JSON-LD."""
    if isinstance(item, list):
        return [_as_json_ld(part, depth) for part in item[:MOST_THINGS]]
    if not isinstance(item, dict) or depth > DEEPEST:
        return item
    if "properties" not in item:
        return item.get("value", "")
    properties = {name: _as_json_ld(value, depth + 1) for name, value in item["properties"].items()}
    return {"@type": item.get("type", []), **properties}


def _things(items: list[Any], source: str) -> list[Thing]:
    nodes = [node for item in items for node in _nodes(item)][:MOST_THINGS]
    by_id: dict[str, dict[str, Any]] = {}
    for node in nodes:
        if isinstance(node.get("@id"), str):
            by_id.setdefault(node["@id"], node)
    return [make_thing(node, source, by_id) for node in nodes]


def _nodes(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the objects about the page itself, outermost first, without objects that are only mentioned."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for part in value:
            yield from _nodes(part, depth + 1)
    elif isinstance(value, dict):
        if "@type" in value:
            yield value
        if value.get("@type") == "FAQPage":  # its questions are not articles
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
