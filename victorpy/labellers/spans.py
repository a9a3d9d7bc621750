"""Split the text of a block into sentences or smaller parts, and keep some of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from victorpy.document import Block, Document, Spans

SENTENCE_END = re.compile(r"(?<=[.!?؟।])\s+|(?<=[。！？])\s*")

PART_END = re.compile(rf"{SENTENCE_END.pattern}|\s*[|>»›→•·]+\s*|\s+(?:[-–—/\\]|::)\s+")
"""Matches the end of a sentence, or a separator in a path or a title, as in ``Home > Tea`` and ``Tea | Tea shop``."""

SPACE = re.compile(r"\s+")


def split_text(text: str, end: re.Pattern[str], cuts: Iterable[int] = ()) -> list[tuple[int, int]]:
    """Split a text at the matches of a pattern and at some offsets. Return the stretches in between.

    >>> split_text("Home > Tea shop", PART_END, cuts=[10])
    [(0, 4), (7, 10), (10, 15)]
    """
    separators = [match.span() for match in end.finditer(text)]
    separators += [(cut, cut) for cut in cuts if not any(start <= cut <= stop for start, stop in separators)]
    stops = [*sorted(separators), (len(text), len(text))]
    starts = [0, *(stop for _, stop in stops)]
    return [(start, stop) for start, (stop, _) in zip(starts, stops, strict=False) if start < stop]


def link_cuts(document: Document, block: Block) -> list[int]:
    """Return the offsets between links if a block is a row of links, such as a path without separators."""
    if len(block.pieces) < 3:
        return []
    elements = document.elements
    links = [elements.ancestor(piece.element, ["a"]) for piece in block.pieces]
    changes = [number for number in range(1, len(links)) if links[number] != links[number - 1]]
    has_neighbours = any(min(links[number - 1 : number + 1]) >= 0 for number in changes)
    is_row = has_neighbours and sum(link >= 0 for link in links) > len(links) / 2
    return [block.pieces[number].start for number in changes] if is_row else []


def join_kept(text: str, stretches: Sequence[tuple[int, int]], kept: Sequence[bool]) -> Spans | None:
    """Return the spans of the kept stretches, or None if all are kept.

    The separator between two kept stretches is kept. If stretches between them are dropped, the separator before the
    second one is kept.

    >>> text = "Home > Tea > Green > Sencha"
    >>> spans = join_kept(text, split_text(text, PART_END), [False, True, False, True])
    >>> [text[start:stop] for start, stop in spans]
    ['Tea', '> Sencha']
    """
    if all(kept):
        return None  # also if there are no stretches
    spans: list[tuple[int, int]] = []
    for number, ((start, stop), is_kept) in enumerate(zip(stretches, kept, strict=True)):
        if not is_kept:
            continue
        end = stop if number + 1 < len(stretches) else len(text)
        if not number:
            spans.append((0, end))
        elif kept[number - 1]:
            spans[-1] = spans[-1][0], end
        else:
            separator = text[stretches[number - 1][1] : start].lstrip() if spans else ""
            spans.append((start - len(separator), end))
    return tuple(spans)
