"""The text of blocks made safe for a terminal and cut into lines that fit.

Characters that steer a terminal or the direction of writing are shown by number, those without a width of their own as
a dot, those that nobody knows as a box. What is left has the width that urwid says it has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import urwid

from victorpy.document import Block, Document
from victorpy.markup import pieces

MOST_SHOWN = 5_000
"""Of a longer block only so many characters are shown."""
LONGEST_WORD = 25
"""A line is cut at a space unless the word behind it is longer: such scripts have no spaces."""

DOT, BOX, RING = "·", "□", "\u25cc"

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LOOKS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x1F3FB, 0x1F400))
"""Variation selectors and skin tones: the look of the character before them, on which terminals do not agree."""
_STACK = re.compile(
    r"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{3})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+"
)


RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
"""Text in which terminals may turn a line around."""


class _Visible(dict[int, str]):
    """What each character is shown as, decided when it is first met."""

    def __missing__(self, code: int) -> str:
        shown = self[code] = _shown(chr(code))
        return shown


def _shown(char: str) -> str:
    category = unicodedata.category(char)
    if char in "\t\n\r" or category in {"Zs", "Zl", "Zp"}:
        return " "
    if category in {"Cc", "Cs"} or char in _TURNING:
        return f"⟨U+{ord(char):04X}⟩"
    if any(ord(char) in looks for looks in _LOOKS):
        return ""
    if category == "Cf":
        return DOT
    return BOX if category in {"Co", "Cn"} else char


_VISIBLE = _Visible()


def visible(text: str) -> str:
    r"""Make text safe for a terminal.

    >>> visible("a\x1b[31mb\u202ec\u200bd")
    'a⟨U+001B⟩[31mb⟨U+202E⟩c·d'
    """
    if text.isascii() and text.isprintable():
        return text
    shown = _STACK.sub(r"\1", text.translate(_VISIBLE))
    alone = shown and unicodedata.category(shown[0]) in {"Mn", "Me", "Mc"}  # it would join what stands before the text
    return RING + shown if alone else shown


def width_of(text: str) -> int:
    """How many columns text takes."""
    return len(text) if text.isascii() else urwid.calc_width(text, 0, len(text))


def cut(text: str, width: int) -> str:
    """As much of a text as fits."""
    if width_of(text) <= width:
        return text
    if text.isascii():
        return text[: max(width, 0)]
    return text[: urwid.calc_text_pos(text, 0, len(text), max(width, 0))[0]]


def fit(text: str, width: int) -> str:
    """Cut a text or fill it with spaces, so that it takes just so many columns; what is cut off is hinted at."""
    if width_of(text) > width:
        text = cut(text, width - 1) + "…" if width > 1 else cut(text, width)
    return text + " " * (width - width_of(text))


def wrap(text: str, width: int) -> list[tuple[int, int]]:
    """Cut text into lines: where each begins and stops."""
    lines = []
    start, length = 0, len(text)
    width = max(width, 2)
    while start < length:
        stop = _line_stop(text, start, length, width)
        lines.append((start, start + len(text[start:stop].rstrip(" "))))
        start = stop
        while start < length and text[start] == " ":
            start += 1
    return lines or [(0, 0)]


def _line_stop(text: str, start: int, length: int, width: int) -> int:
    near = min(length, start + 8 * width)  # the look ahead is bounded, so that a long text costs what it is long
    ahead = text[start:near]
    reach = width if ahead.isascii() else urwid.calc_text_pos(text, start, near, width)[0] - start
    stop = min(start + max(reach, 1), length)
    if stop == length or text[stop] == " ":
        return stop
    space = text.rfind(" ", start, stop)
    return space + 1 if space > start and stop - space <= LONGEST_WORD and text[start:space].strip() else stop


class Span(NamedTuple):
    """A stretch of text with one look."""

    look: str
    """Nothing, or one of link, heading and hit."""
    text: str


class Shown(NamedTuple):
    """A block's text as it is shown, and what stands before it."""

    mark: str
    """What the block is, in a sign or a word: a heading's level, an item's bullet."""
    spans: tuple[Span, ...]
    indent: int


_INDENTING = frozenset(["ul", "ol", "dl", "dir", "menu", "blockquote", "table"])
_HEADINGS = {f"h{level}": f"h{level} " for level in range(1, 7)}
DEEPEST_INDENT = 5


def show_block(block: Block, document: Document) -> Shown:
    """Make a block's text ready to be shown: links, headings, items, pictures and hidden text can be told apart."""
    heading = next((_HEADINGS[tag] for tag in reversed(block.containers) if tag in _HEADINGS), "")
    marks = [heading, "• " if "li" in block.distance else ""]
    marks.append("[picture] " if block.element >= 0 and document.elements.tag[block.element] == "img" else "")
    marks.append("[hidden] " if block.hidden else "")
    depth = sum(tag in _INDENTING for tag in block.containers)
    return Shown("".join(marks), _spans(block, document, "heading" if heading else ""), min(depth, DEEPEST_INDENT))


def _spans(block: Block, document: Document, look: str) -> tuple[Span, ...]:
    spans = []
    room = MOST_SHOWN
    for piece, (_, text) in zip(block.pieces, pieces(block), strict=True):
        shown = visible(text[:room].expandtabs(4))
        spans.append(Span("link" if _in_link(piece.element, document) else look, shown))
        room -= len(text)
        if room <= 0:
            spans.append(Span("", f" … {len(block.text) - MOST_SHOWN:,} more characters"))
            break
    return tuple(spans)


def _in_link(element: int, document: Document) -> bool:
    elements = document.elements
    while element >= 0:
        if elements.tag[element] == "a":
            return True
        element = elements.parent[element]
    return False


def mark_hits(spans: Sequence[Span], pattern: str) -> Sequence[Span]:
    """Give what was searched for a look of its own, also where it goes on in the next span.

    >>> mark_hits([Span("", "Green t"), Span("link", "ea")], "TEA")
    [Span(look='', text='Green '), Span(look='hit', text='t'), Span(look='hit', text='ea')]
    """
    wanted = visible(pattern)
    if not wanted.strip():
        return spans
    text = "".join(span.text for span in spans)
    marked: list[Span] = []
    at = 0
    for found in re.finditer(re.escape(wanted), text, re.IGNORECASE):
        marked += _between(spans, at, found.start())
        marked += [Span("hit", piece.text) for piece in _between(spans, found.start(), found.end())]
        at = found.end()
    return [*marked, *_between(spans, at, len(text))] if marked else spans


def lines_of(spans: Sequence[Span], width: int) -> list[list[Span]]:
    """Cut spans into lines that fit."""
    text = "".join(span.text for span in spans)
    return [list(_between(spans, start, stop)) for start, stop in wrap(text, width)]


def _between(spans: Iterable[Span], start: int, stop: int) -> Iterable[Span]:
    at = 0
    for look, text in spans:
        piece = text[max(start - at, 0) : max(stop - at, 0)]
        if piece:
            yield Span(look, piece)
        at += len(text)
        if at >= stop:
            break
