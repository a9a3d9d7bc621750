"""Assign a role to every block: headline, byline, body, comment, related and so on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from victorpy.columns import NEAR, Columns, Counts, Flags
from victorpy.config import Config, load_config
from victorpy.document import Document, Label, Role
from victorpy.page.sections import sections

NAMES = {
    Role.HEADLINE: r"headline|(?:entry|post|article|story|page)[-_]?title|topic-title",
    Role.SUBTITLE: r"sub-?(?:title|head|headline|heading)|standfirst|\bde(?:c?k)\b|\blede?\b|kicker|strapline|excerpt|"
    r"teaser-text|summary",
    Role.BYLINE: r"by-?line|\bauthors?\b|dateline|\bdates?\b|(?:post|entry|article|story)-?(?:meta|info|date|author)|"
    r"publish|timestamp|\btime\b|\bmeta\b|credits?\b|written-by|posted",
    Role.CAPTION: r"caption|photo-?credit|image-?credit|\bcredit\b|\bcutline\b|\blegend\b",
    Role.FACTS: r"infobox|spec(?:s|ification)?s?\b|\battributes?\b|\bfacts?\b|properties|details?-list|key-?value|"
    r"ingredients?|vcard|address|opening-?hours|rating|\bprice\b",
    Role.NOTE: r"(?:foot|end|side)-?notes?|\breferences?\b|reflist|cite[-_]note|\bcitations?\b|bibliograph",
    Role.COMMENT: r"comments?\b|disqus|\brepl(?:y|ies)\b|responses?\b|discussion|talkback|\bcommentlist",
    Role.RELATED: r"related|recommend|\bteasers?\b|read-?(?:more|next|also)|more-?(?:from|news|stories|articles|on)|"
    r"also-?like|popular|most-?(?:read|viewed|popular)|trending|latest|outbrain|taboola|\bpromo|up-?next|recirc|"
    r"you-?may|see-?also|similar|suggest",
    Role.TAGS: r"\btags?\b|tag-?(?:list|cloud|links)|keywords?\b|\bcategor(?:y|ies)\b|\btopics?\b|cat-links|"
    r"filed-?under|hashtag|labels?\b",
    Role.NAVIGATION: r"\bnav|navi|menus?\b|breadcrumbs?|pag(?:ination|er)|\btoolbar|\bshare|sharing|social|\bsearch|"
    r"\bskip|login|sign-?(?:in|up)|subscribe|button|\bbtn|\btabs?\b|site-?header|masthead|dropdown",
    Role.LEGAL: r"copyright|legal|disclaimer|cookie|consent|gdpr|privacy|terms|imprint|impressum|colophon",
}
"""Patterns of class names, ids and roles around a block of each role. `_` and camel case count as hyphens."""

_MONTHS = (
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|janvier|f[ée]vr|mars|avril|mai|juin|juil|ao[uû]t|d[ée]c|"
    r"m[äa]rz|okt|dez|enero|abril|junio|julio|agosto|gennaio|aprile|maggio|giugno|luglio|settembre|ottobre"
)
TEXTS = {
    "date": rf"\b\d{{4}}[-/.年]\s?\d{{1,2}}[-/.月]\s?\d{{1,2}}|\b\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}\b|"
    rf"\b(?:{_MONTHS})[a-z]*\.?,? \d{{1,2}}\b|\b\d{{1,2}}\.? (?:de )?(?:{_MONTHS})|"
    r"\b\d+ (?:minute|hour|day|week|month|year)s? ago\b|\b\d{1,2}:\d{2}\b",
    "by": r"^\W*(?:by|posted|published|written|updated|author|von|par|por|di|door|av|autor|auteur|автор|作者|记者|文)\b"
    r"|^作者|^记者|^来源|^\S+ reporter",
    "legal": r"©|\(c\) ?\d{4}|copyright|all rights reserved|privacy policy|terms (?:of|and)|cookies?\b|"
    r"alle rechte|tous droits|todos los derechos|版权",
    "tags": r"^\W*(?:tags?|tagged|filed under|categor(?:y|ies)|topics?|keywords?|schlagw[oö]rter|"
    r"mots[- ]cl[ée]s|标签)\b",
    "comment": r"\b\d+ (?:comments?|repl(?:y|ies)|responses?)\b|\b(?:says|wrote|said):?$|"
    r"^\W*(?:reply|report|permalink)\b",
    "related": r"^\W*(?:related|see also|read (?:more|next|also)|more (?:from|on|in|news|stories)|you (?:may|might)|"
    r"recommended|most (?:read|popular|viewed)|popular|trending|latest|also (?:on|in|read)|mehr zum|lire aussi)\b",
    "caption": r"\b(?:photo(?:graph)?|image|foto|picture|credit|getty|reuters|afp|\bap\b)\b",
}
"""Patterns of the texts themselves."""

_COMPILED_NAMES = [re.compile(pattern) for pattern in NAMES.values()]
_COMPILED_TEXTS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in TEXTS.items()}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TEXT_REACH = 200


@cache
def _config() -> Config:
    return load_config("blocks")


def assign_roles(document: Document, labels: Sequence[Label]) -> tuple[Role, ...]:
    """Return the role of each block of a page with the given labels."""
    roles: list[Role] = []
    for section in sections(document):
        page = Columns(section, _config())
        is_kept = np.array([label.is_content for label in labels[len(roles) :][: page.count]], dtype=bool)
        roles += _by_rules(page, is_kept)
    return tuple(roles)


def name_levels(page: Columns) -> dict[Role, Counts]:
    """Return, for each pattern of names, how far above each block the nearest matching element is; `NEAR` if none."""
    names, name_of_element = page.near_names
    plain = [_CAMEL.sub("-", name).replace("_", "-").lower() for name in names]
    matches = np.array([[pattern.search(name) is not None for name in plain] for pattern in _COMPILED_NAMES])
    around = name_of_element[page.ancestors[:NEAR]]
    levels = {}
    for role, matching in zip(NAMES, matches, strict=True):
        found = matching[around]
        levels[role] = np.where(found.any(axis=0), found.argmax(axis=0), NEAR)
    return levels


def text_marks(page: Columns) -> dict[str, Flags]:
    """Return which blocks match each pattern of texts."""
    beginnings = [text[:_TEXT_REACH] for text in page.texts]
    return {
        name: np.array([pattern.search(text) is not None for text in beginnings], dtype=bool)
        for name, pattern in _COMPILED_TEXTS.items()
    }


def _by_rules(page: Columns, is_kept: Flags) -> list[Role]:
    if not page.count:
        return []
    near, marks = name_levels(page), text_marks(page)
    words, link_share = page.words, page.link_words / np.maximum(page.words, 1)
    is_headline = np.arange(page.count) == page.headline
    is_headline &= (page.title_share > 0.5) | page.within("h1")
    is_named = {role: levels < NEAR for role, levels in near.items()}
    is_close = {role: levels < 3 for role, levels in near.items()}
    is_short = words <= 20
    in_dl = page.within("dt") | page.within("dd")
    choices = {
        Role.CODE: page.within("pre"),
        Role.CAPTION: page.within("figcaption") | page.within("caption") | is_close[Role.CAPTION],
        Role.HEADLINE: is_headline,
        Role.NOTE: is_named[Role.NOTE],
        Role.COMMENT: is_named[Role.COMMENT],
        Role.LEGAL: is_named[Role.LEGAL] | (marks["legal"] & (words < 60) & ~is_kept),
        Role.TAGS: is_short & (is_close[Role.TAGS] | marks["tags"]),
        Role.BYLINE: is_short & (is_close[Role.BYLINE] | marks["by"] | (marks["date"] & (words < 8))),
        Role.RELATED: is_named[Role.RELATED] | (marks["related"] & is_short),
        Role.NAVIGATION: page.within("nav") | (~is_kept & ((link_share > 0.6) | is_named[Role.NAVIGATION])),
        Role.FACTS: is_kept & in_dl,
        Role.TABLE: is_kept & page.within("td") & is_short,
        Role.BODY: is_kept,
    }
    numbers = np.select([*choices.values()], [*range(len(choices))], len(choices))
    names = [*choices, Role.OTHER]
    return [names[number] for number in numbers.tolist()]
