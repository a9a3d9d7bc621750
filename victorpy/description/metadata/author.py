"""Find the author of a page, and extract people's names from bylines and author fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lxml import etree

from victorpy.description.metadata.page import LONGEST_LINE, Candidate, Page, is_around, pieces_of, words
from victorpy.description.metadata.title import Site

_META_NAMES = tuple(
    """
    author article:author citation_author dc.creator dcterms.creator dc.creator.author parsely-author sailthru.author
    byl article:author_name og:article:author authors cxenseparse:author
    """.split()
)
_MARKED = re.compile("author|byline|username|writer")
_HANDLES = re.compile("username|nickname|author")
_COMMENT = re.compile(r"comment|related|recommend|footer|sidebar", re.IGNORECASE)
_PROFILE = re.compile(
    r"/(?:authors?|contributors?|people|team|profiles?|users?|staff|by|writers?|autor)/", re.IGNORECASE
)

# "By" in several languages, with the words that often precede it.
_BY = re.compile(
    r"^\W*(?:(?:this\s+(?:post|article)\s+was\s+)?"
    r"(?:(?:written|posted|published|authored|created|submitted|started|asked|story|words|text|article|blog|post|guide|"
    r"review|contributed|report|reported|compiled|opinion|updated|last\s+updated)\s+)?by|authors?|author\(s\)|writer|"
    r"(?:geschrieben\s+|verfasst\s+|ein\s+artikel\s+)?von|(?:publi[ée]\s+|[ée]crit\s+|rédigé\s+)?par|"
    r"(?:escrito\s+|publicado\s+)?por|scritto\s+da|(?:geschreven\s+)?door|autor(?:in|es|a)?|auteur|autore|автор|作者|文)"
    r"(?:\s*[:：]\s*|\s+|$)",
    re.IGNORECASE,
)
_BY_ANOTHER = re.compile(
    r"\b(?:reviewed|edited|fact[- ]checked|checked|photo\w*|image|illustrat\w+|translated|sponsored|filed|copyright)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://\S+|www\.\S+|(?<!\S)\S+@\S+\.\w+|(?<!\w)@\w+", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:[;|•·●∙»›\n、，]|<[^<>]*>)\s*")
_AND = re.compile(r"\s*,?\s+(?:and|und|et|y|e|en|og|och|и|&)\s+", re.IGNORECASE)
_TAIL = re.compile(r"\s+[-–—/]+\s.*|\s*[(\[].*|\s+(?:on|in|at|from|via)\s.*")
_DEGREES = frozenset(
    "phd md ms ma mba rd rn msn ba bs bsc msc do dds dmd jd esq cpa cfa cfp jr sr ii iii rdn ldn mph lcsw dvm edd psyd "
    "facp np pt dpt cepf psp cpp ceo cto".split()
)
_ROLE = re.compile(
    r"\b(?:editors?|writer|reporter|correspondent|staff|contributors?|contributing|manager|director|ceo|cto|founder|"
    r"co-founder|president|columnist|journalist|critic|analyst|specialist|experts?|senior|chief|head|lead|producer|"
    r"professor|freelance|authors?|members?|updated|published|posted|last|min|mins|minutes?|read|views?|comments?|"
    r"follow|about|blog|share|sign|log|view|subscribe|more|all|bio|profile|educators?|consultant|dealer|topic|owner|"
    r"redakteur|redaktion|rédacteur|rédactrice|redactor|ago|today|yesterday)\b",
    re.IGNORECASE,
)
_PARTICLES = frozenset("de da di du del della der den des van von zu la le el al bin ibn y e of the".split())
_ONE_NAME = re.compile(r"[^\W\d_][\w'’.-]*(?: \w\.?)?")
_HANDLE = re.compile(r"[\w.-]{3,30}")
_NOBODY = frozenset(
    "admin administrator author authors editor guest unknown user webmaster anonymous null none undefined root website "
    "wordpress default by contributor writer moderator posted super".split()
)
_MOST_WORDS, _LONGEST, _MOST_NAMES = 6, 60, 12
_MOST_CHARACTERS = 500  # maximum length of a field with names


def find_author(page: Page, site: Site) -> Candidate | None:
    """Return the most trustworthy names. The site itself is accepted as author only if no person is named."""
    site_itself: Candidate | None = None
    for names, source in _candidates(page):
        candidate = Candidate("; ".join(names), source)
        if not all(map(site.is_name, names)):
            return candidate
        if names and site_itself is None and source != "byline":
            site_itself = candidate
    return site_itself


def _candidates(page: Page) -> Iterator[tuple[list[str], str]]:
    """Yield names and where they were found, most trustworthy first.

    The author in an article's structured data comes from the publishing system. Meta tags often come from a template,
    with the name of the site or a designer. Elements marked as author may name other people, such as
    readers who comment, and text after "By" near the headline is a guess.
    """
    for thing in page.written:
        names = clean_names(thing.texts("author") or thing.texts("creator"))
        yield names[:1] if thing.is_a("discussionforumposting", "question") else names, thing.source
    for name in _META_NAMES:
        yield clean_names(page.meta_tags.get(name, [])), f"meta {name}"
    for number in (1, 2):  # skip to the lines below a link for sharing
        if after_by(page.meta_tags.get(f"twitter:label{number}", [""])[0]) == "":
            yield clean_names(page.meta_tags.get(f"twitter:data{number}", [])), "meta twitter:label"
    if page.is_home:
        return
    yield from _marked(page)
    for line in page.lines:
        rest = after_by(line.text)
        if rest:
            yield names_in_byline([rest]), "headline"
        elif after_by(line.previous) == "":
            yield names_in_byline([line.text]), "headline"
    for line in page.lines:
        link = next(line.element.iterancestors("a"), line.element)
        if link.tag == "a" and _PROFILE.search(link.get("href") or ""):
            yield names_in_byline([line.text]), "headline"


def _marked(page: Page) -> Iterator[tuple[list[str], str]]:
    """Yield the names in elements whose rel, itemprop or class marks an author."""
    marked = [(element, names) for element, names in page.marked if _MARKED.search(names)]
    for attribute in ("rel", "itemprop"):
        for element, _ in marked:
            if "author" not in (element.get(attribute) or ""):
                continue
            if not page.any_around(element, _is_comment):
                yield names_in_byline(pieces_of(element), handles=True), f"{attribute} author"
    for element, names in marked:
        pieces = pieces_of(element)
        if sum(map(len, pieces)) <= LONGEST_LINE and not page.any_around(element, is_around):
            yield names_in_byline(pieces, handles=bool(_HANDLES.search(names))), "byline"


def _is_comment(element: etree._Element) -> bool:
    return bool(_COMMENT.search(f"{element.get('class')} {element.get('id')}"))


def clean_names(texts: Iterable[str]) -> list[str]:
    """Return the distinct names in fields that contain only names.

    >>> clean_names(["By Jane Doe, Ph.D., and John Q. Public | Senior Editor", "https://example.org/jane", "jane doe"])
    ['Jane Doe', 'John Q. Public']
    >>> clean_names(["JANE DOE<BR>The Daily Leaf"])
    ['JANE DOE', 'The Daily Leaf']
    >>> clean_names(["Center for Drug Evaluation and Research"]), clean_names(["admin"]), clean_names(["Doe, Jane"])
    (['Center for Drug Evaluation and Research'], [], ['Jane Doe'])
    """
    names = []
    for text in texts:
        for number, part in enumerate(_parts(text)):
            if number == 0 or not _is_title(part):
                names.append(_tidied(part))
    return _unique(names)


def names_in_byline(pieces: Iterable[str], handles: bool = False) -> list[str]:
    """Return the names in the texts of a byline, which may also contain roles, dates and links.

    With `handles`, a name may be a single word.

    >>> names_in_byline(["Written by", "Zoë Müller", "and", "Jan de Vries", "May 17, 2024", "Read More"])
    ['Zoë Müller', 'Jan de Vries']
    >>> names_in_byline(["tea_lover42", "Joined in May"], handles=True), names_in_byline(["tea_lover42"])
    (['tea_lover42'], [])
    """
    names: list[str] = []
    for piece in pieces:
        if _BY_ANOTHER.search(piece):
            break
        candidates = [_tidied(part) for part in _parts(piece)]
        allow_handle = handles and not names
        piece_names = [name for name in candidates if name and _reads_like_name(name, allow_handle)]
        is_text = any(char.isalnum() for char in piece) and not _AND.fullmatch(f" {piece} ")
        if names and not piece_names and is_text:
            break
        names += piece_names
    return _unique(names)


def after_by(text: str) -> str | None:
    """Return the text after "By", or None if the text does not begin with "By".

    >>> after_by("By Jane Doe"), after_by("Von:"), after_by("Bypass")
    ('Jane Doe', '', None)
    """
    by = _BY.match(text)
    return text[by.end() :] if by else None


def _unique(names: Iterable[str]) -> list[str]:
    """Remove empty names, and duplicates that differ only in case and punctuation."""
    unique: dict[str, str] = {}
    for name in filter(None, names):
        unique.setdefault(" ".join(words(name)), name)
    return list(unique.values())[:_MOST_NAMES]


def _parts(text: str) -> list[str]:
    """Return the names in a text, separated by punctuation, commas or "and"."""
    parts = []
    for part in _BETWEEN.split(_BY.sub("", _ADDRESS.sub(" ", text[:_MOST_CHARACTERS]).strip())):
        sides = _AND.split(part)
        if not all(len(side.split()) > 1 and " for " not in side for side in sides):
            sides = [part]  # "Research and Development" is one name
        for side in sides:  # a comma may separate names, precede a title, or follow a family name
            names = [name.strip() for name in side.split(",")]
            if len(names) == 2 and all(_ONE_NAME.fullmatch(name) for name in names):
                parts.append(names[0] if _is_title(names[1]) else f"{names[1]} {names[0]}")
            else:
                parts += [name for n, name in enumerate(names) if n == 0 or (" " in name and not _is_title(name))]
    return parts


def _is_title(text: str) -> bool:
    """Whether a text is a degree or a role, not a name."""
    pieces = re.findall(r"[a-z]+", text.lower().replace(".", ""))
    return not pieces or any(piece in _DEGREES for piece in pieces) or bool(_ROLE.search(text))


def _tidied(name: str) -> str:
    """Remove punctuation and phrases around a name. Returns "" if there is no name."""
    name = _BY.sub("", name.strip())
    shorter = _TAIL.sub("", name)
    name = (shorter if len(shorter) > 1 else name).strip(" \t,.;:|-–—•·\"'“”‘’()[]®")
    if not name or len(name) > _LONGEST or len(name.split()) > _MOST_WORDS or not re.search(r"[^\W\d_]", name):
        return ""
    return "" if all(word in _NOBODY for word in name.casefold().split()) else name


def _reads_like_name(name: str, handles: bool) -> bool:
    """Whether a text can be a person's name: capitalised words without numbers and roles."""
    pieces = [piece for piece in name.split() if piece.casefold() not in _PARTICLES]
    if len(pieces) == 1 and handles:
        return bool(_HANDLE.fullmatch(name)) and not _ROLE.fullmatch(name)
    if len(pieces) < 2 or any(char.isdigit() for char in name) or _ROLE.search(name):
        return False
    return all(piece[0].isupper() or piece[0].upper() == piece[0].lower() for piece in pieces) and "..." not in name
