"""Assign a role to every block: headline, byline, body, comment, related and so on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

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
    Role.COMMENT: r"comments?\b|disqus|commentlist|talkback|respond\b",
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
    "related": r"^\W*(?:related|see also|read (?:more|next|also)|more (?:from|on|in|news|stories)|you (?:may|might)|"
    r"recommended|most (?:read|popular|viewed)|popular|trending|latest|also (?:on|in|read)|mehr zum|lire aussi)\b",
}
"""Patterns of the texts themselves."""

_COMPILED_NAMES = {role: re.compile(pattern) for role, pattern in NAMES.items()}
_COMPILED_TEXTS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in TEXTS.items()}
_THREAD = re.compile(
    r"\b(?:forum|threads?|topic|question|answers?|discussionforumposting|post-stream|messages?|reviews?)\b"
)
"""Names around posts, answers and reviews, which are the content of their pages."""
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TEXT_REACH = 200
_CLOSE = 3  # levels
_BYLINE_WORDS, _DATE_WORDS = 12, 8
_BEFORE_HEADLINE, _AFTER_HEADLINE = 3, 10  # blocks between which a byline is expected
_LONG = 20  # words of a block that is certainly text
_FEWEST_WORDS = 30  # of a text that can have comments
_MOST_COMMENTS = 0.7  # words of kept comments, relative to the other kept words; more comments are the page itself


@cache
def _config() -> Config:
    return load_config("blocks")


def assign_roles(document: Document, labels: Sequence[Label], page: Columns | None = None) -> tuple[Role, ...]:
    """Return the role of each block of a page with the given labels. Pass the columns of the page if you have them."""
    roles: list[Role] = []
    for columns in columns_of(document, page):
        roles += _by_rules(columns, kept_flags(labels[len(roles) :][: columns.count]))
    return tuple(roles)


def columns_of(document: Document, page: Columns | None = None) -> Iterator[Columns]:
    """Yield the columns of each section of a page; most pages have one."""
    if page is not None:
        yield page
    else:
        yield from (Columns(section, _config()) for section in sections(document))


def kept_flags(labels: Sequence[Label]) -> Flags:
    """Return which labels are content."""
    return np.array([label is not Label.OTHER for label in labels], dtype=bool)


def name_levels(page: Columns, pattern: re.Pattern[str], blocks: Counts, levels: int = NEAR) -> Counts:
    """Return how far above each of the blocks the nearest element with a matching name is; `levels` if none is."""
    names, name_of_element = page.near_names
    around = name_of_element[page.ancestors[:levels, blocks]]
    is_match = np.zeros(len(names), dtype=bool)
    for number in set(around.ravel().tolist()):
        is_match[number] = _matches(pattern, names[number])
    found = is_match[around]
    return np.where(found.any(axis=0), found.argmax(axis=0), levels)


@lru_cache(maxsize=10_000)
def _matches(pattern: re.Pattern[str], name: str) -> bool:
    return pattern.search(_CAMEL.sub("-", name).replace("_", "-").lower()) is not None


def text_marks(page: Columns, name: str, blocks: Counts) -> Flags:
    """Return which of the blocks match a pattern of texts."""
    search = _COMPILED_TEXTS[name].search
    return np.array([search(page.texts[block][:_TEXT_REACH]) is not None for block in blocks.tolist()], dtype=bool)


def has_headline(page: Columns) -> bool:
    """Whether the block most like a headline is one: it repeats the title, or is an h1."""
    return bool(page.count and (page.title_share[page.headline] > 0.5 or page.within("h1")[page.headline]))


def find_bylines(page: Columns, is_kept: Flags, blocks: Flags | None = None) -> Flags:
    """Return the short blocks with an author or a date that are next to the headline and before the text.

    With `blocks`, return those among the given blocks.
    """
    result = np.zeros(page.count, dtype=bool)
    if not has_headline(page):
        return result
    headline = page.headline
    texts = np.flatnonzero((is_kept & (page.words >= _LONG))[headline + 1 :])
    if not len(texts):
        return result
    stop = headline + 1 + min(int(texts[0]), _AFTER_HEADLINE - 1)
    near = np.arange(max(headline - _BEFORE_HEADLINE, 0), stop)
    words = page.words[near]
    near = near[(near != headline) & (words <= _BYLINE_WORDS) & (words > 0)]
    near = near if blocks is None else near[blocks[near]]
    if len(near):
        is_date = (page.words[near] < _DATE_WORDS) & (page.link_words[near] < 0.5 * page.words[near])
        is_date &= text_marks(page, "date", near)
        is_named = name_levels(page, _COMPILED_NAMES[Role.BYLINE], near, _CLOSE) < _CLOSE
        result[near] = is_named | text_marks(page, "by", near) | is_date
    return result


def find_comments(page: Columns, is_kept: Flags, blocks: Flags | None = None) -> Flags:
    """Return the comments of readers below the text. With `blocks`, return those among the given blocks.

    On a page with more comments than text, and in forums, they are not comments but the content.
    """
    result = np.zeros(page.count, dtype=bool)
    chosen = np.arange(page.count) if blocks is None else np.flatnonzero(blocks)
    chosen = chosen[name_levels(page, _COMPILED_NAMES[Role.COMMENT], chosen) < NEAR] if len(chosen) else chosen
    chosen = chosen[~page.within("pre")[chosen]]  # programs have comments too
    if not len(chosen):
        return result
    is_text = is_kept.copy()
    is_text[chosen] = False
    words_so_far = np.cumsum(page.words * is_text)
    words = words_so_far[-1]
    kept = chosen[is_kept[chosen]]
    is_thread = (name_levels(page, _THREAD, kept if len(kept) else chosen) < NEAR).mean() > 0.5
    if words >= _FEWEST_WORDS and page.words[kept].sum() <= _MOST_COMMENTS * words and not is_thread:
        result[chosen] = words_so_far[chosen] >= 0.5 * words
    return result


def _by_rules(page: Columns, is_kept: Flags) -> list[Role]:
    if not page.count:
        return []
    blocks = np.arange(page.count)
    near = {role: name_levels(page, pattern, blocks) for role, pattern in _COMPILED_NAMES.items()}
    words, link_share = page.words, page.link_words / np.maximum(page.words, 1)
    is_headline = (blocks == page.headline) & has_headline(page)
    is_named = {role: levels < NEAR for role, levels in near.items()}
    is_close = {role: levels < _CLOSE for role, levels in near.items()}
    is_short = words <= 20
    is_after = np.cumsum((is_kept & (words >= _LONG))[::-1])[::-1] == 0  # after the text
    is_tagged = is_close[Role.TAGS] & (link_share > 0.5)
    in_dl = page.within("dt") | page.within("dd")
    choices = {
        Role.CODE: page.within("pre"),
        Role.CAPTION: page.within("figcaption") | page.within("caption") | is_close[Role.CAPTION],
        Role.HEADLINE: is_headline,
        Role.NOTE: is_named[Role.NOTE],
        Role.COMMENT: find_comments(page, is_kept),
        Role.LEGAL: is_named[Role.LEGAL] | (text_marks(page, "legal", blocks) & (words < 60) & ~is_kept),
        Role.BYLINE: find_bylines(page, is_kept),
        Role.TAGS: is_short & is_after & (is_tagged | text_marks(page, "tags", blocks)),
        Role.RELATED: is_named[Role.RELATED] | (text_marks(page, "related", blocks) & is_short),
        Role.NAVIGATION: page.within("nav") | (~is_kept & ((link_share > 0.6) | is_named[Role.NAVIGATION])),
        Role.FACTS: is_kept & in_dl,
        Role.TABLE: is_kept & page.within("td") & is_short,
        Role.BODY: is_kept,
    }
    numbers = np.select([*choices.values()], [*range(len(choices))], len(choices))
    names = [*choices, Role.OTHER]
    return [names[number] for number in numbers.tolist()]
