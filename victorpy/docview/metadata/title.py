"""The title of what stands on a page.

The `<title>` is written for the page, but for a list of bookmarks: it names the site as well, and sections. A heading
has the bare title, but many pages have headings that are not it: the site's name, "Blog", an advertisement. Where both
say the same, the heading is right; where they do not, the `<title>` without the site's name is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from victorpy.docview.metadata.page import Candidate, Page, words
from victorpy.docview.metadata.sites import SEPARATOR, Site

# What editors and frameworks write when nobody gives a title, and pages that have none of their own.
_GENERATED = re.compile(
    r"(?:untitled|new|blank|default|sample)?\s*(?:document|page|web ?page|website|site)?\s*\d*|untitled.{0,12}|"
    r"no[ -]title|title( here| goes here)?|(home|index|start|main|front|landing) ?(page|site)?|welcome|"
    r"(react|vite|vue|angular|next|nuxt|svelte|create react) ?(js)? ?\+? ?(app|ts|vue|react)?|just a moment|loading|"
    r"unbenanntes? dokument|neue seite|startseite|ohne titel|(document|page) sans (nom|titre)|sans titre|accueil|"
    r"nouvelle page|documento (sin|sem) (t[ií]tulo|nombre|nome)|sin t[ií]tulo|sem t[ií]tulo|p[aá]gina nueva|nova p[aá]gina|"
    r"inicio|in[ií]cio|senza titolo|documento senza titolo|nuova pagina|naamloos( document)?|nieuwe pagina|bez nazwy|"
    r"dokument bez (tytu[lł]u|n[aá]zvu|názvu)|bez n[aá]zvu|nov[aá] str[aá]nka|без (названия|имени)|новая страница|"
    r"документ без названия|главная|无标题文档|无标题|新建网页|未命名|首页|無題ドキュメント|無題|제목 없음|adsız|başlıksız",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"\S+\.(?:html?|php|aspx?|jsp|docx?|pdf|indd|qxd)|(?:microsoft (?:word|powerpoint)|powerpoint presentation).*", re.I)
_META_NAMES = ("og:title", "twitter:title", "citation_title", "dc.title", "dcterms.title", "parsely-title", "sailthru.title", "title")


def find_title(page: Page) -> Candidate | None:
    """The title, or none where the page has none that says anything."""
    site = Site(page)
    return next((Candidate(value, source) for value, source in _candidates(page, site) if not is_generated(value)), None)


def is_generated(title: str) -> bool:
    """Whether a title says nothing: a program made it, or somebody who had to write something.

    >>> [is_generated(title) for title in ("Untitled Document", "index.html", "Startseite", "Tea", "")]
    [True, True, True, False, True]
    """
    return bool(_GENERATED.fullmatch(title.strip(" -–|.…")) or _FILE_NAME.fullmatch(title.strip()))


def _candidates(page: Page, site: Site) -> Iterator[Candidate]:
    """From trustworthy to less; see the module."""
    title = page.title_tag
    yield from _agreed(page, title, site)
    if not is_generated(title):
        yield Candidate(without_site(title, site, _others(page)), "title")
    for value, source in _others(page):
        yield Candidate(without_site(value, site), source)
    headings = [text for _, text in page.headings]
    yield from (Candidate(text, "h1") for text in headings if not site.is_name(text))
    yield from (Candidate(text, "h1") for text in headings[:1])


def _others(page: Page) -> list[Candidate]:
    headlines = [Candidate(text, thing.source) for thing in page.written for text in thing.texts("headline")]
    return page.meta(_META_NAMES) + headlines[:1]


def _agreed(page: Page, title: str, site: Site) -> Iterator[Candidate]:
    """Headings that are part of the title, the longest first: as likely as not there is one of them."""
    whole = words(title)
    parts = [words(part) for part in SEPARATOR.split(title)]
    found = []
    for _, text in page.headings:
        own = words(text)
        begins = whole[: len(own)] == own and (len(own) > 2 or own in parts)
        if own and (begins or own in parts) and not (site.is_name(text) and own != whole):
            found.append(Candidate(text, "h1"))
    yield from sorted(found, key=lambda candidate: -len(candidate.value))


def without_site(title: str, site: Site, others: list[Candidate] | None = None) -> str:
    """Cut the site's name from a title's end or beginning.

    What OpenGraph or JSON-LD gives as title is taken as the sign where to cut, if it is how the title begins. Else the
    parts that name the site go.
    """
    for value, _ in others or ():
        own, whole = words(value), words(title)
        if own and len(own) < len(whole) and whole[: len(own)] == own and site.is_name(" ".join(whole[len(own) :])):
            return value
    while True:
        shorter = _cut_once(title, site)
        if shorter == title:
            return title
        title = shorter


def _cut_once(title: str, site: Site) -> str:
    cuts = list(SEPARATOR.finditer(title))
    if not cuts:
        return title
    first, last = cuts[0], cuts[-1]
    if site.is_name(title[last.end() :]) and title[: last.start()].strip():
        return title[: last.start()].strip()
    if site.is_name(title[: first.start()]) and title[first.end() :].strip():
        return title[first.end() :].strip()
    return title
