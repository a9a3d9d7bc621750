"""People's names as pages write them, and what is no part of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

# "By" in the languages of the web, with what often stands before it.
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
_ADDRESS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+\.\w+|(?<!\w)@\w+", re.IGNORECASE)
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
_HANDLE = re.compile(r"[\w.-]{3,30}")
_NOBODY = frozenset(
    "admin administrator author authors editor guest unknown user webmaster anonymous null none undefined root website "
    "wordpress default by contributor writer moderator posted super".split()
)
_MOST_WORDS, _LONGEST, _MOST_NAMES = 6, 60, 12


def clean_names(texts: Iterable[str]) -> list[str]:
    """Names from fields that hold nothing else, each once.

    >>> clean_names(["By Jane Doe, Ph.D., and John Q. Public | Senior Editor", "https://example.org/jane", "jane doe"])
    ['Jane Doe', 'John Q. Public']
    >>> clean_names(["JANE DOE<BR>The Daily Leaf"])
    ['JANE DOE', 'The Daily Leaf']
    >>> clean_names(["Center for Drug Evaluation and Research"]), clean_names(["admin"]), clean_names(["Doe, Jane"])
    (['Center for Drug Evaluation and Research'], [], ['Jane Doe'])
    """
    return _once(name for text in texts for part in _without_titles(_parts(text)) if (name := _tidied(part)))


def names_in_byline(pieces: Iterable[str], handles: bool = False) -> list[str]:
    """Names from the texts of a byline, which has roles, dates and links as well; `handles` are names in one word.

    >>> names_in_byline(["Written by", "Zoë Müller", "and", "Jan de Vries", "May 17, 2024", "Read More"])
    ['Zoë Müller', 'Jan de Vries']
    >>> names_in_byline(["tea_lover42", "Joined in May"], handles=True), names_in_byline(["3 min read"])
    (['tea_lover42'], [])
    """
    found: list[str] = []
    for piece in pieces:
        if _BY_ANOTHER.search(piece):
            break
        alone = handles and not found
        names = [name for part in _parts(piece) if (name := _tidied(part)) and _reads_like_name(name, alone)]
        if found and not names and any(char.isalnum() for char in piece) and not _AND.fullmatch(f" {piece} "):
            break
        found.extend(names)
    return _once(found)


def after_by(text: str) -> str | None:
    """What follows "By" at the beginning of a text, nothing where that is all; None where it does not begin so.

    >>> after_by("By Jane Doe"), after_by("Von:"), after_by("Bypass")
    ('Jane Doe', '', None)
    """
    found = _BY.match(text)
    return text[found.end() :] if found else None


def _once(names: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(" ".join(re.findall(r"\w+", name.casefold())), name)
    return list(found.values())[:_MOST_NAMES]


def _parts(text: str) -> list[str]:
    """The names in a text, which stand between signs, commas and "and"."""
    text = _BY.sub("", _ADDRESS.sub(" ", text).strip())
    return [name for part in _BETWEEN.split(text) for side in _sides(part) for name in _commas(side)]


def _sides(text: str) -> list[str]:
    """Both sides of "and", if each is a name of its own: "Research and Development" is one."""
    sides = _AND.split(text)
    return sides if all(len(side.split()) > 1 and " for " not in side for side in sides) else [text]


def _commas(text: str) -> list[str]:
    """Commas stand between names, before what a person is, or after a family name."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 2 and all(re.fullmatch(r"[^\W\d_][\w'’.-]*(?: \w\.?)?", part) for part in parts):
        return parts[:1] if _is_title(parts[1]) else [f"{parts[1]} {parts[0]}"]
    return [part for number, part in enumerate(parts) if number == 0 or (" " in part and not _is_title(part))]


def _without_titles(parts: list[str]) -> list[str]:
    """A name and those behind it, without what people are."""
    return [part for number, part in enumerate(parts) if number == 0 or not _is_title(part)]


def _is_title(text: str) -> bool:
    """Whether a text is a degree or a post, not a name."""
    pieces = re.findall(r"[a-z]+", text.lower().replace(".", ""))
    return not pieces or any(piece in _DEGREES for piece in pieces) or bool(_ROLE.search(text))


def _tidied(name: str) -> str:
    """A name without what stands around it; nothing where there is none."""
    name = _BY.sub("", name.strip())
    shorter = _TAIL.sub("", name)
    name = (shorter if len(shorter) > 1 else name).strip(" \t,.;:|-–—•·\"'“”‘’()[]®")
    if not name or len(name) > _LONGEST or len(name.split()) > _MOST_WORDS or not re.search(r"[^\W\d_]", name):
        return ""
    return "" if all(word in _NOBODY for word in name.casefold().split()) else name


def _reads_like_name(name: str, handles: bool) -> bool:
    """Whether a text can be a person's name: some words, none of them a number or a role, most with a capital."""
    pieces = [piece for piece in name.split() if piece.casefold() not in _PARTICLES]
    if len(pieces) == 1 and handles:
        return bool(_HANDLE.fullmatch(name)) and not _ROLE.fullmatch(name)
    if len(pieces) < 2 or any(char.isdigit() for char in name) or _ROLE.search(name):
        return False
    return all(piece[0].isupper() or piece[0].upper() == piece[0].lower() for piece in pieces) and "..." not in name
