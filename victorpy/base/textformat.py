"""Syntax of config and template files: comments, quotes and the expansion of ``{a,b}``."""

from __future__ import annotations

import re
from pathlib import Path

_TOKEN = re.compile(r"""(?P<quoted>"[^"]*"|'[^']*')|(?P<bare>(?:\{[^{}]*\}|[^\s"'{}]|[{}])+)""")
MOST_EXPANSIONS = 10_000

_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file. Raises ValueError with the line number if it is not UTF-8."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(f"{path}:{line}: cannot be read: the file is not UTF-8") from error


def strip_comment(line: str) -> str:
    """Remove a comment: ``#`` at the start of a line or after white space, outside quotes.

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
    braces = _BRACES.search(text)
    if not braces:
        return [text]
    bounds = _RANGE.fullmatch(braces[1].strip())
    if bounds:
        first, last = int(bounds[1]), int(bounds[2])
        if abs(last - first) > MOST_EXPANSIONS:
            raise ValueError(f"a range has more than {MOST_EXPANSIONS:,} values: {braces[1]!r}")
        step = 1 if first <= last else -1
        choices = [str(number) for number in range(first, last + step, step)]
    else:
        choices = [choice.strip() for choice in braces[1].split(",")]
    start, end = text[: braces.start()], text[braces.end() :]
    expanded = dict.fromkeys(full for choice in choices for full in expand(start + choice + end))
    if len(expanded) > MOST_EXPANSIONS:
        raise ValueError(f"braces expand to more than {MOST_EXPANSIONS:,} values: {text[:60]!r}")
    return list(expanded)
