"""The title of what stands on a page.

The `<title>` is written for the page, but for a list of bookmarks: it names the site as well, and sections. A heading
has the bare title, but many pages have headings that are not it: the site's name, "Blog", an advertisement. Where both
say the same, the heading is right; where they do not, the `<title>` without the site's name is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from victorpy.about.metadata.page import Candidate, Page, words
from victorpy.about.metadata.sites import SEPARATOR, Site

# What editors and frameworks write when nobody gives a title, and words for pages that have none of their own.
_GENERATED = frozenset(
    title
    for line in """
    untitled, untitled document, untitled page, untitled-1, no title, title, title here, document, page
    web page, website, new page, new document, blank page, default page, sample page, home, home page, homepage
    index, start, start page, main page, front page, landing page, welcome, loading, just a moment
    react app, vite app, vite + react, vue app
    unbenannt, unbenanntes dokument, neue seite, startseite, ohne titel, hauptseite, willkommen
    sans titre, sans nom, document sans titre, document sans nom, page sans titre, nouvelle page, accueil, bienvenue
    documento sin título, documento sin titulo, sin título, sin titulo, página nueva, nueva página, inicio, bienvenidos
    documento sem título, documento sem titulo, sem título, sem titulo, nova página, início, página inicial
    documento senza titolo, senza titolo, nuova pagina, pagina iniziale, naamloos, naamloos document, nieuwe pagina
    bez nazwy, dokument bez tytułu, nowa strona, strona główna, bez názvu, nová stránka, úvod, domů, hlavní stránka
    без названия, без имени, новая страница, документ без названия, главная, главная страница
    无标题, 无标题文档, 新建网页, 未命名, 首页, 無題, 無題ドキュメント
    ホーム, トップページ, 제목 없음, 홈, adsız, başlıksız, ana sayfa
    """.split("\n")
    for title in line.strip().split(", ")
)
_NUMBERED = re.compile(r"[\s-]*\d*$")
_FILE_NAME = re.compile(
    r"\S+\.(?:html?|php|aspx?|jsp|docx?|pdf|indd|qxd)|(?:microsoft (?:word|powerpoint)|powerpoint presentation).*", re.I
)
_COLON = re.compile(r":\s+")
_BAR = re.compile(r"\s*[|｜│¦]+\s*")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u9fff]")  # scripts that write words together
_SAME_MATTER = 1 / 3
"""A heading that shares so many of its words with the title says the same in other words."""
_MUCH_LONGER = 1.5  # times the words
_META_NAMES = tuple(
    "og:title twitter:title citation_title dc.title dcterms.title parsely-title sailthru.title title".split()
)


def find_title(page: Page, site: Site) -> Candidate | None:
    """The title, or none where the page has none that says anything."""
    return next((found for found in _candidates(page, site) if not is_generated(found.value)), None)


def is_generated(title: str) -> bool:
    """Whether a title says nothing: a program made it, or somebody who had to write something.

    >>> [is_generated(title) for title in ("Untitled Document", "index.html", "Startseite", "Tea", "")]
    [True, True, True, False, True]
    """
    plain = title.strip(" -–|.…").casefold()
    return not plain or bool({plain, _NUMBERED.sub("", plain)} & _GENERATED or _FILE_NAME.fullmatch(title.strip()))


def _candidates(page: Page, site: Site) -> Iterator[Candidate]:
    """From trustworthy to less; see the module."""
    title = page.title_tag
    yield from _agreed(page, title, site)
    yield from _in_other_words(page, title, site)
    yield from _written_out(page, title, site)
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
    """Headings that are part of the title, the longest first: a shorter one may be a section."""
    whole = words(title)
    parts = [words(part) for part in SEPARATOR.split(title)]
    found = []
    for _, text in page.headings:
        own = words(text)
        begins = whole[: len(own)] == own and (len(own) > 2 or own in parts)
        follows = own in parts and len(own) >= len(parts[0])  # the site's name or a section may come first
        if own and (begins or follows) and not (site.is_name(text) and own != whole):
            found.append(Candidate(text, "h1"))
    yield from sorted(found, key=lambda candidate: -len(candidate.value))


def _in_other_words(page: Page, title: str, site: Site) -> Iterator[Candidate]:
    """The first heading, if it speaks of the same or stands over something written: what people see is the title.

    Elsewhere a heading may be a slogan.
    """
    whole = set(words(title))
    for text in [text for _, text in page.headings if not site.is_name(text)][:1]:
        own = words(text)
        shared = sum(word in whole for word in own) / len(own) if own else 0
        if shared >= _SAME_MATTER or (len(own) > 2 and page.is_article):
            yield Candidate(text, "h1")


def _written_out(page: Page, title: str, site: Site) -> Iterator[Candidate]:
    """Of a page without an h1, the longest part of the title that stands on the page by itself.

    Pages had headlines before they had tags for them. The rest of the title may stand there too, as the site's name
    does: then the part has to be much longer.
    """
    if page.headings:
        return
    cuts = [*SEPARATOR.finditer(title), *_COLON.finditer(title)]
    halves = [(title[: cut.start()], title[cut.end() :]) for cut in cuts]
    found = []
    for part, rest in halves + [(tail, head) for head, tail in halves]:
        own, other = len(words(part)), len(words(rest))
        if own > 2 and own >= other and page.shows(part) and not site.is_name(part):
            found += [part.strip()] if own > _MUCH_LONGER * other or not page.shows(rest) else []
    yield from (Candidate(part, "title and text") for part in sorted(found, key=lambda part: -len(words(part))))


def without_site(title: str, site: Site, others: list[Candidate] | None = None) -> str:
    """Cut the site's name from a title's end or beginning.

    Where OpenGraph's title or JSON-LD's ends or begins, there the title may be cut: the rest are sections. Else the
    parts that name the site go, and what stands behind a bar, which is said for search engines.
    """
    cuts = list(SEPARATOR.finditer(title))
    sides = [words(side) for cut in cuts for side in (title[: cut.start()], title[cut.end() :])]
    for value, _ in others or ():
        if words(value) in sides and not site.is_name(value):
            title = value
            break
    while (shorter := _cut_once(title, site)) != title:
        title = shorter
    return _longest_if_much_longer(_BAR.split(title)) or title


def _longest_if_much_longer(parts: list[str]) -> str:
    """The first part, unless it is a section or a site that a much longer title follows; nothing for a single word."""
    longest = max(parts, key=lambda part: len(words(part)))
    first = parts[0] if 2 * len(words(parts[0])) > len(words(longest)) else longest
    return first if len(words(first)) > 1 or _UNSPACED.search(first) else ""


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
