"""Find the name of a page's site, and recognise it in titles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from victorpy.description.metadata.page import Candidate, Page, words
from victorpy.sites.grouping import site_of

# Separates a page's title from the site's name. A hyphen or colon needs spaces around it, else it is part of a word.
SEPARATOR = re.compile(r"\s*[|｜│‖¦»«·•⋅]+\s*|\s+(?:[-–—:/\\~]|::|<|>)+\s+|\s*::+\s*|\s*[–—]\s+")

_SITE, *_APPLICATIONS = "og:site_name application-name apple-mobile-web-app-title al:android:app_name".split()
_LONGEST = 60  # characters; longer ones are slogans
_MOST_WORDS = 3
_SLOGAN = re.compile(r"\s+[|｜│].*")


def site_name_candidates(page: Page) -> Iterator[Candidate]:
    """Yield names of the site, most trustworthy first.

    OpenGraph and schema.org's WebSite have a field for it. An article's publisher may be a group of sites. Names of
    applications are shortened for small screens. The part of the title that spells the host's name is a good guess.
    """
    yield from page.meta([_SITE])
    for thing in page.things:
        if thing.is_a("website"):
            yield from (Candidate(name, thing.source) for name in thing.texts("name"))
    for thing in page.written:
        yield from (Candidate(name, thing.source) for name in thing.texts("publisher"))
    yield from page.meta(_APPLICATIONS)
    parts = title_parts(page.title_tag)
    if len(parts) > 1 or len(words(page.title_tag)) <= _MOST_WORDS:
        yield from (Candidate(part, "title and host") for part in parts if is_host(part, page.url))


def find_site_name(page: Page) -> Candidate | None:
    """Return the first candidate that is neither an address nor a slogan."""
    for value, source in site_name_candidates(page):
        name = _SLOGAN.sub("", value).removeprefix("@")
        if 1 < len(name) <= _LONGEST and "://" not in name:
            return Candidate(name, source)
    return None


class Site:
    """The names of a page's site."""

    def __init__(self, page: Page) -> None:
        self.url = page.url
        self.names = [words(name) for name, _ in site_name_candidates(page)]

    def is_name(self, text: str) -> bool:
        """Whether a text is the site's name, give or take a word or two at the end."""
        own = words(text)
        if not own or is_host(text, self.url):
            return True
        for name in filter(None, self.names):
            short, long = sorted((own, name), key=len)
            is_prefix = len(long) - len(short) <= 2 and long[: len(short)] == short
            if "".join(own) == "".join(name) or (is_prefix and len("".join(short)) >= 4):
                return True
        return False


def is_host(text: str, url: str) -> bool:
    """Whether a text spells the registered domain of the site.

    >>> is_host("The Motley Fool", "https://www.fool.com/x"), is_host("Giordano's Catering", "http://giordanos.com/")
    (False, True)
    >>> is_host("web.dev", "https://web.dev/learn"), is_host("Learn", "https://web.dev/learn")
    (True, False)
    """
    site = site_of(url)
    label = "".join(words(site.partition(".")[0]))
    pieces = words(text)
    if not label or not pieces:
        return False
    spelt = "".join(pieces)
    if spelt in {label, "".join(words(site)), f"www{''.join(words(site))}", f"the{label}"} or f"the{spelt}" == label:
        return True
    initials = "".join(piece[0] for piece in pieces)
    if len(label) >= 3 and len(pieces) == len(label) and initials == label:
        return True
    near = label.rstrip("s")
    return (
        len(near) >= 4
        and len(pieces) <= 5
        and (spelt.startswith(near) or (len(spelt) >= 5 and label.startswith(spelt)))
    )


def title_parts(title: str) -> list[str]:
    """Split a title at separators."""
    return [part for part in SEPARATOR.split(title) if part]
