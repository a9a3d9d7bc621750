"""Rules that add blocks after the cut: headings, the headline, and units, lists and facts between kept blocks.

Their few words hardly count in the expected F1, but readers miss them. Each rule returns the numbers of the blocks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from victorpy.columns import Columns, Flags, Floats
from victorpy.columns.elements import running_total
from victorpy.model.evidence.threads import has_posts
from victorpy.model.evidence.units import Ranges, data_tables
from victorpy.model.role_patterns import has_headline
from victorpy.outputs.boxes import BOX_HINTS, box_type

Gap = tuple[int, int]
"""The first dropped block between two kept ones, and the next kept block."""

STRONG = 0.05
"""A lower probability is strong evidence that a block is noise."""

_HEADLINE_LEAST = 0.03  # probability

_TOGGLE = "kg-toggle-card"  # in Ghost, a title that opens a hidden text
_UNIT_HINTS = (*BOX_HINTS, _TOGGLE)
_NUMBER = re.compile(r"\(\d[\d.]{0,5}\)")  # of a formula
_LEVELS = ("h1", "h2", "h3", "h4", "h5", "h6")
_UNIT_LEVELS = 4
_LONGEST_GAP = 30  # blocks
_MOST_OTHER_WORDS = 8  # in a gap
_FEWEST_ALIKE = 2  # kept headings

_LIST_LEAST = 0.1  # probability
_FEWEST_INTRODUCING = 3  # words
# Matches texts that introduce links to other pages.
_ELSEWHERE = re.compile(
    r"\W*(?:(?:see|read|find|get)\s)?(?:more|other|also|related|similar|recommended|popular|latest|siehe auch|mehr|"
    r"lire|voir|ver|leer|más|vedi|leggi|читайте)\b|相关|相關|関連|관련"
    r"|.*\b(?:check out|you (?:may|might) (?:also )?(?:like|enjoy))\b",
    re.IGNORECASE | re.DOTALL,
)

_LONGEST_FACT = 6  # words
_FEWEST_FACTS = 6
_FIELD_LEAST = 0.3  # minimum probability of the label of a field
_FACTS_OF_UNIT = 0.7  # minimum share of facts among the blocks of a unit
_NO_FACTS = ("nav", "aside", "footer", "button", "select", "textarea", "img", "pre", "class-header")


def headings_above(kept: Flags, content: Floats, page: Columns, least: float) -> list[int]:
    """Return the headings directly above kept text, and the headings of the sections around kept headings.

    Their probability is at least `least`. Half of this is enough for the heading of a section that is mostly kept, if
    another heading of the same level and text above it are kept. Such a heading may be separated from its text by
    buttons and pictures. It may be in another box than the text if several similar headings are kept.
    """
    numbers = np.flatnonzero(page.within("class-header"))
    if not len(numbers):
        return []
    is_text = kept.copy()
    is_text[numbers] = False
    likely = content[numbers]
    is_found = (likely >= least) & is_text[np.minimum(numbers + 1, len(kept) - 1)]
    is_kept = kept[numbers] | is_found
    # Kept text or a kept heading must follow.
    last_kept = len(kept) - 1 - int(kept[::-1].argmax())
    may_add = (likely >= least / 2) & ~is_kept & (numbers < last_kept)
    if not may_add.any() or not is_kept.any():
        return numbers[is_found].tolist()
    level = np.array([page.within(tag) for tag in _LEVELS])[:, numbers].argmax(axis=0)
    # Find the smallest element that contains more than a heading. For a heading in another box, it ends before the
    # section.
    ends = page.block_range[1][page.ancestors[:, numbers]]
    box_end = np.where(ends > numbers + 1, ends, page.count).min(axis=0)
    next_heading = np.append(numbers[1:], page.count)
    has_text = next_heading > numbers + 1
    stop = np.minimum.accumulate(np.where(has_text, next_heading, page.count)[::-1])[::-1]
    total, kept_total = page._running_words[0], running_total(page.words * is_text)
    before = kept_total[numbers]
    is_section = 2 * (kept_total[stop] - before) > total[stop] - total[numbers + 1]
    look = page.look[numbers]
    is_alike = np.bincount(look, is_kept)[look] >= _FEWEST_ALIKE
    is_section &= is_alike | (kept_total[np.minimum(stop, box_end)] > before)
    siblings = np.bincount(level[is_kept & (numbers != page.headline)], minlength=len(_LEVELS))
    is_found |= may_add & is_section & (siblings[level] > 0) & (before > 0)
    found: list[int] = numbers[is_found].tolist()
    may_add &= likely >= least
    if may_add.any():
        around: list[tuple[int, int, int, bool]] = []  # the headings of the enclosing sections
        headings = zip(numbers.tolist(), level.tolist(), box_end.tolist(), may_add.tolist(), strict=True)
        for heading, is_kept_now in zip(headings, (is_kept | is_found).tolist(), strict=True):
            while around and around[-1][1] >= heading[1]:
                around.pop()
            if is_kept_now:
                found += [number for number, _, end, is_likely in around if is_likely and end > heading[0]]
            around.append(heading)
    return found


def gaps_between(kept: Flags) -> list[Gap]:
    """Return the short gaps between kept blocks."""
    numbers = np.flatnonzero(kept).tolist()
    return [(last + 1, stop) for last, stop in pairwise(numbers) if 1 < stop - last <= _LONGEST_GAP + 1]


def outside(numbers: list[int], page: Columns, *names: str) -> list[int]:
    """Return the blocks outside elements with one of these tags or of these classes."""
    if not numbers:
        return numbers
    is_inside = page.within_any(*names)
    return [number for number in numbers if not is_inside[number]]


def headline_above(kept: Flags, content: Floats, page: Columns) -> list[int]:
    """Return the headline if it is an ``<h1>`` or repeats the title of the page, and if kept text follows.

    Gold standards contradict each other about headlines, so their probabilities are unreliable. Names of sites have
    even lower probabilities.
    """
    number = page.headline
    is_likely = has_headline(page) and content[number] >= _HEADLINE_LEAST
    return [number] if is_likely and kept[number:].any() else []


def units_between(gaps: Sequence[Gap], content: Floats, page: Columns) -> list[int]:
    """Return the formulas, data tables, boxes and details that fill a gap between kept blocks.

    They are short and unlike paragraphs, but readers miss them. They stay dropped only if the evidence against them is
    strong.
    """
    is_likely = (content >= STRONG).tolist()
    blocks = [number for gap in gaps for number in range(*gap) if is_likely[number]]
    if not blocks:
        return []
    texts, block_range = page.texts, page.block_range
    elements = []
    around = page.ancestors[:_UNIT_LEVELS, blocks].ravel()
    for element in page.document.mentioning(around, "class", _UNIT_HINTS):
        name = page.document.attributes_of(element)["class"].lower()
        if _TOGGLE in name or box_type(name):
            elements.append(element)
    in_tables = np.compress(page.within("table")[blocks], blocks) if page.document.has_tag("table") else ()
    if len(in_tables):
        tables = data_tables(page, np.unique(page.group("table")[in_tables]))
        elements += [*tables.tolist(), *np.intersect1d(page.parent[tables], page.elements_with(["figure"])).tolist()]
    formulas = [block for block in blocks if texts[block].startswith("$$")]
    if not elements and not formulas and not page.document.has_tag("details"):
        return []
    is_unit = page.within("details") & (page.link_words <= 0.5 * page.words)
    for element in elements:
        is_unit[block_range[0][element] : block_range[1][element]] = True
    for block in formulas:
        is_unit[block : block + 1 + bool(_NUMBER.fullmatch("".join(texts[block + 1 : block + 2])))] = True
    is_unit &= ~(page.within("form") | page.within("nav") | page.within("aside") | page.within("button"))
    found: list[int] = []
    for first, stop in gaps:
        words, in_unit = page.words[first:stop], is_unit[first:stop]
        is_linked = page.link_words[first:stop] @ in_unit > 0.5 * (words @ in_unit)  # a table of teasers
        if not is_linked and words @ ~in_unit <= _MOST_OTHER_WORDS:
            found += [number for number in range(first, stop) if is_unit[number] and is_likely[number]]
    return found


def introduced_lists(gaps: Sequence[Gap], content: Floats, page: Columns) -> list[int]:
    """Return the lists that fill a gap after a kept text ending in a colon. They often consist of links.

    All of their items must have at least the probability `_LIST_LEAST`.
    """
    texts, in_item = page.texts, page.within("li")
    found: list[int] = []
    for first, stop in gaps:
        text = texts[first - 1]
        if text.endswith((":", "：")) and in_item[first:stop].all() and not in_item[first - 1]:
            is_likely = content[first:stop].min() >= _LIST_LEAST and page.words[first - 1] >= _FEWEST_INTRODUCING
            if is_likely and not _ELSEWHERE.match(text):
                found += range(first, stop)
    return outside(found, page, "nav", "aside", "button", "img")


def facts_between(kept: Flags, content: Floats, page: Columns, units: Ranges, least: float) -> list[int]:
    """Return the short texts between kept blocks with at least the probability `least`.

    There must be several. On a page about a product or a similar thing, they are its facts. In a thread, such texts are
    names and dates of the posts, so none are returned. Units, such as tables, are returned as a whole or not at all.
    """
    numbers = np.flatnonzero(kept)
    if not len(numbers):
        return []
    between = slice(numbers[0], numbers[-1])
    words = page.words[between]
    is_fact = np.zeros(len(kept), dtype=bool)
    is_fact[between] = (words <= _LONGEST_FACT) & (content[between] >= least) & (words > 0)
    is_fact[between] &= 2 * page.link_words[between] <= words
    if not (is_fact & ~kept).any():
        return []
    is_fact &= ~page.within_any(*_NO_FACTS)
    if page.document.has_tag("label"):
        is_fact &= ~page.within("label") | (content >= _FIELD_LEAST)
    if np.count_nonzero(is_fact) < _FEWEST_FACTS or has_posts(kept, page):
        return []
    facts = running_total(is_fact)
    begin, end = units
    inside = facts[end] - facts[begin]
    for unit in np.flatnonzero((inside > 0) & (inside < end - begin)):
        blocks = slice(begin[unit], end[unit])
        is_fact[blocks] = is_fact[blocks].mean() >= _FACTS_OF_UNIT
    return is_fact.nonzero()[0].tolist()
