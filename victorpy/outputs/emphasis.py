"""Bold and italic in Markdown, written so that CommonMark reads them.

A sign can begin an emphasis only if it is not between a letter and punctuation, as in ``tea**(hot)**``, and end one
only if it is not between punctuation and a letter, as in ``**Note:**tea``. In such a place the punctuation is moved out
of the emphasis; if that leaves nothing, there is no emphasis.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable, Sequence
from itertools import groupby, takewhile
from typing import NamedTuple

_SIGNS = {"bold": "**", "italic": "*"}
_PLAIN: frozenset[str] = frozenset()


class Span(NamedTuple):
    """A stretch of text with one look."""

    text: str
    styles: frozenset[str]


def emphasise(spans: Sequence[Span], write: Callable[[Span], str], before: str = " ", after: str = " ") -> str:
    """Write spans with the signs of their styles; `before` and `after` are the characters around them.

    >>> bold, plain = frozenset(["bold"]), frozenset()
    >>> emphasise([Span("Note:", bold), Span("tea is ", plain), Span("(very) hot", bold)], lambda span: span.text)
    '**Note**:tea is **(very) hot**'
    """
    styles = spans[0].styles if len(spans) == 1 else _PLAIN.union(*[span.styles for span in spans])
    if styles.isdisjoint(_SIGNS):
        return "".join(map(write, spans))
    for style in _SIGNS:
        if style in styles:
            spans = _narrow(spans, style, before, after)
    return _write_signs(spans, write)


def _narrow(spans: Sequence[Span], style: str, before: str, after: str) -> list[Span]:
    """Take a style from white space at its edges, and from punctuation where its sign would not count as one."""
    written = "".join("`" * len(span.text) if "code" in span.styles else span.text for span in spans)
    context = before + written + after
    narrowed: list[Span] = []
    offset = len(before)
    for has_style, stretch in groupby(spans, lambda span: style in span.styles):
        members = [*stretch]
        length = sum(len(span.text) for span in members)
        if not has_style:
            narrowed += members
            offset += length
            continue
        first, last = _emphasis_range(context, offset, offset + length)
        for text, styles in members:
            start = max(first - offset, 0)
            stop = max(last - offset, start)
            cut = [(text[:start], styles - {style}), (text[start:stop], styles), (text[stop:], styles - {style})]
            narrowed += [Span(*part) for part in cut if part[0]]
            offset += len(text)
    return narrowed


def _emphasis_range(text: str, start: int, stop: int) -> tuple[int, int]:
    """Return where in a stretch of a text an emphasis can begin and end."""
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    if start < stop and _may_be_punctuation(text[start]) and not _sets_off(text[start - 1]):
        while start < stop and (text[start].isspace() or _may_be_punctuation(text[start])):
            start += 1
    if start < stop and _may_be_punctuation(text[stop - 1]) and not _sets_off(text[stop]):
        while start < stop and (text[stop - 1].isspace() or _may_be_punctuation(text[stop - 1])):
            stop -= 1
    return start, stop


def _may_be_punctuation(char: str) -> bool:
    """Whether some version of CommonMark takes a character for punctuation; only new ones count symbols."""
    return not char.isalnum() and unicodedata.category(char)[0] in "PS"


def _sets_off(char: str) -> bool:
    """Whether every version takes a character for punctuation or white space."""
    return char.isspace() or char in string.punctuation or unicodedata.category(char)[0] == "P"


def _write_signs(spans: Sequence[Span], write: Callable[[Span], str]) -> str:
    """Write spans with signs, the longer emphasis around the shorter.

    Some emphasis is dropped because Markdown cannot say it:

    - None begins where another ends, since their signs would mix: ``**tea***hot*``.
    - If two began together (``***tea``), none begins in the middle of a word while one of them is open: the rest of
      ``***`` would take its sign for an end, as in ``***tea** ho*t*``.
    """
    written: list[str] = []
    open_styles: list[str] = []  # the outermost first
    dropped = _PLAIN
    two_began_together = False
    for number, span in enumerate(spans):
        wanted = span.styles.intersection(_SIGNS)
        kept = 0
        while kept < len(open_styles) and open_styles[kept] in wanted:
            kept += 1
        ending, open_styles = open_styles[kept:], open_styles[:kept]  # with a style all styles inside it end
        beginning = wanted.difference(open_styles)
        two_began_together = two_began_together and bool(open_styles)
        in_word = two_began_together and not spans[number - 1].text[-1].isspace()
        dropped = beginning if ending or in_word else dropped & beginning  # for as long as the style lasts
        begun = sorted(beginning - dropped)
        if len(begun) > 1:
            two_began_together = True
            begun.sort(key=lambda style: _length(spans[number:], style), reverse=True)
        open_styles += begun
        written += [_SIGNS[style] for style in [*reversed(ending), *begun]]
        written.append(write(span))
    return "".join([*written, *[_SIGNS[style] for style in reversed(open_styles)]])


def _length(spans: Sequence[Span], style: str) -> int:
    """Count the spans that have a style, up to the first that does not."""
    return sum(1 for _ in takewhile(lambda span: style in span.styles, spans))
