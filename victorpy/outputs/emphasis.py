"""Bold and italic in Markdown, written so that CommonMark reads them.

The signs begin and end an emphasis only beside the right characters: one that begins it must not stand between a letter
and punctuation, as in ``tea**(hot)**``, nor one that ends it between punctuation and a letter, as in ``**Note:**tea``.
In such a place the punctuation is moved out of the emphasis; where that leaves nothing, there is none.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

_SIGNS = {"bold": "**", "italic": "*"}
_CODE = frozenset(["code"])
_PLAIN: frozenset[str] = frozenset()


class Span(NamedTuple):
    """A stretch of text with one look."""

    text: str
    styles: frozenset[str]


def emphasise(spans: Sequence[Span], write: Callable[[Span], str], before: str = " ", after: str = " ") -> str:
    """Write spans with the signs of their styles; `before` and `after` are the characters that stand around them.

    >>> bold, plain = frozenset(["bold"]), frozenset()
    >>> emphasise([Span("Note:", bold), Span("tea is ", plain), Span("(very) hot", bold)], lambda span: span.text)
    '**Note**:tea is **(very) hot**'
    """
    styles = spans[0].styles if len(spans) == 1 else _PLAIN.union(*[span.styles for span in spans])
    if styles.isdisjoint(_SIGNS):
        return "".join(map(write, spans))
    for style in _SIGNS:
        if style in styles:
            spans = _settled(spans, style, before, after)
    return _signed(spans, write)


def _settled(spans: Sequence[Span], style: str, before: str, after: str) -> list[Span]:
    """Take a style from white space, and from punctuation where its sign would be none, at its edges."""
    signs = "".join("`" * len(span.text) if "code" in span.styles else span.text for span in spans)
    around = before + signs + after
    settled: list[Span] = []
    at = len(before)
    for has_style, stretch in groupby(spans, lambda span: style in span.styles):
        held = [*stretch]
        stop = at + sum(len(span.text) for span in held)
        settled += _narrowed(held, style, at, *_core(around, at, stop)) if has_style else held
        at = stop
    return settled


def _core(text: str, start: int, stop: int) -> tuple[int, int]:
    """Where in a stretch of a text an emphasis can begin and end."""
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    if start < stop and _may_be_punctuation(text[start]) and not _sets_off(text[start - 1]):
        while start < stop and _is_edge(text[start]):
            start += 1
    if start < stop and _may_be_punctuation(text[stop - 1]) and not _sets_off(text[stop]):
        while start < stop and _is_edge(text[stop - 1]):
            stop -= 1
    return start, stop


def _may_be_punctuation(char: str) -> bool:
    """Whether some version of CommonMark takes a character for punctuation: symbols are so in new ones alone."""
    return not char.isalnum() and unicodedata.category(char)[0] in "PS"


def _sets_off(char: str) -> bool:
    """Whether every version takes a character for punctuation or white space."""
    return char.isspace() or char in string.punctuation or unicodedata.category(char)[0] == "P"


def _is_edge(char: str) -> bool:
    return char.isspace() or _may_be_punctuation(char)


def _narrowed(held: Sequence[Span], style: str, at: int, start: int, stop: int) -> list[Span]:
    """Leave a style to what lies between two places; `at` is where the spans begin."""
    narrowed: list[Span] = []
    for text, styles in held:
        first, last = max(start - at, 0), max(stop - at, 0)
        cut = [Span(text[:first], styles - {style}), Span(text[first:last], styles)]
        narrowed += [span for span in [*cut, Span(text[max(first, last) :], styles - {style})] if span.text]
        at += len(text)
    return narrowed


def _signed(spans: Sequence[Span], write: Callable[[Span], str]) -> str:
    """Write the signs, the longer emphasis around the shorter.

    None begins where one ends, as their signs would mix. Nor does one begin in the middle of a word or of punctuation
    inside another that began together with a third: what is left of ``***`` would take it for its end.
    """
    written: list[str] = []
    open_styles: list[str] = []
    dropped = _PLAIN
    began_together = False
    for number, span in enumerate(spans):
        wanted = span.styles - _CODE
        kept = next((at for at, style in enumerate(open_styles) if style not in wanted), len(open_styles))
        ending, open_styles = open_styles[kept:], open_styles[:kept]
        beginning = wanted.difference(open_styles)
        began_together = began_together and bool(open_styles)
        is_unclear = bool(ending) or (began_together and not spans[number - 1].text[-1].isspace())
        dropped = beginning if is_unclear else dropped & beginning
        begun = sorted(beginning - dropped)
        if len(begun) > 1:
            began_together = True
            begun.sort(key=lambda style: _length(spans, number, style), reverse=True)
        open_styles += begun
        written += [_SIGNS[style] for style in [*reversed(ending), *begun]]
        written.append(write(span))
    return "".join([*written, *[_SIGNS[style] for style in reversed(open_styles)]])


def _length(spans: Sequence[Span], start: int, style: str) -> int:
    """How many spans from one on have a style."""
    return next((at for at in range(start, len(spans)) if style not in spans[at].styles), len(spans)) - start
