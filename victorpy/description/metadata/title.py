"""Find the title of a page and the name of its site.

The `<title>` also names the site and its sections. A heading contains the title alone, but many headings are something
else: the site's name, "Blog", an advertisement. If a heading agrees with the `<title>`, it is used; otherwise the title
is the `<title>` without the site's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from victorpy.base.words import aligned_words
from victorpy.description.metadata.page import Candidate, Page, words
from victorpy.page.parse import MOST_TITLE
from victorpy.sites.grouping import site_of

# Titles that editors and frameworks generate, and general words for pages without a title.
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
_NO_SPACES = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u9fff"  # characters of scripts without spaces
_UNSPACED = re.compile(f"[{_NO_SPACES}]")
# Separates a page's title from the site's name. A hyphen or colon without spaces is part of a word, except before a
# word of a script without spaces.
_SEPARATOR = re.compile(
    r"\s*[|｜│‖¦»«·•⋅]+\s*|\s+(?:[-–—:/\\~]|::|<|>)+\s+|\s*::+\s*|\s*[–—]\s+"
    rf"|\s*(?:_+|(?<=[^\x00-\x7f])-+)\s*(?=[{_NO_SPACES}])"
)
_COLON = re.compile(r":\s+")
_BAR = re.compile(r"\s*[|｜│¦]+\s*")
_SAME_MATTER = 1 / 3  # minimum share of a heading's words in the title, if both have the same topic
_MUCH_LONGER = 1.5  # ratio of word counts
_TITLES = tuple(
    "og:title twitter:title citation_title dc.title dcterms.title parsely-title sailthru.title title".split()
)
_APPLICATIONS = ("application-name", "apple-mobile-web-app-title", "al:android:app_name")
_SLOGAN = re.compile(r"\s+[|｜│].*")
_MOST_NAMES = 20
_LONGEST_SITE_NAME = 60  # maximum length; longer texts are slogans
_MOST_WORDS_OF_SITE = 3


class Site:
    """The names of a page's site."""

    def __init__(self, page: Page) -> None:
        self.url = page.url
        self.names = [words(name) for name, _ in islice(_site_names(page), _MOST_NAMES)]

    def is_name(self, text: str) -> bool:
        """Whether a text is the site's name, with up to two words more or fewer at the end."""
        own = words(text)
        if not own or is_host(text, self.url):
            return True
        for name in filter(None, self.names):
            short, long = sorted((own, name), key=len)
            is_prefix = len(long) - len(short) <= 2 and long[: len(short)] == short
            if "".join(own) == "".join(name) or (is_prefix and len("".join(short)) >= 4):
                return True
        return False


def _site_names(page: Page) -> Iterator[Candidate]:
    """Yield names of the site, most trustworthy first.

    OpenGraph and schema.org's WebSite have a field for the name. The publisher of an article may be a group of sites,
    and application names may be shortened for small screens. The part of the title that spells the host name is a good
    guess.
    """
    yield from page.meta("og:site_name")
    for thing in page.things:
        if thing.is_a("website"):
            yield from (Candidate(name, thing.source) for name in thing.texts("name"))
    yield from page.written_texts("publisher")
    yield from page.meta(*_APPLICATIONS)
    parts = [part for part in _SEPARATOR.split(page.title_tag) if part]
    if len(parts) > 1 or len(words(page.title_tag)) <= _MOST_WORDS_OF_SITE:
        yield from (Candidate(part, "title and host") for part in parts if is_host(part, page.url))


def find_site_name(page: Page) -> Candidate | None:
    """Return the first candidate that is neither an address nor a slogan."""
    for value, source in _site_names(page):
        name = _SLOGAN.sub("", value).removeprefix("@")
        if 1 < len(name) <= _LONGEST_SITE_NAME and "://" not in name:
            return Candidate(name, source)
    return None


def is_host(text: str, url: str) -> bool:
    """Whether a text spells the registered domain of the site.

    >>> is_host("The Motley Fool", "https://www.fool.com/x"), is_host("Giordano's Catering", "http://giordanos.com/")
    (False, True)
    >>> is_host("web.dev", "https://web.dev/learn"), is_host("Learn", "https://web.dev/learn")
    (True, False)
    """
    site = site_of(url)
    label = "".join(words(site.partition(".")[0]))
    domain = "".join(words(site))
    pieces = words(text)
    if not label or not pieces:
        return False
    spelt = "".join(pieces)
    initials = "".join(piece[0] for piece in pieces)
    if spelt in {label, domain, f"www{domain}", f"the{label}"} or f"the{spelt}" == label:
        return True
    if len(label) >= 3 and initials == label:
        return True
    stem = label.rstrip("s")
    is_similar = spelt.startswith(stem) or (len(spelt) >= 5 and label.startswith(spelt))
    return len(stem) >= 4 and len(pieces) <= 5 and is_similar


def find_title(page: Page, site: Site) -> Candidate | None:
    """Return the first candidate that is not generated."""
    return next((candidate for candidate in _candidates(page, site) if not is_generated(candidate.value)), None)


def is_generated(title: str) -> bool:
    """Whether a title does not describe the page, for example because a program generated it.

    >>> [is_generated(title) for title in ("Untitled Document", "index.html", "Startseite", "Tea", "")]
    [True, True, True, False, True]
    """
    bare = title.strip(" -–|.…").casefold()
    return not bare or bool({bare, _NUMBERED.sub("", bare)} & _GENERATED or _FILE_NAME.fullmatch(title.strip()))


def _candidates(page: Page, site: Site) -> Iterator[Candidate]:
    """Yield candidates, most trustworthy first. See the module's docstring."""
    title = page.title_tag
    headings = [text for _, text in page.headings]
    other_headings = [text for text in headings if not site.is_name(text)]
    yield from (Candidate(text, "h1") for text in _headings_in_title(headings, title, site))
    for text in other_headings[:1]:  # the visible title in other words, but it may also be a slogan
        own, title_words = words(text), set(words(title))
        shared = sum(word in title_words for word in own) / len(own) if own else 0
        if shared >= _SAME_MATTER or (len(own) > 2 and page.is_article):
            yield Candidate(text, "h1")
    if not headings:
        yield from (Candidate(text, "title and text") for text in _visible_parts(page, title, site))
    declared = page.meta(*_TITLES) + page.written_texts("headline")[:1]
    if not is_generated(title):
        yield Candidate(without_site(title, site, declared), "title")
    for value, source in declared:
        yield Candidate(without_site(value, site), source)
    yield from (Candidate(text, "h1") for text in other_headings)
    yield from (Candidate(text, "h1") for text in headings[:1])


def _headings_in_title(headings: list[str], title: str, site: Site) -> list[str]:
    """Return the headings that are part of the title, longest first, because a shorter one may be a section."""
    title_words = words(title)
    first, *others = (tuple(words(part)) for part in _SEPARATOR.split(title))
    parts = {first, *others}
    contained = []
    for text in headings:
        own = words(text)
        is_part = tuple(own) in parts
        begins = title_words[: len(own)] == own and (len(own) > 2 or is_part)
        follows = is_part and len(own) >= len(first)  # the name of the site or a section may precede the title
        if own and (begins or follows) and not (site.is_name(text) and own != title_words):
            contained.append(text)
    return sorted(contained, key=lambda text: -len(text))


def _visible_parts(page: Page, title: str, site: Site) -> list[str]:
    """Return the parts of the title that are also separate texts on the page, longest first. For pages without an h1.

    If the rest of the title, such as the site's name, is on the page too, the part must be much longer.
    """
    cuts = [*_SEPARATOR.finditer(title), *_COLON.finditer(title)]
    halves = [(title[: cut.start()], title[cut.end() :]) for cut in cuts]
    visible = []
    for part, rest in halves + [(tail, head) for head, tail in halves]:
        own, other = len(aligned_words(part)), len(aligned_words(rest))
        is_visible = own > 2 and own >= other and page.shows(part) and not site.is_name(part)
        if is_visible and (own > _MUCH_LONGER * other or not page.shows(rest)):
            visible.append(part.strip())
    return sorted(visible, key=lambda part: -len(aligned_words(part)))


def without_site(title: str, site: Site, declared: Sequence[Candidate] = ()) -> str:
    """Remove the site's name from the end or beginning of a title.

    If a declared title is one side of a separator, the other side is a section. Otherwise the parts that name the site
    are removed. So is the text after a bar, which is meant for search engines.
    """
    title = title[:MOST_TITLE]
    cuts = list(_SEPARATOR.finditer(title))
    sides = [words(side) for cut in cuts for side in (title[: cut.start()], title[cut.end() :])]
    one_side = (value for value, _ in declared if words(value) in sides and not site.is_name(value))
    title = next(one_side, title)
    while cuts := list(_SEPARATOR.finditer(title)):
        head, last_part = title[: cuts[-1].start()].strip(), title[cuts[-1].end() :]
        first_part, tail = title[: cuts[0].start()], title[cuts[0].end() :].strip()
        if head and site.is_name(last_part):
            title = head
        elif tail and site.is_name(first_part):
            title = tail
        else:
            break
    parts = _BAR.split(title)
    longest = max(parts, key=lambda part: len(words(part)))
    # If a much longer part follows, the first part is a section or the site.
    chosen = parts[0] if 2 * len(words(parts[0])) > len(words(longest)) else longest
    return chosen if len(words(chosen)) > 1 or _UNSPACED.search(chosen) else title
