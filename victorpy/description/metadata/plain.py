"""Find the fields of metadata that only need a look-up: description, language, address, picture, kind, keywords."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from victorpy.description.metadata.page import Candidate, Page

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
    """Return the description in a meta tag, else in an article's structured data."""
    candidates = page.meta(_DESCRIPTIONS)
    candidates += [Candidate(text, thing.source) for thing in page.written for text in thing.texts("description")]
    return candidates[0] if candidates else None


def find_language(page: Page) -> Candidate | None:
    """Return the declared language as ``en`` or ``pt-BR``, first that of the root element, which browsers use."""
    claims = [
        Candidate(page.root.get(name) or "", f"html {name}")
        for name in ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang")
    ]
    claims += page.meta(_LANGUAGES)
    claims += [Candidate(text, thing.source) for thing in page.written for text in thing.texts("inLanguage")]
    for value, source in claims:
        code = _LANGUAGE_CODE.match(value.strip())
        if code and code[0].lower() not in {"und", "mul", "zxx", "html"}:
            language, *subtags = re.split("[-_]", code[0])
            change_case = {2: str.upper, 4: str.title}  # a region, a script
            subtags = [change_case.get(len(subtag), str.lower)(subtag) for subtag in subtags]
            return Candidate("-".join([language.lower(), *subtags]), source)
    return None


def find_url(page: Page) -> Candidate | None:
    """Return the page's own address as an absolute URL, else the address it was read from."""
    claims = [Candidate(page.own_url, "canonical"), *page.meta(["og:url"]), Candidate(page.url, "address")]
    for value, source in claims:
        address = _absolute(value, page.url) if value else ""
        if address.startswith(("http://", "https://")):
            return Candidate(address, source)
    return None


def find_image(page: Page) -> Candidate | None:
    """Return the picture that represents the page."""
    candidates = page.meta(_IMAGES)
    candidates += [Candidate(text, thing.source) for thing in page.written for text in thing.texts("image")]
    for value, source in candidates:
        address = _absolute(value, page.url)
        if address.startswith(("http://", "https://", "/")):
            return Candidate(address, source)
    return None


def find_kind(page: Page) -> Candidate | None:
    """Return the declared type: that of an article, of another thing, or OpenGraph's."""
    for thing in (*page.written, *page.things):
        kinds = [kind for kind in thing.types if kind.lower() not in _CONTAINERS]
        if kinds:
            return Candidate(kinds[0], thing.source)
    return next(iter(page.meta(["og:type"])), None)


def find_keywords(page: Page) -> tuple[tuple[str, ...], str] | None:
    """Return the declared keywords, each once, and where they were found."""
    places = [(page.meta_tags.get(name, []), f"meta {name}") for name in _KEYWORDS]
    places += [(thing.texts("keywords"), thing.source) for thing in page.written]
    for texts, source in places:
        words = (word.strip() for text in texts for word in re.split(r"[,;，、]", text))
        keywords = tuple(dict.fromkeys(filter(None, words)))[:_MOST_KEYWORDS]
        if keywords:
            return keywords, source
    return None


def _absolute(address: str, base: str) -> str:
    try:
        return urljoin(base, address.strip())
    except ValueError:  # a broken address
        return ""
