"""Who wrote what stands on a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from victorpy.docview.metadata.names import clean_names
from victorpy.docview.metadata.page import Candidate, Page, is_around, text_of

_META_NAMES = (
    *("author", "article:author", "citation_author", "dc.creator", "dcterms.creator", "dc.creator.author"),
    *("parsely-author", "sailthru.author", "byl", "article:author_name", "og:article:author", "authors", "creator", "cxenseparse:author"),
)
_MARKS = re.compile("author|byline|username|writer")
_BY = re.compile(r"^\s*(?:written |posted |published |words |text |story )?by:?\s+(?P<name>[^\W\d_].{1,80})", re.IGNORECASE)
_LONGEST_BYLINE = 150
_FAR = 60  # elements behind the headline


def find_author(page: Page) -> Candidate | None:
    """The first candidates that have names, those of one kind of place joined."""
    for texts, source in _candidates(page):
        names = clean_names(texts)
        if names:
            return Candidate("; ".join(names), source)
    return None


def _candidates(page: Page) -> Iterator[tuple[list[str], str]]:
    """From trustworthy to less.

    What an article's description names as author is made by the system that knows. Meta tags are often those of a
    template, with the site's or a designer's name. Elements marked as author are about others too, a comment's say.
    """
    for thing in page.written:
        yield thing.texts("author") or thing.texts("creator"), thing.source
    for name in _META_NAMES:
        yield page.meta_tags.get(name, []), f"meta {name}"
    marked = [element for element, said in page.marked if _MARKS.search(said) and not is_around(element)]
    yield from (([text_of(element)], "rel author") for element in marked if element.get("rel") == "author")
    yield from (([text_of(element)], "itemprop") for element in marked if "author" in (element.get("itemprop") or ""))
    for element in marked:
        text = text_of(element)
        if len(text) <= _LONGEST_BYLINE:
            yield [text], "byline"
    yield from (([text], "text") for text in _bylines(page))


def _bylines(page: Page) -> Iterator[str]:
    """Texts behind the headline that begin with "By"."""
    for heading, _ in page.headings[:2]:
        for number, element in enumerate(heading.iter("*") if False else heading.itersiblings()):
            if number > _FAR:
                return
            found = _BY.match(text_of(element)[:_LONGEST_BYLINE])
            if found:
                yield found["name"]
