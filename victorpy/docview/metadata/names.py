"""People's names as pages write them, and what is no part of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

# "By" in the languages of the web, with what often stands before it.
_BY = (
    r"(?:(?:medically\s+|fact[- ])?(?:written|posted|published|reviewed|edited|authored|created|submitted|started|asked|story|words|text|article|blog|post|"
    r"guide|review|contributed|report|reported|updated|compiled|last\s+updated|opinion)\s+)?by|"
    r"author(?:s|\(s\))?|writer|words|text|von|par|por|di|door|av|af|autor(?:in|es|a)?|auteur|autore|geschrieben von|verfasst von|"
    r"publi[ée] par|escrit[oa] por|publicado por|scritto da|geschreven door|автор|作者|文|投稿者"
)
_LEADING = re.compile(rf"^\W*(?:{_BY})\b\s*[:：]?\s*", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+\.\w+|(?<!\w)@\w+", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:;|\||•|·|\n|\s+(?:and|und|et|y|e|en|og|och|и)\s+|&(?!\w+;)|、|，)\s*", re.IGNORECASE)
_CREDENTIALS = frozenset(
    "phd md ms ma mba rd rn msn ba bs bsc msc do dds dmd jd esq cpa cfa cfp jr sr ii iii rdn ldn mph lcsw dvm mdiv edd psyd dr facp np pa pt dpt".split()
)
_ROLE = re.compile(
    r"\b(?:editor|writer|reporter|correspondent|staff|contributor|manager|director|ceo|cto|founder|co-founder|president|"
    r"columnist|journalist|critic|analyst|specialist|expert|senior|chief|head|lead|producer|professor|freelance|"
    r"author|member|updated|published|posted|last|min|read|views?|comments?|follow|photography|images?|about|share|"
    r"redakteur|redaktion|rédact\w+|redactor|editora?|ago|am|pm|on|in|at|with|for|from|via)\b|\d",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"\s*(?:[-–—/|•·(\[]|\s(?:on|in|at|for|is|from|last updated|updated|published|posted|medically reviewed|reviewed by|fact checked)\s).*$",
    re.IGNORECASE,
)
_NOBODY = frozenset(
    "admin administrator author authors editor guest unknown user webmaster anonymous staff team editorial null none "
    "undefined root website wordpress default by contributor contributors writer moderator posted super user".split()
)
_MOST_WORDS, _LONGEST, _MOST_NAMES = 6, 60, 12


def clean_names(texts: Iterable[str]) -> list[str]:
    """Names of authors from what pages write, each once.

    >>> clean_names(["By Jane Doe, Ph.D., and John Q. Public | Senior Editor", "https://example.org/jane", "jane doe"])
    ['Jane Doe', 'John Q. Public']
    >>> clean_names(["Written by: Zoë Müller - Updated May 17, 2024"]), clean_names(["admin"]), clean_names(["Doe, Jane"])
    (['Zoë Müller'], [], ['Jane Doe'])
    """
    found: dict[str, str] = {}
    for text in texts:
        for name in _split(text):
            cleaned = _clean(name)
            if cleaned:
                found.setdefault(" ".join(re.findall(r"\w+", cleaned.casefold())), cleaned)
    return list(found.values())[:_MOST_NAMES]


def _split(text: str) -> list[str]:
    text = _LEADING.sub("", _ADDRESS.sub(" ", text).strip())
    parts: list[str] = []
    for part in _BETWEEN.split(text):
        parts.extend(_commas(part))
    return parts


def _commas(text: str) -> list[str]:
    """Commas stand between names, before what a person is, or after a family name."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 2 and all(re.fullmatch(r"[^\W\d_][\w'’-]+", part) for part in parts) and not _is_title(parts[1]):
        return [f"{parts[1]} {parts[0]}"]
    return [part for number, part in enumerate(parts) if number == 0 or (" " in part and not _is_title(part))]


def _is_title(text: str) -> bool:
    """Whether a text is a degree or a post, not a name."""
    pieces = re.findall(r"[a-z]+", text.lower().replace(".", ""))
    return not pieces or any(piece in _CREDENTIALS for piece in pieces) or bool(_ROLE.search(text))


def _clean(name: str) -> str:
    name = _LEADING.sub("", name.strip())
    shorter = _TAIL.sub("", name)
    name = (shorter if len(shorter) > 1 else name).strip(" \t,.;:|-–—•·\"'“”‘’()[]")
    if not name or len(name) > _LONGEST or len(name.split()) > _MOST_WORDS or not re.search(r"[^\W\d_]", name):
        return ""
    return "" if all(word in _NOBODY for word in name.casefold().split()) else name
