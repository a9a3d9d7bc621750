"""Find the posts of a thread, such as the replies in a forum.

All posts of a thread have the same markup, and there are dates between them. If most of the kept text is in such
elements, the others are posts too. Comments below an article are not, because the article has different markup.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from victorpy.columns import Columns, Counts, Flags
from victorpy.columns.elements import running_total
from victorpy.model.role_patterns import text_marks

_LEVELS = 5  # from a block up to the element that holds the text of its post
_NO_BODIES = frozenset(["a", "li", "p", "span"])  # tags of elements that are only a part of a post
_HINTS = ("post", "message", "comment", "repl", "answer", "thread", "forum", "topic", "discuss")
_FEWEST_POSTS = 3
_LEAST_KEPT = 0.5  # words of posts, relative to all kept words
_LEAST_DATED = 0.5  # pairs of posts with a date between them
_MOST_BETWEEN = 40  # blocks between two posts that are searched for a date


def posts(kept: Flags, page: Columns, may_add: Flags) -> Flags:
    """Return the blocks of posts that are not kept, if the page is a thread. A post has a block that `may_add` it.

    Quotations of other posts are left out, and copies of posts, such as a best answer.
    """
    result = np.zeros(len(kept), dtype=bool)
    is_text = page.prose > 0
    candidates = np.flatnonzero(is_text & may_add & ~kept)
    if not len(candidates):
        return result
    has_kept = np.bincount(page.look, kept & is_text) > 0
    candidates = candidates[has_kept[page.look[candidates]]]
    bodies = next((bodies for bodies in _alike(candidates, page) if _is_thread(bodies, kept, page)), None)
    if bodies is None:
        return result
    quotation, aside = page.group("blockquote"), page.group("aside")
    for body, begin, end in zip(bodies.tolist(), *(edge[bodies].tolist() for edge in page.block_range), strict=True):
        is_quoted = (quotation[begin:end] > body) | (aside[begin:end] > body)
        result[begin:end] = (may_add | kept)[begin:end].any() & ~is_quoted
    result &= ~(kept | page.hidden | page.within("button") | page.within("img"))
    known = {page.texts[number] for number in np.flatnonzero(kept & is_text)}
    for number in np.flatnonzero(result & is_text):
        result[number] = page.texts[number] not in known
        known.add(page.texts[number])
    return result


def _alike(blocks: Counts, page: Columns) -> Iterator[Counts]:
    """Yield the elements with the same tag and class as an element around the blocks, the innermost elements first.

    One of the elements around the blocks must have the name of a post.
    """
    names, name_of_element = page.near_names
    around = {names[number] for number in name_of_element[page.ancestors[:, blocks]].ravel().tolist()}
    if not any(hint in "\n".join(around).lower() for hint in _HINTS):
        return
    by_class, tags = page.document.elements_by("class"), page.elements.tag
    first, stop = page.block_range
    seen = {""}
    for element in dict.fromkeys(page.ancestors[:_LEVELS, blocks].ravel().tolist()):
        name = page.document.attributes_of(element).get("class", "")
        if name not in seen and tags[element] not in _NO_BODIES:
            seen.add(name)
            same = np.array([other for other in by_class[name] if tags[other] == tags[element]])
            same = same[stop[same] > first[same]]
            if len(same) >= _FEWEST_POSTS and (page.stop[same[:-1]] <= same[1:]).all():
                yield same


def _is_thread(bodies: Counts, kept: Flags, page: Columns) -> bool:
    """Whether most of the kept text is in these elements, and dates separate most of them."""
    first, stop = (edge[bodies] for edge in page.block_range)
    kept_words = running_total(page.words * kept)
    if (kept_words[stop] - kept_words[first]).sum() < _LEAST_KEPT * kept_words[-1]:
        return False
    gaps = [*zip(stop[:-1].tolist(), first[1:].tolist(), strict=True)]
    between = [np.arange(begin, min(end, begin + _MOST_BETWEEN)) for begin, end in gaps]
    in_time = page.within("time")
    dated = sum(bool(in_time[blocks].any() or text_marks(page, "date", blocks).any()) for blocks in between)
    return dated >= _LEAST_DATED * len(between)
