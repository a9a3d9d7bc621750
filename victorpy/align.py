"""Gold text to a label for every block.

The words of the page and those of the gold are aligned by their longest common subsequence; a block of
whose words enough are aligned is content. Gold with tagged segments says what kind of content it is;
where gold is mere text, the page's markup does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from victorpy.document import Block, Document, Label

# How many of a block's words must be in the gold for the block to be content.
ENOUGH = 0.5

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
    owners = _owners(document.blocks, gold)
    labels: list[Label] = []
    last_segment, last_content = -1, -1
    for block, (segment, is_content) in zip(document.blocks, owners, strict=True):
        if not is_content:
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


def _owners(blocks: Sequence[Block], gold: Sequence[Gold]) -> list[tuple[int, bool]]:
    """For each block, the gold segment that most of its words are aligned with, and whether it is content."""
    page_words = [words(block.text) for block in blocks]
    gold_words = [words(segment.text) for segment in gold]
    page_block = [block for block, found in enumerate(page_words) for _ in found]
    gold_segment = [segment for segment, found in enumerate(gold_words) for _ in found]
    votes: list[dict[int, int]] = [{} for _ in blocks]
    for at, other in _matches(page_words, gold_words):
        block, segment = page_block[at], gold_segment[other]
        votes[block][segment] = votes[block].get(segment, 0) + 1
    owners = []
    for vote, found in zip(votes, page_words, strict=True):
        enough = bool(vote) and sum(vote.values()) >= ENOUGH * len(found)
        owners.append((max(vote, key=lambda segment: vote[segment], default=-1), enough))
    return _adopt_wordless(owners, page_words)


def _matches(page_words: list[list[str]], gold_words: list[list[str]]) -> list[tuple[int, int]]:
    """Align the two word sequences: pairs of places that hold the same word."""
    numbers: dict[str, int] = {}
    page = [numbers.setdefault(word, len(numbers)) for found in page_words for word in found]
    gold = [numbers.setdefault(word, len(numbers)) for found in gold_words for word in found]
    pairs: list[tuple[int, int]] = []
    for code in LCSseq.opcodes(page, gold):
        if code.tag == "equal":
            pairs += zip(range(code.src_start, code.src_end), range(code.dest_start, code.dest_end), strict=True)
    return pairs


def _adopt_wordless(owners: list[tuple[int, bool]], page_words: list[list[str]]) -> list[tuple[int, bool]]:
    """A block without words, a lone full stop say, goes with its neighbours where both are of one mind."""
    adopted = list(owners)
    for at, found in enumerate(page_words):
        if found or not 0 < at < len(owners) - 1:
            continue
        before, after = adopted[at - 1], owners[at + 1]
        if before[1] and after[1] and before[0] == after[0]:
            adopted[at] = before
    return adopted


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
