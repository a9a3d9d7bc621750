"""The fields of metadata that need no more than to be looked up: description, language, address, picture, kind."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from victorpy.about.metadata.page import Candidate, Page

_DESCRIPTIONS = ("og:description", "description", "twitter:description", "dc.description", "dcterms.abstract")
_LANGUAGES = ("content-language", "og:locale", "dc.language", "dcterms.language", "language")
_KEYWORDS = tuple("keywords news_keywords article:tag parsely-tags sailthru.tags dc.subject citation_keywords".split())
_IMAGES = ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "thumbnail")
_LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*", re.IGNORECASE)
_CONTAINERS = frozenset(
    "website organization corporation breadcrumblist imageobject person searchaction sitenavigationelement listitem "
    "wpheader wpfooter wpsidebar localbusiness brand offer aggregaterating".split()
)
_MOST_KEYWORDS = 50


def find_description(page: Page) -> Candidate | None:
    """Meta tags, then the description of what somebody wrote."""
    found = page.meta(_DESCRIPTIONS)
    found += [Candidate(text, thing.source) for thing in page.written for text in thing.texts("description")]
    return found[0] if found else None


def find_language(page: Page) -> Candidate | None:
    """The page's own claim: that of its root element, which browsers heed, before those of meta tags."""
    claims = [
        Candidate(page.root.get(name) or "", f"html {name}")
        for name in ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang")
    ]
    claims += page.meta(_LANGUAGES)
    claims += [Candidate(text, thing.source) for thing in page.written for text in thing.texts("inLanguage")]
    for value, source in claims:
        found = _LANGUAGE_CODE.match(value.strip())
        if found and found[0].lower() not in {"und", "mul", "zxx", "html"}:
            return Candidate(_as_code(found[0]), source)
    return None


def _as_code(language: str) -> str:
    """A code as standards write it: ``en_us`` is ``en-US``."""
    first, *rest = re.split("[-_]", language)
    cased = {2: str.upper, 4: str.title}
    return "-".join([first.lower(), *(cased.get(len(part), str.lower)(part) for part in rest)])


def find_url(page: Page) -> Candidate | None:
    """The address that the page calls its own, whole, else where it was read from."""
    claims = [Candidate(page.own_url, "canonical"), *page.meta(["og:url"]), Candidate(page.url, "address")]
    for value, source in claims:
        address = _absolute(value, page.url) if value else ""
        if address.startswith(("http://", "https://")):
            return Candidate(address, source)
    return None


def find_image(page: Page) -> Candidate | None:
    """The picture that is shown where the page is linked."""
    found = page.meta(_IMAGES)
    found += [Candidate(text, thing.source) for thing in page.written for text in thing.texts("image")]
    for value, source in found:
        address = _absolute(value, page.url)
        if address.startswith(("http://", "https://", "/")):
            return Candidate(address, source)
    return None


def find_kind(page: Page) -> Candidate | None:
    """What the page is, in its own words: what is written there, another thing that it is about, OpenGraph's type."""
    for thing in (*page.written, *page.things):
        kinds = [kind for kind in thing.types if kind.lower() not in _CONTAINERS]
        if kinds:
            return Candidate(kinds[0], thing.source)
    found = page.meta(["og:type"])
    return found[0] if found else None


def find_keywords(page: Page) -> tuple[tuple[str, ...], str] | None:
    """The keywords that the page gives itself, each once, and where."""
    for name in _KEYWORDS:
        words = _listed(page.meta_tags.get(name, []))
        if words:
            return words, f"meta {name}"
    for thing in page.written:
        words = _listed(thing.texts("keywords"))
        if words:
            return words, thing.source
    return None


def _listed(texts: list[str]) -> tuple[str, ...]:
    found = (word.strip() for text in texts for word in re.split(r"[,;，、]", text))
    return tuple(dict.fromkeys(word for word in found if word))[:_MOST_KEYWORDS]


def _absolute(address: str, base: str) -> str:
    try:
        return urljoin(base, address.strip())
    except ValueError:  # a broken address
        return ""
