"""Find the date on which a page was published."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta, timezone
from itertools import chain, islice, pairwise

from lxml import etree

from victorpy.base.language import primary
from victorpy.description.metadata.page import Candidate, Page, is_around, is_comment, text_of

OLDEST = date(1990, 1, 1)
"""Earliest possible date of publication. Earlier dates refer to events, or are default values of programs."""

_EASTERNMOST = timezone(timedelta(hours=14))  # the time zone in which each day begins first
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
# Names of months in English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish, Russian, Ukrainian
# and Turkish. On pages, they are also inflected and shortened.
_MONTHS = [
    line.split()
    for line in """
    january januar jänner janvier enero gennaio janeiro januari styczeń stycznia январь січень січня ocak
    february februar février febrero febbraio fevereiro februari luty lutego февраль лютий лютого şubat
    march märz mars marzo março maart marzec marca март березень березня mart
    april avril abril aprile kwiecień kwietnia апрель квітень квітня nisan
    may mai mayo maggio maio mei maj май мая травень травня mayıs
    june juni juin junio giugno junho czerwiec czerwca июнь червень червня haziran
    july juli juillet julio luglio julho lipiec lipca июль липень липня temmuz
    august août agosto augustus augusti sierpień sierpnia август серпень серпня ağustos
    september septembre septiembre settembre setembro wrzesień września сентябрь вересень вересня eylül
    october oktober octobre octubre ottobre outubro październik октябрь жовтень жовтня ekim
    november novembre noviembre novembro listopad ноябрь листопад kasım
    december dezember décembre diciembre dicembre dezembro grudzień grudnia декабрь грудень грудня aralık
    """.strip().split("\n")
]
_NO_MONTHS = frozenset(["del", "the"])
_DAY_FIRST = frozenset("GB AU NZ IE IN ZA SG HK MY KE NG".split())  # English-speaking regions
_MOST_DAYS, _MOST_MONTHS = 31, 12
_MARKS = re.compile("date|publish|posted|byline|time|meta")
_UPDATED = re.compile(r"updat|modif|revis|edited|changed|aktualis|mise à jour|actualiz|aggiorn", re.IGNORECASE)
_OF_LIVES = re.compile(
    r"\b(?:born|birth|bday|died|death|dob\b|geb(?:oren|\.)|gest(?:orben|\.)|née?\s+le|décès|naci(?:do|da|ó|miento)|"
    r"nat[oa]\s|nascid|nascita|urodz|родил|дата рождения)|出生|生年月日",
    re.IGNORECASE,
)
_OF_OTHERS = re.compile(
    r"joined|registered|member since|since|expires|valid|deadline|until|release|©|copyright", re.IGNORECASE
)
_WHOLE = {"REQUIRE_PARTS": ["day", "month", "year"], "STRICT_PARSING": True}
_LONGEST = 150
_MOST_CANDIDATES, _MOST_DATES = 100, 5  # limits, because reading a date takes a millisecond
# An index has this many different dates, and this share of them is older than the date before.
_FEWEST_ENTRIES, _DESCENDING = 5, 0.8
_SHORTEST, _LONGEST_ENTRY = 5, 60  # characters of the text of an element with a date
_MOST_ELEMENTS = 100_000
_VISIBLE_SOURCES = frozenset(["headline", "time", "text"])
_LEVELS = 3  # number of elements above a date whose texts may describe it
_LABEL = 30  # number of characters before a date that may describe it


def find_date(page: Page, language: str = "", today: date | None = None) -> Candidate | None:
    """Return the date of publication as ``2024-05-17``: the first candidate from 1990 until today."""
    newest = today or datetime.now(_EASTERNMOST).date()
    for text, source in islice(_candidates(page, language), _MOST_CANDIDATES):
        published = read_date(text, language)
        if published and OLDEST <= published <= newest:
            is_entry = source in _VISIBLE_SOURCES and _heads_index(published, page, language)
            return None if is_entry else Candidate(published.isoformat(), source)
    return None


def _heads_index(published: date, page: Page, language: str) -> bool:
    """Whether a date is the newest of many in elements that look alike, newest first, as in an index of articles.

    The dates of comments do not count, and those of a thread begin with the oldest one.
    """
    alike: dict[tuple[str, str | None], list[date]] = {}
    for element, text in islice(_short_dates(page), _MOST_CANDIDATES):
        day = read_date(text, language)
        if day:
            alike.setdefault((element.tag, element.get("class")), []).append(day)
    for days in alike.values():
        distinct = [*dict.fromkeys(days)]
        descents = sum(one > other for one, other in pairwise(distinct))
        mostly_descend = len(distinct) >= _FEWEST_ENTRIES and descents >= _DESCENDING * (len(distinct) - 1)
        if mostly_descend and published == max(distinct):
            return True
    return False


def _short_dates(page: Page) -> Iterator[tuple[etree._Element, str]]:
    """Yield the short elements that seem to contain a date, outside comments, and their texts."""
    for element in islice(page.root.iter(etree.Element), _MOST_ELEMENTS):
        text = (element.text or "").strip()
        text = (element.get("datetime") or text) if element.tag == "time" else text
        is_short = _SHORTEST < len(text) < _LONGEST_ENTRY
        if is_short and (_ISO.search(text) or _VISIBLE.search(text)) and not page.any_around(element, is_comment):
            yield element, text


def read_date(text: str, language: str = "") -> date | None:
    """Return the first date in a text, in ISO format or written out in a language.

    >>> read_date("2024-05-17T10:00:00Z"), read_date("Published on 17 mai 2024", "fr"), read_date("soon")
    (datetime.date(2024, 5, 17), datetime.date(2024, 5, 17), None)
    """
    iso = _ISO.search(text)
    if iso:
        try:
            return date(int(iso["y"]), int(iso["m"]), int(iso["d"]))
        except ValueError:
            return None
    in_words = (_read_in_words(match[0], language) for match in islice(_VISIBLE.finditer(text), _MOST_DATES))
    return next((day for day in in_words if day), None)


def _candidates(page: Page, language: str) -> Iterator[Candidate]:
    """Yield candidates, most trustworthy first.

    Structured data and meta tags come from the system that published the page. A date near the headline may be the
    date of the last change. If it is marked as such, it comes last. A date in the address is the day on which the page
    was created. Other dates on the page usually belong to other pages.
    """
    yield from page.written_texts("datePublished", "dateCreated", "uploadDate")
    yield from page.meta(*_META_NAMES)
    # On home pages and in shops, visible dates belong to articles and products.
    of_many = any(thing.is_a("product", "collectionpage", "itemlist") for thing in page.things)
    is_product = any("product" in kind for kind in page.meta_tags.get("og:type", []))
    if page.written or not (page.is_home or of_many or is_product):
        near = []  # dates near the headline, and whether they are marked as dates of a change
        birthdays = set()  # birthdays may be repeated in another notation
        for line in page.lines:
            context = f"{line.previous[-_LABEL:]} {line.text}"
            is_date = _ISO.search(line.text) or _VISIBLE.search(line.text)
            if is_date and not page.any_around(line.element, is_comment):
                if _OF_LIVES.search(context):
                    birthdays.add(read_date(line.text, language))
                elif not _OF_OTHERS.search(context) and not (birthdays and read_date(line.text, language) in birthdays):
                    near.append((line.text, bool(_UPDATED.search(context))))
        yield from (Candidate(text, "headline") for text, is_update in near if not is_update)
        yield from (Candidate("-".join((y, m.zfill(2), d.zfill(2))), "url") for y, m, d in _IN_URL.findall(page.url))
        times = list(page.root.iter("time"))
        own_times = [element for element in times if not page.any_around(element, is_around)]
        if not own_times and page.is_article:  # the time may be in a box, but not in a comment
            own_times = [element for element in times if not page.any_around(element, is_comment)]
        own_times = [element for element in own_times if not _is_of_life(element)]
        yield from (Candidate(element.get("datetime") or text_of(element), "time") for element in own_times[:1])
        for element, names in page.marked:
            text = text_of(element) if _MARKS.search(names) else ""
            is_short = 0 < len(text) <= _LONGEST and not _OF_LIVES.search(names)
            if is_short and not _is_of_life(element) and not page.any_around(element, is_around):
                yield Candidate(text, "text")
        yield from (Candidate(text, "headline, updated") for text, is_update in near if is_update)
    yield from (Candidate(text, f"{source}, updated") for text, source in page.written_texts("dateModified"))


def _is_of_life(element: etree._Element) -> bool:
    """Whether the words in or before an element mark its date as a date of birth or death."""
    context = text_of(element)[:_LONGEST]
    for node in islice(chain([element], element.iterancestors()), _LEVELS):
        previous, parent = node.getprevious(), node.getparent()
        if previous is not None:
            context = f"{text_of(previous)[-_LABEL:]} {(previous.tail or '')[-_LABEL:]} {context}"
        elif parent is not None:
            context = f"{(parent.text or '')[-_LABEL:]} {context}"
    return _OF_LIVES.search(context) is not None


def _read_in_words(text: str, language: str) -> date | None:
    """Parse a date by the conventions of the page's language. Uses dateparser for unknown names of months.

    >>> [_read_in_words("04/05/2021", language) for language in ("en-US", "en-GB", "fr")]
    [datetime.date(2021, 4, 5), datetime.date(2021, 5, 4), datetime.date(2021, 5, 4)]
    >>> _read_in_words("17. März 2024", "de"), _read_in_words("2024年5月17日", "zh"), _read_in_words("May 32, 2024", "")
    (datetime.date(2024, 3, 17), datetime.date(2024, 5, 17), None)
    """
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    names = [name for name in re.findall(r"[^\W\d_]{3,}", text) if name not in _NO_MONTHS]
    if len(numbers) == 3:
        year, month, day = numbers if numbers[0] > _MOST_DAYS else numbers[::-1]
        is_american = primary(language) in {"", "en"} and language.rpartition("-")[2] not in _DAY_FIRST
        if numbers[0] <= _MOST_DAYS and "." not in text and (is_american and day <= _MOST_MONTHS):
            month, day = day, month
        if month > _MOST_MONTHS:
            month, day = day, month
    elif len(numbers) == 2 and names and (named := _month(names[0])):
        year, month, day = max(numbers), named, min(numbers)
    else:
        return _read_by_dateparser(text, language)
    with suppress(ValueError):
        return date(year, month, day)
    return None


def _month(name: str) -> int | None:
    """Return the number of a month by its name, which may be shortened or inflected.

    >>> _month("Juillet"), _month("сентября"), _month("Sept"), _month("Marketing"), _month("Junk")
    (7, 9, 9, None, None)
    """
    name = name.lower()
    for number, months in enumerate(_MONTHS, 1):
        if any(month.startswith(name) or (len(month) > 4 and name.startswith(month[:-1])) for month in months):
            return number
    return None


def _read_by_dateparser(text: str, language: str) -> date | None:
    try:
        import dateparser
    except ModuleNotFoundError:
        return None
    region = language.rpartition("-")[2] if len(language) == 5 else None
    for code in filter(None, dict.fromkeys((primary(language), "en"))):
        # dateparser raises errors for unknown languages or regions, and for impossible dates.
        with suppress(ValueError, OverflowError):
            parsed = dateparser.parse(text, languages=[code], region=region, settings=_WHOLE)
            if parsed:
                day: date = parsed.date()
                return day
    return None
