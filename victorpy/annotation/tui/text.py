"""Text for a terminal: make it safe, measure it in columns, wrap it, and style it.

Control characters, including text-direction marks, are shown as code points, other characters without a width as a dot,
and unassigned characters as a box. urwid knows the width of all other characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

import urwid

from victorpy import errors
from victorpy.document import Label

Cell = tuple[str, str]  # the name of a style (see `palette`) and a text
Row = list[Cell]

LONGEST_WORD = 25  # break lines at spaces, except before longer words: some scripts have no spaces

DOT, BOX, RING = "·", "□", "\u25cc"

_MODIFIERS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x1F3FB, 0x1F400))
"""Variation selectors and skin tones. Terminals disagree on their width."""
_COMBINING = r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_STACK = re.compile(f"({_COMBINING}{{3}}){_COMBINING}+")
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
"""Matches text that makes some terminals reverse a line."""


class _SafeCharacters(dict[int, str]):
    """Translation table for `visible`, filled on demand."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if char in "\t\n\r" or category in {"Zs", "Zl", "Zp"}:
            shown = " "
        elif errors.visible(char) != char:
            shown = errors.visible(char)
        elif any(code in modifiers for modifiers in _MODIFIERS):
            shown = ""
        elif category == "Cf":
            shown = DOT
        else:
            shown = BOX if category in {"Co", "Cn"} else char
        self[code] = shown
        return shown


_SAFE = _SafeCharacters()


def visible(text: str) -> str:
    r"""Make text safe for a terminal.

    >>> visible("a\x1b[31mb\u202ec\u200bd")
    'a⟨U+001B⟩[31mb⟨U+202E⟩c·d'
    """
    if text.isascii() and text.isprintable():
        return text
    shown = _STACK.sub(r"\1", text.translate(_SAFE))
    starts_with_mark = shown and unicodedata.category(shown[0]) in {"Mn", "Me", "Mc"}
    return RING + shown if starts_with_mark else shown  # the ring keeps the mark from joining the previous text


def width_of(text: str) -> int:
    """Return how many columns a text takes."""
    return len(text) if text.isascii() else urwid.calc_width(text, 0, len(text))


def cut(text: str, width: int) -> str:
    """Return as much of a text as fits."""
    if width_of(text) <= width:  # much faster than `calc_text_pos`
        return text
    return text[: urwid.calc_text_pos(text, 0, len(text), max(width, 0))[0]]


def fit(text: str, width: int) -> str:
    """Cut or pad a text to a width. An ellipsis shows that something was cut off."""
    if width_of(text) > width:
        text = f"{cut(text, width - 1)}…" if width > 1 else cut(text, width)
    return text + " " * (width - width_of(text))


def wrap(text: str, width: int) -> list[tuple[int, int]]:
    """Wrap a text: return the start and stop of each line."""
    lines = []
    start, length = 0, len(text)
    width = max(width, 2)
    while start < length:
        near = min(length, start + 8 * width)  # bounded, so that the cost is linear in the length of the text
        is_ascii = text[start:near].isascii()
        characters = width if is_ascii else urwid.calc_text_pos(text, start, near, width)[0] - start
        stop = min(start + max(characters, 1), length)
        if stop < length and text[stop] != " ":  # in the middle of a word: cut before it
            space = text.rfind(" ", start, stop)
            if space > start and stop - space <= LONGEST_WORD and text[start:space].strip():
                stop = space + 1
        lines.append((start, start + len(text[start:stop].rstrip(" "))))
        start = stop
        while start < length and text[start] == " ":
            start += 1
    return lines or [(0, 0)]


def wrap_after(head: Cell, text: str, width: int) -> list[Row]:
    """Wrap a text after a label, which only the first row shows. One column stays free."""
    lines = [text[start:stop] for start, stop in wrap(text, max(width - len(head[1]) - 1, 10))]
    blank = ("pane", " " * len(head[1]))
    return [[blank if number else head, ("pane", line)] for number, line in enumerate(lines)]


def between(cells: Sequence[Cell], start: int, stop: int) -> Iterator[Cell]:
    """Yield the part of a row between two characters."""
    offset = 0
    for style, text in cells:
        part = text[max(start - offset, 0) : max(stop - offset, 0)]
        if part:
            yield style, part
        offset += len(text)
        if offset >= stop:
            break


def cut_row(row: Sequence[Cell], width: int) -> Row:
    """Return as much of a row as fits."""
    text = text_of(row)
    return list(row) if width_of(text) <= width else list(between(row, 0, len(cut(text, width))))


def text_of(row: Sequence[Cell]) -> str:
    """Return the text of a row."""
    return "".join(text for _, text in row)


# Styles
#
# Labels have a coloured background. Text keeps the terminal's own colours, so that it is readable on light and dark
# terminals. Without colours, styles are bold, underlined and reversed, and letters show the labels.

HIT = "hit"  # the style of search hits
_PLAIN = "default"
_BOLD = ("default,bold", _PLAIN, "bold", "default,bold", _PLAIN)
_GREY = (_PLAIN, _PLAIN, _PLAIN, "g50", _PLAIN)
_LABEL_BACKGROUNDS = {
    Label.HEADER: ("dark magenta", "#808"),
    Label.PARAGRAPH: ("dark green", "#060"),
    Label.LIST: ("dark cyan", "#066"),
    Label.CONTINUATION: ("dark blue", "#048"),
    Label.OTHER: ("dark red", "#a33"),
}
"""Backgrounds of labels, with 8 and with 256 colours."""


def palette() -> list[tuple[str, str, str, str, str, str]]:
    """Return all styles for urwid.

    Each has a name, foreground and background for 8 colours, a style without colours, and both for 256 colours.
    """
    styles = {
        "bar": ("white", "dark blue", "standout", "#fff", "#035"),
        "message": ("black", "brown", "standout", "#000", "#fd8"),
        "error": ("white", "dark red", "standout,bold", "#fff,bold", "#a00"),
        "rule": _GREY,
        "gutter": _GREY,
        "gutter current": ("black,bold", "brown", "standout,bold", "#000,bold", "#fc6"),
        "gutter selected": ("black", "dark cyan", "standout", "#000", "#6cf"),
        "uncertain": ("dark red,bold", _PLAIN, "bold", "#d60,bold", _PLAIN),
        HIT: ("black", "brown", "standout", "#000", "#fd8"),
        "changed": ("dark magenta,bold", _PLAIN, "bold", "#c5f,bold", _PLAIN),
        "confirmed": ("dark green,bold", _PLAIN, "bold", "#2a2,bold", _PLAIN),
        "pane": (_PLAIN,) * 5,
        "pane head": ("default,bold,underline", _PLAIN, "bold,underline", "default,bold,underline", _PLAIN),
        "pane here": _BOLD,
        "key": _BOLD,
        "prompt": _BOLD,
        "label none": ("black", "light gray", "standout", "#000", "g70"),
    }
    for label, (basic, background) in _LABEL_BACKGROUNDS.items():
        styles[f"label {label}"] = ("white", basic, "standout", "#fff,bold", background)
    for kind, colour in (("content", _PLAIN), ("noise", "g50")):
        styles[kind] = (_PLAIN, _PLAIN, _PLAIN, colour, _PLAIN)
        styles[f"{kind} link"] = ("default,underline", _PLAIN, "underline", f"{colour},underline", _PLAIN)
        styles[f"{kind} heading"] = ("default,bold", _PLAIN, "bold", f"{colour},bold", _PLAIN)
        styles[f"{kind} mark"] = _GREY
    return [(name, *style) for name, style in styles.items()]


def text_style(label: Label | None, style: str) -> str:
    """Return the style of a block's text. Noise is paler if the terminal can show that."""
    if style == HIT:
        return HIT
    kind = "noise" if label is Label.OTHER else "content"
    return f"{kind} {style}" if style else kind
