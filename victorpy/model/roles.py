"""Assign a role to every block: headline, byline, body, comment, related and so on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

import numpy as np

from victorpy.columns import NEAR, Columns, Flags
from victorpy.config import Config, load_config
from victorpy.document import Document, Label, Role
from victorpy.model.role_patterns import LONG, NAMES, THREAD, has_headline, name_levels, text_marks
from victorpy.model.role_trees import RoleTrees
from victorpy.page.sections import sections

_CLOSE = 3  # levels
_BYLINE_WORDS, _DATE_WORDS = 12, 8
_BEFORE_HEADLINE, _AFTER_HEADLINE = 3, 10  # blocks between which a byline is expected
_FEWEST_WORDS = 30  # of a text that can have comments
_MOST_COMMENTS = 0.7  # words of kept comments, relative to the other kept words; more comments are the page itself


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
    """Return the blocks of each role that has trees. A block has at most one of them, and a page one headline."""
    log_odds = trees.log_odds(page, is_kept, np.arange(page.count), trees.forests)
    headline = log_odds[Role.HEADLINE]
    headline[np.arange(page.count) != headline.argmax()] = -1
    best = np.maximum.reduce([*log_odds.values()])
    found = {role: (own == best) & (own > 0) for role, own in log_odds.items()}
    # A page with one or two comments has no records. There, names decide about text outside of forms.
    found[Role.COMMENT] |= find_comments(page, is_kept) & (page.prose > 0) & (best <= 0) & ~page.within("form")
    return found


def columns_of(document: Document, page: Columns | None = None) -> Iterator[Columns]:
    """Yield the columns of each section of a page; most pages have one."""
    if page is not None:
        yield page
    else:
        yield from (Columns(section, _config()) for section in sections(document))


def kept_flags(labels: Sequence[Label]) -> Flags:
    """Return which labels are content."""
    return np.array([label is not Label.OTHER for label in labels], dtype=bool)


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
    near = near[(near != headline) & (words <= _BYLINE_WORDS) & (words > 0)]
    near = near if blocks is None else near[blocks[near]]
    if not len(near):
        return result
    is_named = name_levels(page, Role.BYLINE, near, _CLOSE) < _CLOSE
    is_date = (page.words[near] < _DATE_WORDS) & (page.link_words[near] < 0.5 * page.words[near])
    result[near] = is_named | text_marks(page, "by", near) | (is_date & text_marks(page, "date", near))
    return result


def find_comments(page: Columns, is_kept: Flags, blocks: Flags | None = None, trees: RoleTrees | None = None) -> Flags:
    """Return the comments of readers below the text. With `blocks`, return those among the given blocks.

    In a forum, posts are not comments but the content. Trees know it from the shape of the page. Without trees, pages
    with more comments than text are threads too.
    """
    result = np.zeros(page.count, dtype=bool)
    chosen = np.arange(page.count) if blocks is None else np.flatnonzero(blocks)
    chosen = chosen[name_levels(page, Role.COMMENT, chosen) < NEAR] if len(chosen) else chosen
    chosen = chosen[~page.within("pre")[chosen]]  # programs have comments too
    if not len(chosen):
        return result
    kept = chosen[is_kept[chosen]]
    if (name_levels(page, THREAD, kept if len(kept) else chosen) < NEAR).mean() > 0.5:
        return result
    if trees:
        if page.prose[chosen].any():
            log_odds = trees.log_odds(page, is_kept, chosen, [Role.COMMENT])[Role.COMMENT]
            result[chosen] = (log_odds > 0) & (page.prose[chosen] @ log_odds > 0)  # otherwise they are a thread
        return result
    is_text = is_kept.copy()
    is_text[chosen] = False
    words_so_far = np.cumsum(page.words * is_text)
    words = words_so_far[-1]
    if words >= _FEWEST_WORDS and page.words[kept].sum() <= _MOST_COMMENTS * words:
        result[chosen] = words_so_far[chosen] >= 0.5 * words
    return result


def by_rules(page: Columns, is_kept: Flags, known: Mapping[Role, Flags] = MappingProxyType({})) -> list[Role]:
    """Return the roles of a page by names of elements, texts and labels. `known` has the blocks of some roles."""
    if not page.count:
        return []
    blocks = np.arange(page.count)
    near = {role: name_levels(page, role, blocks) for role in NAMES}
    words, link_share = page.words, page.link_words / np.maximum(page.words, 1)
    is_headline = (blocks == page.headline) & has_headline(page)
    is_named = {role: levels < NEAR for role, levels in near.items()}
    is_close = {role: levels < _CLOSE for role, levels in near.items()}
    is_short = words <= 20
    is_after = np.cumsum((is_kept & (words >= LONG))[::-1])[::-1] == 0  # after the text
    is_tagged = is_close[Role.TAGS] & (link_share > 0.5)
    in_dl = page.within("dt") | page.within("dd")
    from_headline = blocks - page.headline if has_headline(page) else np.zeros(page.count)
    is_below_headline = (from_headline > 0) & (from_headline <= _CLOSE)
    choices = {
        Role.CODE: page.within("pre"),
        Role.CAPTION: page.within("figcaption") | page.within("caption") | is_close[Role.CAPTION],
        Role.HEADLINE: is_headline,
        Role.SUBTITLE: is_close[Role.SUBTITLE] & is_below_headline & (words >= 4) & (words <= 70),
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
    choices |= {role: flags for role, flags in known.items() if role is not Role.CAPTION}
    if Role.CAPTION in known:  # markup is certain
        choices[Role.CAPTION] = known[Role.CAPTION] | page.within("figcaption") | page.within("caption")
    numbers = np.select([*choices.values()], [*range(len(choices))], len(choices))
    names = [*choices, Role.OTHER]
    return [names[number] for number in numbers.tolist()]
