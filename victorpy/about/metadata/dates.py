"""The day on which what stands on a page was published."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from functools import cache
from typing import Any

from victorpy.about.metadata.page import Candidate, Page, is_around, text_of
from victorpy.about.terms import EXTRA, primary
from victorpy.errors import missing

OLDEST = date(1990, 1, 1)
"""Before this there was no web; what is older is the date of an event, or a program's zero."""

_EASTERNMOST = timezone(timedelta(hours=14))  # where the day begins first: a page from there is not of the future
_META_NAMES = tuple(
    """
    article:published_time article:published og:article:published_time og:published_time datepublished
    date.issued dc.date.issued dcterms.issued dcterms.created dc.date.created dc.date dcterms.date
    citation_publication_date citation_date citation_online_date parsely-pub-date sailthru.date
    published-date publish-date publish_date publishdate publication_date published_time published pubdate
    article.published cxenseparse:recs:publishtime bt:pubdate pub_date date created datecreated
    """.split()
)
_ISO = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.]?(?P<m>0\d|1[0-2])[-/.]?(?P<d>[0-2]\d|3[01])(?!\d)")
_IN_URL = re.compile(r"/(?P<y>(?:19|20)\d\d)[/_-](?P<m>0?[1-9]|1[0-2])[/_-](?P<d>0?[1-9]|[12]\d|3[01])(?!\d)")
_MONTH = r"[^\W\d_]{3,12}\.?"
_VISIBLE = re.compile(
    rf"(?<![\w/.-])(?:\d{{1,2}}(?:st|nd|rd|th|\.|er|º)?\s+(?:de\s+|of\s+)?{_MONTH},?\s+(?:de\s+|del\s+)?(?:19|20)\d\d|"
    rf"{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+(?:19|20)\d\d|"
    r"(?:19|20)\d\d\s*[-/.年년]\s*\d{1,2}\s*[-/.月월]\s*\d{1,2}[日일]?|"
    r"\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d)(?![\w/])"
)
_MARKS = re.compile("date|publish|posted|byline|time|meta")
_UPDATED = re.compile(r"updat|modif|revis|edited|changed|aktualis|mise à jour|actualiz|aggiorn", re.IGNORECASE)
_OF_OTHERS = re.compile(
    r"joined|registered|member since|since|expires|valid|deadline|until|release|©|copyright", re.IGNORECASE
)
_WHOLE = {"REQUIRE_PARTS": ["day", "month", "year"], "STRICT_PARSING": True}
_LONGEST = 150
_LABEL = 30  # characters before a date that may say what it is


def find_date(page: Page, language: str = "", today: date | None = None) -> Candidate | None:
    """The day, as ``2024-05-17``: the first candidate that is a day from 1990 until today."""
    newest = today or datetime.now(_EASTERNMOST).date()
    for text, source in _candidates(page):
        found = read_date(text, language)
        if found and OLDEST <= found <= newest:
            return Candidate(found.isoformat(), source)
    return None


def read_date(text: str, language: str = "") -> date | None:
    """The first day in a text, as machines write it or in words of a language.

    >>> read_date("2024-05-17T10:00:00Z"), read_date("Published on 17 mai 2024", "fr"), read_date("soon")
    (datetime.date(2024, 5, 17), datetime.date(2024, 5, 17), None)
    """
    found = _ISO.search(text)
    if found:
        return _day(found)
    for visible in _VISIBLE.finditer(text):
        day = _in_words(visible[0], language)
        if day:
            return day
    return None


def _day(found: re.Match[str]) -> date | None:
    try:
        return date(int(found["y"]), int(found["m"]), int(found["d"]))
    except ValueError:
        return None


def _candidates(page: Page) -> Iterator[Candidate]:
    """From trustworthy to less.

    What is made for machines comes from the system that published the page. Next to the headline stands the day, but
    it may be that of the last change; what is said to be such comes last. An address gives the day it was made on.
    Dates elsewhere on the page are as a rule those of other pages.
    """
    for thing in page.written:
        for name in ("datePublished", "dateCreated", "uploadDate"):
            yield from (Candidate(text, thing.source) for text in thing.texts(name))
    yield from page.meta(_META_NAMES)
    if not _is_dated_by_others(page):
        near = list(_near_headline(page))
        yield from (Candidate(text, "headline") for text, is_update in near if not is_update)
        yield from (Candidate("-".join((y, m.zfill(2), d.zfill(2))), "url") for y, m, d in _IN_URL.findall(page.url))
        yield from _time_elements(page)
        yield from _marked_texts(page)
        yield from (Candidate(text, "headline, updated") for text, is_update in near if is_update)
    for thing in page.written:
        yield from (Candidate(text, f"{thing.source}, updated") for text in thing.texts("dateModified"))


def _is_dated_by_others(page: Page) -> bool:
    """Whether the dates to be seen are not the page's: those of a shop's goods, of the articles on a home page."""
    kinds = page.meta_tags.get("og:type", [])
    of_many = any(thing.is_a("product", "collectionpage", "itemlist") for thing in page.things)
    if page.written:
        return False
    return page.is_home or of_many or any("product" in kind for kind in kinds)


def _near_headline(page: Page) -> Iterator[tuple[str, bool]]:
    """Dates near the headline, and whether they are those of a change."""
    for line in page.lines:
        if _ISO.search(line.text) or _VISIBLE.search(line.text):
            said = f"{line.before[-_LABEL:]} {line.text}"
            if not _OF_OTHERS.search(said):
                yield line.text, bool(_UPDATED.search(said))


def _time_elements(page: Page) -> Iterator[Candidate]:
    """The first time outside of what is around the page's text; on an article the first one in any case."""
    times = list(page.root.iter("time"))
    found = [element for element in times if not is_around(element)]
    for element in (found or (times if page.is_article else []))[:1]:
        yield Candidate(element.get("datetime") or text_of(element), "time")


def _marked_texts(page: Page) -> Iterator[Candidate]:
    for element, said in page.marked:
        text = text_of(element) if _MARKS.search(said) else ""
        if 0 < len(text) <= _LONGEST and not is_around(element):
            yield Candidate(text, "text")


@cache
def _parser() -> Any:
    try:
        import dateparser
    except ModuleNotFoundError as error:
        raise missing("dateparser", EXTRA, "reading dates in words") from error
    return dateparser


def _in_words(text: str, language: str) -> date | None:
    """Read a date with the months and the order of the page's language, else those of English.

    >>> _in_words("04/05/2021", "en-US"), _in_words("04/05/2021", "en-GB"), _in_words("04/05/2021", "fr")
    (datetime.date(2021, 4, 5), datetime.date(2021, 5, 4), datetime.date(2021, 5, 4))
    """
    region = language.rpartition("-")[2] if len(language) == 5 else None
    for spoken in dict.fromkeys((primary(language), "en")):
        try:
            found = _parser().parse(text, languages=[spoken], region=region, settings=_WHOLE) if spoken else None
        except (ValueError, OverflowError):  # a language or region that dateparser does not know, a day that is none
            found = None
        if found:
            day: date = found.date()
            return day
    return None
