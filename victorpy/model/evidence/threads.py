"""Find the posts of a thread, such as the replies in a forum, and the lines that a forum adds to them.

All posts of a thread have the same markup, and there are dates or numbers between them. If most of the kept text is in
such elements, and at least two of them are kept, all of them are posts. Comments below an article are not found,
because the article has different markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from victorpy.columns import Columns, Counts, Flags
from victorpy.columns.elements import running_total
from victorpy.model.role_patterns import text_marks

_LEVELS = 5  # maximum levels from a block up to the element of its post
_NO_BODIES = frozenset(["a", "li", "p", "span"])  # tags of elements that can only be a part of a post
_HINTS = ("post", "message", "comment", "repl", "answer", "thread", "forum", "topic", "discuss")
_FEWEST_POSTS = 3
_FEWEST_KEPT = 2  # posts
_FEWEST_NUMBERED = 2  # minimum number of posts whose ids differ only in their numbers
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"#\d{1,5}")  # of a post
_SAMPLE = 10  # number of blocks whose names are checked to exclude pages without posts
_LEAST_KEPT = 0.5  # minimum share of posts in all kept words
_LEAST_DATED = 0.5  # minimum share of neighbouring posts with a date between them
_MOST_COPIES = 2  # maximum number of posts with the same text; more copies are buttons
_MOST_BETWEEN = 40  # maximum number of blocks between two posts that are searched for a date

# Match fields of the profile beside a post, other short texts near them, and lines that forums add to posts.
_PROFILE = re.compile(
    r"(?:join(?:ed|date| date)|member since|registered|registriert(?: seit)?|inscrit(?: le)?|posts?|messages|beiträge"
    r"|threads|topics|reputation|reaction score|points|likes(?: received)?|karma|сообщений|регистрация)\s*:?\s*"
    r"(?:\d[\d.,kK]*|[\w. ,/-]{0,12}\d{4}[\d-]*)",
    re.IGNORECASE,
)
_BESIDE_PROFILE = re.compile(
    r"#\d+|(?:location|from|country|gender|age|website)\s*:.{0,60}|website|offline|online"
    r"|(?:(?:senior|junior|new|full|active|well-known|registered|valued|super|hero)\s)?(?:member|user)",
    re.IGNORECASE,
)
_ADDED_LINE = re.compile(r"code: ?select all|last edited(?: by\b.{0,80}|: .{0,30})", re.IGNORECASE)
_LAST_LETTERS, _FIRST_LETTERS = "0123456789.,kK-", "cClLR"  # last letters of fields, and first letters of other lines
_FEWEST_FIELDS = 3
_BESIDE = 3  # blocks
_LONGEST_FIELD = 20  # words


def profiles(kept: Flags, page: Columns) -> list[int]:
    """Return kept fields of the profiles beside posts, and kept lines that the forum adds to posts."""
    short = np.flatnonzero(kept & (page.words <= _LONGEST_FIELD)).tolist()
    texts = page.texts
    fields, added = [], []
    for number in short:
        text = texts[number]
        if text[-1:] in _LAST_LETTERS and _PROFILE.fullmatch(text):
            fields.append(number)
        if text[:1] in _FIRST_LETTERS:
            is_title = text.startswith("Re: ") and page.duplicates[number] >= _FEWEST_FIELDS
            if is_title or _ADDED_LINE.fullmatch(text):
                added.append(number)
    found = added if len(added) >= _FEWEST_FIELDS else []
    if len(fields) >= _FEWEST_FIELDS:
        near = {other for number in fields for other in range(number - _BESIDE, number + _BESIDE + 1)}
        found += fields + [number for number in short if number in near and _BESIDE_PROFILE.fullmatch(texts[number])]
    return found


def posts(kept: Flags, page: Columns, may_add: Flags) -> Flags:
    """Return the blocks of posts that are not kept, if the page is a thread.

    A post is added if at least one of its blocks is kept or in `may_add`.

    Quotations of other posts and copies of posts, such as a best answer, are left out. Buttons, which every post
    repeats, and signatures, which are in asides, are left out too.
    """
    result = np.zeros(len(kept), dtype=bool)
    if not has_posts(kept, page) or not (may_add & ~kept & (page.link_words < page.words)).any():
        return result
    is_text = page.prose > 0
    texts = np.flatnonzero(kept & is_text)
    bodies = next((bodies for bodies in _alike(texts, page) if _is_thread(bodies, kept, page)), None)
    if bodies is None:
        return result
    quotation = page.group("blockquote")
    for body, begin, end in zip(bodies.tolist(), *(edge[bodies].tolist() for edge in page.block_range), strict=True):
        result[begin:end] = (may_add | kept)[begin:end].any() & (quotation[begin:end] <= body)
    result &= ~(kept | page.hidden | page.within("aside") | page.within("button") | page.within("img"))
    result &= is_text | (page.duplicates <= _MOST_COPIES) | page.within("pre")
    known = {page.texts[number] for number in texts}
    for number in np.flatnonzero(result & is_text):
        result[number] = page.texts[number] not in known
        known.add(page.texts[number])
    return result


def has_posts(kept: Flags, page: Columns) -> bool:
    """Whether several elements with the name of a post contain kept text."""
    texts = np.flatnonzero(kept & (page.prose > 0))
    return _count_posts(page.ancestors[:, texts[:: 1 + len(texts) // _SAMPLE]], page) >= _FEWEST_KEPT


def _alike(blocks: Counts, page: Columns) -> Iterator[Counts]:
    """Yield the elements with the same tag and class as an element around the blocks, the innermost elements first.

    Most of them must be in different elements with the name of a post. Elements without a class match if their ids
    differ only in numbers.
    """
    by_class, tags = page.document.elements_by("class"), page.elements.tag
    first, stop = page.block_range
    seen = {""}
    for element in dict.fromkeys(page.ancestors[:_LEVELS, blocks].ravel().tolist()):
        attributes = page.document.attributes_of(element)
        name = attributes.get("class") or _DIGITS.sub("0", attributes.get("id", ""))
        if name in seen or tags[element] in _NO_BODIES:
            continue
        seen.add(name)
        alike, fewest = by_class.get(name, []), _FEWEST_POSTS
        if "class" not in attributes:
            by_id, fewest = page.document.elements_by("id"), _FEWEST_NUMBERED
            alike = [others[0] for value, others in by_id.items() if _DIGITS.sub("0", value) == name]
        same = np.array([other for other in alike if tags[other] == tags[element]], dtype=np.int64)
        same = same[stop[same] > first[same]]
        if len(same) >= fewest and (page.stop[same[:-1]] <= same[1:]).all():
            around = [same]
            for _ in range(_LEVELS):
                around.append(page._parent_or_self[around[-1]])
            if _count_posts(np.array(around), page) >= max(fewest, 0.5 * len(same)):
                yield same


def _count_posts(around: Counts, page: Columns) -> int:
    """Count the elements with the name of a post. In each column, only the first such element counts."""
    elements = around.ravel()
    named = {*page.document.mentioning(elements, "class", _HINTS), *page.document.mentioning(elements, "id", _HINTS)}
    if len(named) < _FEWEST_KEPT:
        return len(named)
    first_named = {next((element for element in column if element in named), -1) for column in around.T.tolist()}
    return len(first_named - {-1})


def _is_thread(bodies: Counts, kept: Flags, page: Columns) -> bool:
    """Whether most of the kept text is in these elements, and dates separate most of them."""
    first, stop = (edge[bodies] for edge in page.block_range)
    kept_words = running_total(page.words * kept)
    if (kept_words[stop] - kept_words[first]).sum() < _LEAST_KEPT * kept_words[-1]:
        return False
    gaps = [*zip(stop[:-1].tolist(), first[1:].tolist(), strict=True)]
    between = [np.arange(begin, min(end, begin + _MOST_BETWEEN)) for begin, end in gaps]
    in_time = page.within("time")
    dated = 0
    for blocks in between:
        numbers = (_NUMBER.fullmatch(page.texts[block]) for block in blocks.tolist())
        dated += bool(in_time[blocks].any() or any(numbers) or text_marks(page, "date", blocks).any())
    return dated >= _LEAST_DATED * len(between)
