"""Label the blocks of a page by its gold text.

The words of the page and of the gold are aligned by their longest common subsequence. A block is content if enough of
its words are aligned. Its label comes from the tagged segment of the gold, or from the page's markup if the gold is
plain text.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from victorpy.base.words import aligned_words
from victorpy.document import Block, Document, Label

# Share of a block's words that must be in the gold for the block to be content.
ENOUGH = 0.5
# Maximum number of positions in the gold that are tried for a block that is out of order, to limit the time.
MOST_PLACES = 100

_LABEL_OF_TAG = dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), Label.HEADER)
_LABEL_OF_TAG |= dict.fromkeys(("li", "dt", "dd"), Label.LIST)


class Gold(NamedTuple):
    """A segment of gold text and its label, if the gold has labels."""

    text: str
    label: Label | None = None


def align(document: Document, gold: Sequence[Gold], block_level: frozenset[str]) -> tuple[Label, ...]:
    """Return a label for every block of a page."""
    segments = _Alignment(document.blocks, gold).segments()
    labels: list[Label] = []
    last_segment, last_content = -1, -1
    for block, segment in zip(document.blocks, segments, strict=True):
        if segment is None:
            labels.append(Label.OTHER)
            continue
        gold_label = gold[segment].label
        if gold_label is not None:
            is_continued = segment == last_segment
        else:  # same line as the previous block: only inline tags and at most one <br> between
            tags = [tag.lstrip("/") for tag in block.distance]
            breaks = [tag for tag in tags if tag in block_level]
            is_continued = block.index == last_content + 1 and breaks in ([], ["br"])
        by_markup = next((_LABEL_OF_TAG[tag] for tag in reversed(block.containers) if tag in _LABEL_OF_TAG), None)
        labels.append(Label.CONTINUATION if is_continued else gold_label or by_markup or Label.PARAGRAPH)
        last_segment, last_content = segment, block.index
    return tuple(labels)


class _Alignment:
    """Finds the gold segment that each block of a page belongs to, if any."""

    def __init__(self, blocks: Sequence[Block], gold: Sequence[Gold]) -> None:
        self._block_words = [aligned_words(block.text) for block in blocks]
        gold_words = [(word, number) for number, segment in enumerate(gold) for word in aligned_words(segment.text)]
        self._gold_words = [word for word, _ in gold_words]
        self._segment_of_word = [number for _, number in gold_words]
        self._matched: set[int] = set()  # positions of gold words that belong to a block

    def segments(self) -> list[int | None]:
        """Align in page order. Then handle blocks that have another position in the gold."""
        segments = self._align_in_order()
        self._adopt_moved_blocks(segments)
        self._prefer_neighbours(segments)
        # A block without words, such as a single full stop, gets the label of its neighbours.
        for block in range(1, len(segments) - 1):
            if not self._block_words[block] and segments[block - 1] == segments[block + 1] is not None:
                segments[block] = segments[block - 1]
        return segments

    def _align_in_order(self) -> list[int | None]:
        """Align by the longest common subsequence and give each block the segment with most of its words."""
        numbers: dict[str, int] = {}
        page = [numbers.setdefault(word, len(numbers)) for block in self._block_words for word in block]
        gold = [numbers.setdefault(word, len(numbers)) for word in self._gold_words]
        block_of = [number for number, block in enumerate(self._block_words) for _ in block]
        pairs: list[tuple[int, int]] = []
        for code in LCSseq.opcodes(page, gold):
            if code.tag == "equal":
                pairs += zip(range(code.src_start, code.src_end), range(code.dest_start, code.dest_end), strict=True)
        votes: list[Counter[int]] = [Counter() for _ in self._block_words]
        for page_position, gold_position in pairs:
            votes[block_of[page_position]][self._segment_of_word[gold_position]] += 1
        segments: list[int | None] = []
        for block, vote in zip(self._block_words, votes, strict=True):
            is_content = bool(vote) and vote.total() >= ENOUGH * len(block)
            segments.append(vote.most_common(1)[0][0] if is_content else None)
        self._matched = {position for at, position in pairs if segments[block_of[at]] is not None}
        return segments

    def _adopt_moved_blocks(self, segments: list[int | None]) -> None:
        """Match blocks whose words are elsewhere in the gold, in a run of words that does not belong to a block yet."""
        free_pairs: dict[tuple[str, str], list[int]] = {}
        for position, pair in enumerate(itertools.pairwise(self._gold_words)):
            if position not in self._matched:
                free_pairs.setdefault(pair, []).append(position)
        for number, block in enumerate(self._block_words):
            if segments[number] is not None or len(block) < 2:
                continue
            for start in free_pairs.get((block[0], block[1]), [])[:MOST_PLACES]:
                positions = range(start, start + len(block))
                if self._gold_words[start : positions.stop] == block and self._matched.isdisjoint(positions):
                    segments[number] = self._segment_of_word[start]
                    self._matched.update(positions)
                    break

    def _prefer_neighbours(self, segments: list[int | None]) -> None:
        """If a block with the same text (menu entry, headline) is nearer to other content, move the segment to it."""
        texts = [" ".join(block) for block in self._block_words]
        blocks_with_text: dict[str, list[int]] = {}
        for block, text in enumerate(texts):
            blocks_with_text.setdefault(text, []).append(block)
        content = [block for block, segment in enumerate(segments) if segment is not None]
        for number, block in enumerate(content):
            before = content[number - 1] if number else -len(segments)
            after = content[number + 1] if number + 1 < len(content) else 2 * len(segments)
            same_text = blocks_with_text[texts[block]]
            choices = [other for other in same_text if before < other < after and segments[other] is None]
            best = min([block, *choices], key=lambda other: min(other - before, after - other))
            if best != block and texts[block]:
                segments[best], segments[block] = segments[block], None
                content[number] = best
