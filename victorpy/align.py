"""Gold text to a label for every block.

The words of the page and those of the gold are aligned by their longest common subsequence; a block of
whose words enough are aligned is content. Gold with tagged segments says what kind of content it is;
where gold is mere text, the page's markup does.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from victorpy.document import Block, Document, Label

# How many of a block's words must be in the gold for the block to be content.
ENOUGH = 0.5

# How many places of the gold are tried for a block that is out of order, so that no page takes long.
MOST_PLACES = 100

# Letters of scripts without spaces are words of their own; elsewhere a word is a run of letters and digits.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")

_HEADERS = frozenset("h1 h2 h3 h4 h5 h6".split())
_ITEMS = frozenset("li dt dd".split())
_INLINE_BREAKS = frozenset(["br"])


class Gold(NamedTuple):
    """A stretch of gold text and what it is, if the gold says so."""

    text: str
    label: Label | None = None


def words(text: str) -> list[str]:
    """Cut text into words, in lower case.

    >>> words("The Cat's 9 lives: 九条命")
    ['the', 'cat', 's', '9', 'lives', '九', '条', '命']
    """
    return _WORD.findall(text.lower())


def align(document: Document, gold: Sequence[Gold], block_level: frozenset[str]) -> tuple[Label, ...]:
    """Label every block of a page by its gold."""
    owners = _Alignment(document.blocks, gold).owners()
    labels: list[Label] = []
    last_segment, last_content = -1, -1
    for block, segment in zip(document.blocks, owners, strict=True):
        if segment is None:
            labels.append(Label.OTHER)
            continue
        told = gold[segment].label
        goes_on = block.index == last_content + 1 and _goes_on(block, block_level)
        if told is None:
            label = Label.CONTINUATION if goes_on else _kind(block)
        else:
            label = Label.CONTINUATION if segment == last_segment else told
        labels.append(label)
        last_segment, last_content = segment, block.index
    return tuple(labels)


class _Alignment:
    """Finds, for every block of a page, the segment of the gold that it belongs to, if any."""

    def __init__(self, blocks: Sequence[Block], gold: Sequence[Gold]) -> None:
        self._page = [words(block.text) for block in blocks]
        self._gold = [word for segment in gold for word in words(segment.text)]
        self._segment = [number for number, segment in enumerate(gold) for _ in words(segment.text)]
        self._matched: set[int] = set()  # places of gold words that a block has

    def owners(self) -> list[int | None]:
        """Align in page order, then mend what order hides."""
        owners = self._in_order()
        self._adopt_moved(owners)
        _prefer_neighbours(owners, [" ".join(found) for found in self._page])
        _adopt_wordless(owners, self._page)
        return owners

    def _in_order(self) -> list[int | None]:
        """Align by the longest common subsequence; a block of whose words enough are aligned is content."""
        votes: list[dict[int, int]] = [{} for _ in self._page]
        block_of = [block for block, found in enumerate(self._page) for _ in found]
        pairs = _matches([word for found in self._page for word in found], self._gold)
        for at, other in pairs:
            vote = votes[block_of[at]]
            vote[self._segment[other]] = vote.get(self._segment[other], 0) + 1
        owners: list[int | None] = []
        for vote, found in zip(votes, self._page, strict=True):
            enough = bool(vote) and sum(vote.values()) >= ENOUGH * len(found)
            owners.append(max(vote, key=lambda segment: vote[segment]) if enough else None)
        self._matched = {other for at, other in pairs if owners[block_of[at]] is not None}
        return owners

    def _adopt_moved(self, owners: list[int | None]) -> None:
        """Find blocks that stand elsewhere in the gold than in the page: whole, in gold that no block has yet."""
        pairs: dict[tuple[str, str], list[int]] = {}
        for at, pair in enumerate(itertools.pairwise(self._gold)):
            if at not in self._matched:
                pairs.setdefault(pair, []).append(at)
        for block, found in enumerate(self._page):
            if owners[block] is None and len(found) > 1:
                place = self._unmatched_place(found, pairs.get((found[0], found[1]), ()))
                if place is not None:
                    owners[block] = self._segment[place]
                    self._matched.update(range(place, place + len(found)))

    def _unmatched_place(self, found: list[str], places: Sequence[int]) -> int | None:
        """Where these words stand together in gold that is still free; only so many places are tried."""
        for at in places[:MOST_PLACES]:
            if self._gold[at : at + len(found)] == found and self._matched.isdisjoint(range(at, at + len(found))):
                return at
        return None


def _matches(page: Sequence[str], gold: Sequence[str]) -> list[tuple[int, int]]:
    """Align two word sequences: pairs of places that hold the same word."""
    numbers: dict[str, int] = {}
    ours = [numbers.setdefault(word, len(numbers)) for word in page]
    theirs = [numbers.setdefault(word, len(numbers)) for word in gold]
    pairs: list[tuple[int, int]] = []
    for code in LCSseq.opcodes(ours, theirs):
        if code.tag == "equal":
            pairs += zip(range(code.src_start, code.src_end), range(code.dest_start, code.dest_end), strict=True)
    return pairs


def _prefer_neighbours(owners: list[int | None], texts: Sequence[str]) -> None:
    """Of blocks with the same text, in a menu and above the article say, take the one nearest to other content."""
    places: dict[str, list[int]] = {}
    for block, text in enumerate(texts):
        places.setdefault(text, []).append(block)
    content = [block for block, owner in enumerate(owners) if owner is not None]
    for number, block in enumerate(content):
        before = content[number - 1] if number else -len(owners)
        after = content[number + 1] if number + 1 < len(content) else 2 * len(owners)
        choices = [other for other in places[texts[block]] if before < other < after and owners[other] is None]
        best = min([block, *choices], key=lambda other: min(other - before, after - other))
        if best != block and texts[block]:
            owners[best], owners[block] = owners[block], None
            content[number] = best


def _adopt_wordless(owners: list[int | None], page_words: Sequence[Sequence[str]]) -> None:
    """A block without words, a lone full stop say, goes with its neighbours where both are of one mind."""
    for at in range(1, len(owners) - 1):
        if not page_words[at] and owners[at - 1] is not None and owners[at - 1] == owners[at + 1]:
            owners[at] = owners[at - 1]


def _goes_on(block: Block, block_level: frozenset[str]) -> bool:
    """Whether a block continues the line before: nothing but inline tags and one line break came between."""
    breaks = [tag.lstrip("/") for tag in block.distance if tag.lstrip("/") in block_level]
    return len(breaks) <= 1 and set(breaks) <= _INLINE_BREAKS


def _kind(block: Block) -> Label:
    for tag in reversed(block.containers):
        if tag in _HEADERS:
            return Label.HEADER
        if tag in _ITEMS:
            return Label.LIST
    return Label.PARAGRAPH
