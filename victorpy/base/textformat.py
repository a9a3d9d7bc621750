"""Syntax of config and template files: includes, comments, quotes and the expansion of ``{a,b}``.

All sizes are limited, because a config or a template may come from somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from victorpy.base import resources
from victorpy.base.files import read_bounded
from victorpy.errors import VictorError, suggest

MOST_BYTES = 1_000_000  # maximum size of a config or template, including all files that it includes
MOST_FILES = 50

_INCLUDE = re.compile(r"include\s+([^\s:].*)")
_TOKEN = re.compile(r"""(?P<quoted>"[^"]*"|'[^']*')|(?P<bare>(?:\{[^{}]*\}|[^\s"'{}]|[{}])+)""")
MOST_EXPANSIONS = 10_000
MOST_BRACES = 100  # maximum number of braces in one value or template line
_MOST_CHARACTERS = 100_000  # maximum number of characters in all expansions of a value

_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(-?\d{1,9})\.\.(-?\d{1,9})")


class Line(NamedTuple):
    """A line of a config or template, without comment."""

    place: str  # FILE:LINE
    text: str
    raw: str  # the line as written
    foreign: bool
    """Whether the file is outside the directory of the file that the user named. Errors must not quote such lines."""


class LineReader:
    """Reads a config or template. The lines of an included file replace the line that includes it."""

    def __init__(self, kind: str, suffix: str, error: type[VictorError], may_include: bool) -> None:
        self._kind, self._suffix, self._error, self._may_include = kind, suffix, error, may_include
        self._open: list[Path] = []
        self._done: set[Path] = set()
        self._bytes_left = MOST_BYTES

    def read(self, path: Path, place: str = "") -> Iterator[Line]:
        """Yield the lines of a file. `place` is the line that includes it."""
        lines = self._read_lines(path, place)
        real = path.resolve()
        self._open.append(real)
        shipped = resources.shipped(self._kind).resolve()
        foreign = not any(real.is_relative_to(home) for home in (self._open[0].parent, shipped))
        for number, raw in enumerate(lines, 1):
            line = Line(f"{path}:{number}", strip_comment(raw).strip(), raw, foreign)
            include = _INCLUDE.fullmatch(line.text)
            if include is None:
                yield line
            else:
                yield from self._include(include[1], line, path.parent)
        self._open.pop()
        self._done.add(real)

    def _include(self, name: str, line: Line, directory: Path) -> Iterator[Line]:
        if not self._may_include:
            raise self._error(f"{line.place}: a file of a model cannot include other files")
        path = resources.find(name, self._kind, self._suffix, beside=directory)
        shown, kind = "this file" if line.foreign else repr(name[:200]), self._kind.removesuffix("s")
        if path is None:
            suggestion = "" if line.foreign else suggest(name, resources.names(self._kind, self._suffix))
            raise self._error(f"{line.place}: no {kind} {shown} to include{suggestion}")
        if path.resolve() in self._open:
            raise self._error(f"{line.place}: {shown} includes itself")
        if len(self._done) + len(self._open) >= MOST_FILES:
            raise self._error(f"{line.place}: a {kind} includes at most {MOST_FILES} files")
        if path.resolve() not in self._done:  # read a file once, even if several files include it
            yield from self.read(path, line.place)

    def _read_lines(self, path: Path, place: str) -> list[str]:
        try:
            content = read_bounded(path, self._bytes_left)
            self._bytes_left -= len(content)
            return content.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
        except OSError as error:
            raise self._error(f"{place or path}: cannot be read: {error}") from error
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise self._error(f"{path}:{line}: cannot be read: the file is not UTF-8") from error


def strip_comment(line: str) -> str:
    """Remove a comment. It begins with ``#`` at the start of a line or after white space, outside quotes.

    >>> strip_comment('class-list: li  # items')
    'class-list: li'
    >>> strip_comment('regexp-x: "a # b"')
    'regexp-x: "a # b"'
    """
    if "#" not in line:
        return line.rstrip()
    quote = ""
    for at, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "#" and (at == 0 or line[at - 1].isspace()):
            return line[:at].rstrip()
    return line.rstrip()


def tokens(text: str) -> list[tuple[str, bool]]:
    """Split text at white space into values. The second item is true if the value was quoted."""
    if _TOKEN.sub("", text).strip():
        raise ValueError(f"a quote is not closed in {text.strip()!r}")
    return [
        (match["quoted"][1:-1], True) if match["quoted"] else (match["bare"], False) for match in _TOKEN.finditer(text)
    ]


def expand(text: str) -> list[str]:
    """Expand braces. The last braces vary fastest, and ``{-1..1}`` is a range of numbers.

    >>> expand("token.{alpha,num}-{abs,rel}")
    ['token.alpha-abs', 'token.alpha-rel', 'token.num-abs', 'token.num-rel']
    >>> expand("%x[{-1..1},position]")
    ['%x[-1,position]', '%x[0,position]', '%x[1,position]']
    """
    if text.count("{") > MOST_BRACES:
        raise ValueError(f"a value has more than {MOST_BRACES} braces: {text[:60]!r}")
    texts = [text]
    while _BRACES.search(texts[0]):
        expanded: dict[str, None] = {}
        room = _MOST_CHARACTERS
        for part in texts:
            braces = _BRACES.search(part)
            assert braces is not None  # choices contain no braces, so all texts have the same ones
            choices = _choices(braces[1])
            start, end = part[: braces.start()], part[braces.end() :]
            room -= len(choices) * len(start + end) + len(braces[0])
            if room < 0 or len(expanded) + len(choices) > MOST_EXPANSIONS:
                raise ValueError(
                    f"braces expand to more than {MOST_EXPANSIONS:,} values or to long ones: {text[:60]!r}"
                )
            expanded |= dict.fromkeys(start + choice + end for choice in choices)
        texts = list(expanded)
    return texts


def _choices(inside: str) -> list[str]:
    bounds = _RANGE.fullmatch(inside.strip())
    if not bounds:
        return [choice.strip() for choice in inside.split(",")]
    first, last = int(bounds[1]), int(bounds[2])
    if abs(last - first) > MOST_EXPANSIONS:
        raise ValueError(f"a range has more than {MOST_EXPANSIONS:,} values: {inside!r}")
    step = 1 if first <= last else -1
    return [str(number) for number in range(first, last + step, step)]
