"""The places of blocks in the decoded page, as character offsets."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<raw>script|style|textarea|title|noscript)\b.*?(?:</(?P=raw)\s*>|\Z)"
    r"|<[A-Za-z/!?](?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>|<[A-Za-z/!?][^>]*+>?",
    re.DOTALL | re.IGNORECASE,
)
_WORD = re.compile(r"&(?:#\w{1,8}|\w{1,32});?|[^\s&]+|&")
_MAX_SEARCHED = 50  # limit as a multiple of the text length, so that texts missing in the source do not take long


def find_offsets(source: str, texts: Sequence[str | None]) -> list[tuple[int, int] | None]:
    """Return where each text begins and ends in a page's source.

    The texts must be in the order of the page. Use None for a text that should be skipped. Texts that the parser has
    changed, such as formulas, are not found.

    >>> find_offsets("<p>Tea &amp; <b>milk</b>.", ["Tea & milk."])
    [(3, 25)]
    """
    words: list[str] = []
    starts: list[int] = []  # offset of each word in the text without white space
    # For each word, its start and stop in the source, and whether it is a character reference
    places: list[tuple[int, int, bool]] = []
    length = 0
    for start, stop in _words(source):
        word = source[start:stop]
        is_reference = word[0] == "&" and len(word) > 1
        if is_reference:
            word = html.unescape(word)
            if word.isspace():
                continue
        starts.append(length)
        places.append((start, stop, is_reference))
        words.append(word)
        length += len(word)
    stream = "".join(words)

    def place(position: int, is_end: bool) -> int:
        number = bisect_right(starts, position) - 1
        start, stop, is_reference = places[number]
        if is_reference:
            return stop if is_end else start
        return start + position - starts[number] + is_end

    found: list[tuple[int, int] | None] = []
    position, budget = 0, _MAX_SEARCHED * length + 1
    for text in texts:
        wanted = "".join((text or "").split())
        at = -1
        if wanted and budget > 0:
            at = position if stream.startswith(wanted, position) else stream.find(wanted, position)
            budget -= (at if at >= 0 else length) - position
        if at < 0:
            found.append(None)
            continue
        position = at + len(wanted)
        found.append((place(at, is_end=False), place(position - 1, is_end=True)))
    return found


def _words(source: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of words and character references outside tags."""
    done = 0
    for markup in _MARKUP.finditer(source):
        yield from (word.span() for word in _WORD.finditer(source, done, markup.start()))
        done = markup.end()
    yield from (word.span() for word in _WORD.finditer(source, done))
