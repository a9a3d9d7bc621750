"""Patterns that suggest the role of a block, for names of the elements around it and for its text."""

from __future__ import annotations

import re
from functools import cache, lru_cache

import numpy as np

from victorpy.columns import NEAR, Columns, Counts, Flags
from victorpy.document import Role

THREAD = "thread"
"""Name of the pattern for posts, answers and reviews. On their pages, these are the content."""

FORM = "form"
"""Name of the pattern for forms and their instructions."""

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
    FORM: r"respond\b|(?:comments?|reply|newsletter)-?(?:form|policy|notes|rules)",
    THREAD: r"\b(?:forum|(?<!disqus-)threads?(?!-(?:even|odd|alt)\b)|topic|question|answers?|discussionforumposting|"
    r"post-stream|messages?|reviews?)\b",
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
    "price": r"[$€£¥₹]\s?\d|\d\s?(?:[€£¥₹]|(?:EUR|USD|GBP|CHF|zł|kr|Kč)\b)|"
    r"\b\d+ (?:comments?|votes?|reviews?|ratings?|views?|shares?)\b",
    "legal": r"©|\(c\) ?\d{4}|copyright|all rights reserved|privacy policy|terms (?:of|and)|cookies?\b|"
    r"alle rechte|tous droits|todos los derechos|版权",
    "tags": r"^\W*(?:tags?|tagged|filed under|categor(?:y|ies)|topics?|keywords?|schlagw[oö]rter|"
    r"mots[- ]cl[ée]s|标签)\b",
    "related": r"^\W*(?:related|see also|read (?:more|next|also)|more (?:from|on|in|news|stories)|you (?:may|might)|"
    r"recommended|most (?:read|popular|viewed)|popular|trending|latest|also (?:on|in|read)|mehr zum|lire aussi)\b",
    "caption": r"\b(?:photos?|images?|pictures?|credits?|getty|reuters|afp|foto|bild|courtesy|fig(?:ure)?|table)\b|©",
    "share": r"\b(?:share|tweet|facebook|twitter|e?mail|print|subscribe|newsletter|sign up|log ?in|search|menu|home|"
    r"next|previous|more)\b",
    "reply": r"\b(?:repl(?:y|ies|ied)|wrote|says|said|responder|antworten|répondre|permalink|comments?|commentaires?|"
    r"kommentare?|ответить|комментари\w*)\b|回复|评论",
}
"""Patterns for the text of a block."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TEXT_REACH = 200

TITLE_SHARE = 0.5
"""Minimum share of a headline's words that must be in the title of the page."""

LONG = 20
"""Minimum number of words of a block that is certainly running text."""


def name_levels(page: Columns, name: str, blocks: Counts, levels: int = NEAR) -> Counts:
    """Return the level above each block of the nearest element with a matching name, or `levels` if there is none.

    `name` is a key of `NAMES`, such as a role.
    """
    names, name_of_element = page.near_names
    around = name_of_element[page.ancestors[:levels, blocks]]
    is_match = np.zeros(len(names), dtype=bool)
    for number in set(around.ravel().tolist()):
        is_match[number] = _matches(name, names[number])
    found = is_match[around]
    return np.where(found.any(axis=0), found.argmax(axis=0), levels)


_compiled = cache(re.compile)  # most pages need only a few of the patterns


@lru_cache(maxsize=10_000)
def _matches(pattern: str, name: str) -> bool:
    return _compiled(NAMES[pattern]).search(_CAMEL.sub("-", name).replace("_", "-").lower()) is not None


def mentions_comments(page: Columns) -> bool:
    """Whether an element near a block may contain comments. Much faster than `name_levels`."""
    return any(word in page.near_names_text for word in ("comment", "disqus", "talkback", "respond"))


def text_marks(page: Columns, name: str, blocks: Counts) -> Flags:
    """Return which of the blocks match a pattern in `TEXTS`."""
    search = _compiled(f"(?i){TEXTS[name]}").search
    return np.array([search(page.texts[block][:_TEXT_REACH]) is not None for block in blocks.tolist()], dtype=bool)


def has_headline(page: Columns) -> bool:
    """Whether the block most similar to a headline really is one: it repeats the title, or is an h1."""
    return bool(page.count and (page.title_share[page.headline] > TITLE_SHARE or page.within("h1")[page.headline]))
