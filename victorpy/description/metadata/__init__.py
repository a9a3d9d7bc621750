"""Read a page's metadata, each field from its most trustworthy source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from urllib.parse import urljoin

from victorpy.description.metadata.author import find_author
from victorpy.description.metadata.dates import find_date
from victorpy.description.metadata.page import Candidate, Page
from victorpy.description.metadata.title import Site, find_site_name, find_title
from victorpy.document import Metadata
from victorpy.page.parse import Tree

__all__ = ["read_metadata"]

_DESCRIPTIONS = ("og:description", "description", "twitter:description", "dc.description", "dcterms.abstract")
_LANGUAGES = ("content-language", "og:locale", "dc.language", "dcterms.language", "language")
_KEYWORDS = tuple("keywords news_keywords article:tag parsely-tags sailthru.tags dc.subject citation_keywords".split())
_IMAGES = ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "thumbnail")
_LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(?![a-z0-9])(?:[-_][a-z0-9]{2,8})*", re.IGNORECASE)
_NO_LANGUAGES = frozenset(["und", "mul", "zxx", "html"])
_CHANGE_CASE = {2: str.upper, 4: str.title}  # codes of two letters are regions, and codes of four are scripts
_CONTAINERS = frozenset(
    "website organization corporation breadcrumblist imageobject person searchaction sitenavigationelement listitem "
    "wpheader wpfooter wpsidebar localbusiness brand offer aggregaterating".split()
)
_MOST_KEYWORDS = 50


def read_metadata(tree: Tree, url: str = "", source: str | bytes = "itemscope") -> Metadata:
    """Read the metadata of a parsed page that is not yet pruned.

    `url` is the address that the page was read from. Microdata is read only if the `source` contains ``itemscope``.
    """
    page = Page(tree, url, source)
    site = Site(page)
    descriptions = [*page.meta(*_DESCRIPTIONS), *page.written_texts("description")]
    own_addresses = [Candidate(tree.url, "canonical or og:url"), Candidate(page.url, "address")]
    pictures = [*page.meta(*_IMAGES), *page.written_texts("image")]
    kinds = (  # the types of articles come first
        Candidate(kind, thing.source)
        for thing in (*page.written, *page.things)
        for kind in thing.types
        if kind.lower() not in _CONTAINERS
    )
    language = _find_language(page)
    keywords, keyword_source = _find_keywords(page)
    candidates = {
        "title": find_title(page, site),
        "author": find_author(page, site),
        "date": find_date(page, language.value if language else ""),
        "site_name": find_site_name(page),
        "description": descriptions[0] if descriptions else None,
        "language": language,
        "url": _first_address(own_addresses, page.url, ("http://", "https://")),
        "image": _first_address(pictures, page.url, ("http://", "https://", "/")),
        "kind": next(chain(kinds, page.meta("og:type")), None),
    }
    values = {name: candidate.value for name, candidate in candidates.items() if candidate}
    sources = {name: candidate.source for name, candidate in candidates.items() if candidate}
    if keywords:
        sources["keywords"] = keyword_source
    return Metadata(**values, keywords=keywords, sources=sources, losses=tuple(page.losses))


def _find_language(page: Page) -> Candidate | None:
    """Return the declared language, as ``en`` or ``pt-BR``.

    The root element is checked first, because browsers use it.
    """
    names = ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang")
    of_root = [Candidate(page.root.get(name) or "", f"html {name}") for name in names]
    for value, source in (*of_root, *page.meta(*_LANGUAGES), *page.written_texts("inLanguage")):
        code = _LANGUAGE_CODE.match(value.strip())
        if code and code[0].lower() not in _NO_LANGUAGES:
            language, *subtags = re.split("[-_]", code[0])
            subtags = [_CHANGE_CASE.get(len(subtag), str.lower)(subtag) for subtag in subtags]
            return Candidate("-".join([language.lower(), *subtags]), source)
    return None


def _first_address(candidates: Iterable[Candidate], base: str, beginnings: tuple[str, ...]) -> Candidate | None:
    """Return the first candidate whose absolute address starts with one of the prefixes."""
    for value, source in candidates:
        try:
            address = urljoin(base, value.strip()) if value else ""
        except ValueError:  # a broken address
            continue
        if address.startswith(beginnings):
            return Candidate(address, source)
    return None


def _find_keywords(page: Page) -> tuple[tuple[str, ...], str]:
    """Return the distinct declared keywords, and where they were found."""
    in_meta_tags = ((page.meta_tags.get(name, []), f"meta {name}") for name in _KEYWORDS)
    in_things = ((thing.texts("keywords"), thing.source) for thing in page.written)
    for texts, source in chain(in_meta_tags, in_things):
        keywords = (keyword.strip() for text in texts for keyword in re.split(r"[,;，、]", text))
        unique = tuple(dict.fromkeys(filter(None, keywords)))[:_MOST_KEYWORDS]
        if unique:
            return unique, source
    return (), ""
