"""Structured data of a page: JSON-LD and microdata as one kind of thing, and what its meta tags say.

extruct reads JSON-LD and microdata. Its OpenGraph and Dublin Core readers are not used: they look at fewer meta tags
than pages have (``og:title`` in ``name=`` instead of ``property=`` say), and a meta tag is a name and a value.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lxml import etree

from victorpy.about.terms import EXTRA
from victorpy.errors import missing

JSON_LD, MICRODATA = "json-ld", "microdata"

# A page whose items nest deeper, or that has more of them, is a catalogue or an attack: what it says of itself stands
# near its top.
DEEPEST = 8
MOST_THINGS = 500
DEEPEST_SCOPES = 16

# Properties that lead from a page or a container to what the page is about.
_TOWARDS_TOPIC = ("@graph", "mainEntity", "mainEntityOfPage")

# One thing on the page with a writer and a day. Of the other types, these have both as well.
_WRITTEN = frozenset("report review recipe question howto quotation creativework book thesis podcastepisode".split())
_WRITTEN_ENDS = ("article", "posting", "blogpost")


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that a page describes: an article, a person, the site."""

    types: tuple[str, ...]
    """What it is, in schema.org's names as the page writes them."""
    properties: Mapping[str, Any]
    source: str
    known: Mapping[str, dict[str, Any]]
    """All things of the page that have an ``@id``, which others refer to."""

    @property
    def is_written(self) -> bool:
        """Whether somebody wrote and published it: an article, a post, a recipe."""
        return any(name.lower().endswith(_WRITTEN_ENDS) or name.lower() in _WRITTEN for name in self.types)

    def is_a(self, *names: str) -> bool:
        """Whether it is of one of these types."""
        return any(kind.lower() in names for kind in self.types)

    def texts(self, name: str) -> list[str]:
        """The texts of a property; of a thing, its name."""
        found = []
        for value in _as_list(self.properties.get(name)):
            if isinstance(value, dict):
                found.extend(self._named(value))
            elif isinstance(value, str | int) and not isinstance(value, bool):
                found.append(plain(str(value)))
        return [text for text in found if text]

    def _named(self, value: dict[str, Any]) -> list[str]:
        thing = thing_of(value, self.source, self.known)
        for name in ("name", "@value", "legalName", "alternateName", "url", "contentUrl"):
            found = [plain(text) for text in _as_list(thing.properties.get(name)) if isinstance(text, str)]
            if found:
                return found
        given, family = (plain(str(thing.properties.get(name) or "")) for name in ("givenName", "familyName"))
        return [f"{given} {family}".strip()]


def plain(text: str) -> str:
    """A value as text: many pages escape twice.

    >>> plain("Long-Distance &#038; Cross-Country  Movers")
    'Long-Distance & Cross-Country Movers'
    """
    return " ".join(html.unescape(text).split())


def thing_of(value: dict[str, Any], source: str, known: Mapping[str, dict[str, Any]]) -> Thing:
    """Make a thing of a JSON object; where it only refers to another one, of that."""
    identity = value.get("@id")
    if isinstance(identity, str) and identity in known:
        value = {**known[identity], **value}
    types = tuple(name for kind in _as_list(value.get("@type")) if isinstance(kind, str) and (name := _local(kind)))
    return Thing(types, {_local(name): what for name, what in value.items()}, source, known)


def read_json_ld(root: etree._Element) -> list[Thing]:
    """The things that a page's scripts describe, in order; a damaged script is as good as none."""
    scripts = [script for script in root.iter("script") if script.get("type") == "application/ld+json"]
    return _things([item for script in scripts for item in _items(script)], JSON_LD)


def read_microdata(root: etree._Element) -> list[Thing]:
    """The things that attributes of a page's elements describe."""
    scopes = [root] * ("itemscope" in root.attrib) + root.findall(".//*[@itemscope]")
    if not 0 < len(scopes) <= MOST_THINGS or _nests_deep(scopes):
        return []
    try:
        items = _microdata_extractor().extract_items(root, None)
    except (ValueError, TypeError, RecursionError):  # damaged beyond what extruct expects
        return []
    return _things([_as_json(item) for item in items], MICRODATA)


def _nests_deep(scopes: list[etree._Element]) -> bool:
    """Whether things lie in each other deeper than anybody means it: extruct's time grows with the cube of that."""
    depths: dict[etree._Element, int] = {}
    for scope in scopes:  # in document order, so that outer ones come first
        around = next((each for each in scope.iterancestors() if each in depths), None)
        depths[scope] = 1 + (depths[around] if around is not None else 0)
        if depths[scope] > DEEPEST_SCOPES:
            return True
    return False


def read_meta_tags(root: etree._Element) -> dict[str, list[str]]:
    """The values of all meta tags by name in lower case, however the tag spells ``name``."""
    found: dict[str, list[str]] = {}
    for tag in root.iter("meta"):
        content = plain(tag.get("content") or "")
        names = {
            name.strip().lower() for key in ("name", "property", "itemprop", "http-equiv") if (name := tag.get(key))
        }
        for name in names if content else ():
            found.setdefault(name, []).append(content)
    return found


def _items(script: etree._Element) -> list[Any]:
    """What a script holds; extruct is asked one by one, because damage to one would cost it all others."""
    try:
        return list(_json_ld_extractor().extract_items(script))
    except (ValueError, RecursionError):
        return []


@cache
def _json_ld_extractor() -> Any:
    try:
        from extruct.jsonld import JsonLdExtractor
    except ModuleNotFoundError as error:
        raise missing("extruct", EXTRA, "reading structured data") from error
    return JsonLdExtractor()


@cache
def _microdata_extractor() -> Any:
    try:
        from extruct.w3cmicrodata import MicrodataExtractor
    except ModuleNotFoundError as error:
        raise missing("extruct", EXTRA, "reading structured data") from error

    class PlainText(MicrodataExtractor):  # type: ignore[misc]
        """Takes an element's text as it stands: extruct copies and lays out each, which costs more than cleaning."""

        def _extract_textContent(self, node: etree._Element) -> str:  # noqa: N802 (extruct's name)
            return " ".join("".join(map(str, node.itertext("*"))).split())

        def _extract_property_value(self, node: etree._Element, **around: Any) -> Any:
            """A link's text, not where it leads, is a person's name."""
            if node.tag == "a" and "author" in (node.get("itemprop") or ""):
                return self._extract_textContent(node)
            if node.tag == "time" and not node.get("datetime"):
                return self._extract_textContent(node)
            return super()._extract_property_value(node, **around)

    return PlainText()


def _as_json(item: Any, depth: int = 0) -> Any:
    """An item of microdata in the form of JSON-LD."""
    if isinstance(item, list):
        return [_as_json(one, depth) for one in item[:MOST_THINGS]]
    if not isinstance(item, dict) or depth > DEEPEST:
        return item
    if "properties" not in item:
        return item.get("value", "")
    properties = {name: _as_json(value, depth + 1) for name, value in item["properties"].items()}
    return {"@type": item.get("type", []), **properties}


def _things(items: list[Any], source: str) -> list[Thing]:
    nodes = [node for item in items for node in _nodes(item)][:MOST_THINGS]
    known: dict[str, dict[str, Any]] = {}
    for node in nodes:
        identity = node.get("@id")
        if isinstance(identity, str):
            known.setdefault(identity, node)
    return [thing_of(node, source, known) for node in nodes]


def _nodes(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The objects that a page is made of, from the outside in; not what those only mention."""
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        for one in value:
            yield from _nodes(one, depth + 1)
    elif isinstance(value, dict):
        if "@type" in value:
            yield value
        if value.get("@type") == "FAQPage":  # its questions are nobody's article
            return
        for name in _TOWARDS_TOPIC:
            yield from _nodes(value.get(name), depth + 1)
        posts = _as_list(value.get("blogPost"))
        yield from _nodes(posts if len(posts) == 1 else None, depth + 1)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _local(name: str) -> str:
    """A name without the vocabulary that it is from: ``schema:Article``, ``http://schema.org/Article``."""
    return (
        name
        if name.startswith("@")
        else name.strip().rstrip("/").rpartition("/")[2].rpartition(":")[2].rpartition("#")[2]
    )
