"""Assign a role to every block, such as headline, byline, body, comment or related."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

import numpy as np

from victorpy.columns import NEAR, Columns, Counts, Flags
from victorpy.columns.elements import running_total
from victorpy.config import Config, load_config
from victorpy.document import HEADINGS, Document, Label, Role
from victorpy.model.evidence.threads import posts
from victorpy.model.role_patterns import (
    FORM,
    LONG,
    NAMES,
    THREAD,
    has_headline,
    mentions_comments,
    name_levels,
    text_marks,
)
from victorpy.model.role_trees import PLAIN, RoleTrees, sibling_groups
from victorpy.page.sections import sections

_CLOSE = 3  # levels, or blocks
_BYLINE_WORDS, _DATE_WORDS = 12, 8
_LONGEST_BYLINE = 20  # maximum words of a byline with an author and a date
_BEFORE_HEADLINE, _AFTER_HEADLINE = 3, 10  # number of blocks around the headline that may be a byline
_FIGURE_WORDS = 40  # maximum words of a figure outside its caption
_FEWEST_WORDS = 30  # minimum words of a text that can have comments
_SURE_COMMENTS = 2.0  # minimum mean log-odds of comments, weighted by prose; otherwise they may be posts
_SHORT_COMMENT = 4  # minimum words of a comment if the page has no longer ones
_MOST_NOTES = 0.5  # maximum share of notes in the kept words; with more, the page is a reference manual
_MOST_TAGS = 0.3  # maximum share of tags in the kept words; with more, they are the entries of a list
_MOST_COMMENTS = 0.7  # maximum ratio of comments to other kept words; with more, they are the content


@cache
def _config() -> Config:
    return load_config("blocks")


def assign_roles(
    document: Document, labels: Sequence[Label], page: Columns | None = None, trees: RoleTrees | None = None
) -> tuple[Role, ...]:
    """Return the role of each block of a page with the given labels. Pass the columns of the page if you have them.

    Without trees for roles, rules assign all roles.
    """
    roles: list[Role] = []
    for columns in columns_of(document, page):
        is_kept = kept_flags(labels[len(roles) :][: columns.count])
        roles += by_rules(columns, is_kept, by_trees(columns, is_kept, trees) if trees and columns.count else {})
    return tuple(roles)


def by_trees(page: Columns, is_kept: Flags, trees: RoleTrees) -> dict[Role, Flags]:
    """Return the blocks of each role that has trees. A block has at most one role, and a page at most one headline."""
    log_odds = trees.log_odds(page, is_kept, np.arange(page.count), trees.forests)
    headline = log_odds[Role.HEADLINE]
    headline[np.arange(page.count) != headline.argmax()] = -1
    best = np.maximum.reduce([*log_odds.values()])
    found = {role: (own == best) & (own > 0) for role, own in log_odds.items()}
    # A page with one or two comments has no records. On such pages, names decide about text outside forms.
    is_named, is_text = find_comments(page, is_kept) & (best <= 0), page.prose > 0
    if is_named.any() and not (found[Role.COMMENT] | (is_named & is_text)).any():  # all comments are short
        is_heading = page.within_any(*HEADINGS)
        is_text = (page.words - page.link_words >= _SHORT_COMMENT) & ~is_heading
    found[Role.COMMENT] = _whole_comments(page, found[Role.COMMENT] | (is_named & is_text), is_kept, is_text)
    found[Role.CAPTION] &= _beside_pictures(page)
    bylines = np.flatnonzero(found[Role.BYLINE])
    is_certain = np.zeros(page.count, dtype=bool)
    is_certain[bylines] = _is_byline(page, bylines) | text_marks(page, "date", bylines)
    found[Role.BYLINE] &= _near(is_certain)
    found[Role.BYLINE][bylines] &= ~text_marks(page, "price", bylines)
    return found


def _near(chosen: Flags) -> Flags:
    """Return which blocks are at most `_CLOSE` blocks away from a chosen one."""
    before = running_total(chosen)
    blocks = np.arange(len(chosen))
    return before[np.minimum(blocks + _CLOSE + 1, len(chosen))] > before[np.maximum(blocks - _CLOSE, 0)]


def _whole_comments(page: Columns, is_comment: Flags, is_kept: Flags, is_text: Flags) -> Flags:
    """Return comments with their authors, dates and texts, and without forms and lists of comments on other pages.

    A comment is an element of which at least half of the siblings with the same tag and class are comments, too. All
    other comments must be near a text.
    """
    blocks = np.arange(page.count)
    in_form = page.within("form") | page.within("button") | (name_levels(page, FORM, blocks) < NEAR)
    is_comment = is_comment & ~in_form
    if not is_comment.any():
        return is_comment
    group = sibling_groups(page)
    everything = np.arange(len(group))
    has_comment = page.element_sum(is_comment, everything) > 0
    has_words = page.element_sum(page.words, everything) > 0
    has_other_text = page.element_sum(is_kept & ~is_comment & (page.words >= LONG), everything) > 0
    comments, filled, others = (np.bincount(group, flags) for flags in (has_comment, has_words, has_other_text))
    is_record = ((comments >= 2) & (comments >= 0.5 * filled) & (others == 0))[group]
    is_record[page.elements_with(PLAIN)] = False
    in_record = is_record[page.ancestors[:NEAR]].any(axis=0)
    added = np.flatnonzero(in_record & ~in_form & ~is_comment)
    often = max(3, 0.5 * comments[group[np.flatnonzero(is_record)]].max(initial=0))
    counts = Counter(page.texts[block] for block in added.tolist())
    is_comment[[block for block in added.tolist() if counts[page.texts[block]] < often]] = True  # the rest are buttons
    return is_comment & (in_record | _near(is_comment & is_text))


def _beside_pictures(page: Columns) -> Flags:
    """Return the blocks in a small element that contains a picture."""
    pictures, headings = (np.zeros(len(page.parent) + 1) for _ in range(2))
    pictures[page.elements_with(["img", "video", "svg", "canvas", "table"]) + 1] = 1
    headings[page.elements_with(sorted(HEADINGS)) + 1] = 1
    around = page.ancestors[1 : _CLOSE + 1]
    inside = [running[page.stop[around]] - running[around] for running in (pictures.cumsum(), headings.cumsum())]
    is_small = page.ancestor_sums.words[1 : _CLOSE + 1] <= page.words + _FIGURE_WORDS
    return ((inside[0] > 0) & (inside[1] == 0) & is_small).any(axis=0) & ~page.within("img")


def _is_byline(page: Columns, blocks: Counts) -> Flags:
    """Return which blocks have an author or a date, according to their text or the names of elements around them."""
    is_named = name_levels(page, Role.BYLINE, blocks, _CLOSE) < _CLOSE
    is_date = (page.words[blocks] < _DATE_WORDS) & (page.link_words[blocks] < 0.5 * page.words[blocks])
    return is_named | text_marks(page, "by", blocks) | (is_date & text_marks(page, "date", blocks))


def columns_of(document: Document, page: Columns | None = None) -> Iterator[Columns]:
    """Yield the columns of each section of a page; most pages have one."""
    if page is not None:
        yield page
    else:
        yield from (Columns(section, _config()) for section in sections(document))


def kept_flags(labels: Sequence[Label]) -> Flags:
    """Return which labels are content."""
    other = Label.OTHER
    return np.array([label is not other for label in labels], dtype=bool)


def find_bylines(page: Columns, is_kept: Flags, blocks: Flags | None = None) -> Flags:
    """Return the short blocks with an author or a date that are next to the headline and before the text.

    With `blocks`, return those among the given blocks.
    """
    result = np.zeros(page.count, dtype=bool)
    if not has_headline(page):
        return result
    headline = page.headline
    texts = np.flatnonzero((is_kept & (page.words >= LONG))[headline + 1 :])
    if not len(texts):
        return result
    stop = headline + 1 + min(int(texts[0]), _AFTER_HEADLINE - 1)
    near = np.arange(max(headline - _BEFORE_HEADLINE, 0), stop)
    words = page.words[near]
    near = near[(near != headline) & (words <= _LONGEST_BYLINE) & (words > 0)]
    near = near if blocks is None else near[blocks[near]]
    if not len(near):
        return result
    is_long = page.words[near] > _BYLINE_WORDS
    short, long = near[~is_long], near[is_long]
    result[short] = _is_byline(page, short)
    result[long] = text_marks(page, "by", long) & text_marks(page, "date", long)
    for block in near[near > 0].tolist():  # keep a label and its value together
        if page.texts[block - 1].endswith(":"):
            result[block] &= result[block - 1]
    return result


def find_comments(page: Columns, is_kept: Flags, blocks: Flags | None = None, trees: RoleTrees | None = None) -> Flags:
    """Return the comments of readers below the text. With `blocks`, return those among the given blocks.

    In a forum, posts are the content, not comments. Threads are recognised by the names of elements, or by the trees
    from the structure of the page. Without trees, pages with more comments than text also count as threads.
    """
    result = np.zeros(page.count, dtype=bool)
    if not mentions_comments(page):
        return result
    chosen = np.arange(page.count) if blocks is None else np.flatnonzero(blocks)
    chosen = chosen[name_levels(page, Role.COMMENT, chosen) < NEAR] if len(chosen) else chosen
    chosen = chosen[~page.within("pre")[chosen]]  # comments in source code are something else
    if not len(chosen):
        return result
    kept = chosen[is_kept[chosen]]
    if (name_levels(page, THREAD, kept if len(kept) else chosen) < NEAR).mean() > 0.5:
        return result
    if trees:
        prose = page.prose[chosen]
        if prose.any():
            log_odds = trees.log_odds(page, is_kept, chosen, [Role.COMMENT])[Role.COMMENT]
            result[chosen] = (log_odds > 0) & (prose @ log_odds > _SURE_COMMENTS * prose.sum())
            result &= page.words[is_kept & ~result].sum() >= _FEWEST_WORDS
        return result
    is_text = is_kept.copy()
    is_text[chosen] = False
    words_so_far = np.cumsum(page.words * is_text)
    words = words_so_far[-1]
    if words >= _FEWEST_WORDS and page.words[kept].sum() <= _MOST_COMMENTS * words:
        result[chosen] = words_so_far[chosen] >= 0.5 * words
    return result


def _marked_captions(page: Columns) -> Flags:
    """Return captions that markup identifies. Below a quotation, a ``<figcaption>`` is not one: it names the author."""
    figure = page.group("figure")
    is_quotation = np.isin(figure, figure[page.within("blockquote")]) & (figure >= 0) & ~_beside_pictures(page)
    return (page.within("figcaption") & ~is_quotation) | page.within("caption")


def by_rules(page: Columns, is_kept: Flags, known: Mapping[Role, Flags] = MappingProxyType({})) -> list[Role]:
    """Return the roles of a page, from names of elements, texts and labels.

    `known` contains the blocks of known roles.
    """
    if not page.count:
        return []
    blocks = np.arange(page.count)
    near = {role: name_levels(page, role, blocks) for role in NAMES}
    words, link_share = page.words, page.link_words / np.maximum(page.words, 1)
    is_headline = (blocks == page.headline) & has_headline(page)
    is_named = {role: levels < NEAR for role, levels in near.items()}
    is_close = {role: levels < _CLOSE for role, levels in near.items()}
    is_note = is_named[Role.NOTE] & (words[is_kept & is_named[Role.NOTE]].sum() <= _MOST_NOTES * words[is_kept].sum())
    is_short = words <= 20
    is_after = np.cumsum((is_kept & (words >= LONG))[::-1])[::-1] == 0  # after the text
    is_tagged = is_close[Role.TAGS] & (link_share > 0.5)
    in_dl = page.within("dt") | page.within("dd")
    from_headline = blocks - page.headline if has_headline(page) else np.zeros(page.count)
    is_below_headline = (from_headline > 0) & (from_headline <= _CLOSE)
    choices = {
        Role.CODE: page.within("pre"),
        Role.CAPTION: is_close[Role.CAPTION] & _beside_pictures(page),
        Role.HEADLINE: is_headline,
        Role.SUBTITLE: is_close[Role.SUBTITLE] & is_below_headline & (words >= 4) & (words <= 70),
        Role.NOTE: is_note,
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
    choices |= known
    choices[Role.COMMENT] = choices[Role.COMMENT] | posts(is_kept, page, ~is_kept)
    if choices[Role.COMMENT].any():
        is_author_or_date = is_short & (is_close[Role.BYLINE] | page.within("time"))
        choices[Role.COMMENT] |= is_named[Role.COMMENT] & is_author_or_date
    choices[Role.CAPTION] = choices[Role.CAPTION] | _marked_captions(page)
    kept_tags = choices[Role.TAGS] & is_kept
    if kept_tags.sum() > 2 and words[kept_tags].sum() > _MOST_TAGS * words[is_kept].sum():
        choices[Role.TAGS] = np.zeros(page.count, dtype=bool)
    numbers = np.select([*choices.values()], [*range(len(choices))], len(choices))
    names = [*choices, Role.OTHER]
    return [names[number] for number in numbers.tolist()]
