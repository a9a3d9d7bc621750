"""What can be counted of the elements around blocks: containers, ancestors, links, groups, the tags between blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat

import numpy as np
import numpy.typing as npt

from victorpy.columns.text import Column, Counts, Flags, Floats, TextColumns
from victorpy.document import Elements

HIGHEST = 6
"""Number of levels above a block's element whose content is summed."""

FARTHEST = 8
"""Number of levels above a block's element that are computed at once."""

REACHES = (1, 2, 3, 5, 12, 25)
"""Sizes of the windows around a block, in blocks to either side."""

_BITS = 64  # tags that fit into the bits of one number


@dataclass(frozen=True)
class Sums:
    """What a stretch of the page around each block holds: an ancestor of the block, or a window of blocks.

    Those of several stretches are computed together: a row each.
    """

    words: Floats
    link_words: Floats
    blocks: Counts

    @cached_property
    def link_share(self) -> Floats:
        """The share of link words among the words."""
        return self.link_words / np.maximum(self.words, 1)

    @cached_property
    def block_words(self) -> Floats:
        """The average number of words in a block."""
        return self.words / np.maximum(self.blocks, 1)


class ElementColumns(TextColumns):
    """The arrays of a page's elements.

    They stand in document order: what lies in an element is a range, so that sums over it are differences of
    running totals.
    """

    @cached_property
    def elements(self) -> Elements:
        """The page's elements. If there are none, as in some annotation files, an artificial root holds the text."""
        return (
            self.document.elements
            if self.document.elements.tag
            else Elements(["html"], [-1], [{}], [1], [0], [self.count])
        )

    # Links, by the pieces that blocks are made of.

    @cached_property
    def link_words(self) -> Floats:
        """Number of a block's words that are in links."""
        if not self.count:
            return np.zeros(0)
        words = np.add.reduceat(self._word_weight_of_char, self._piece_starts)
        counted = np.bincount(self._piece_block, weights=words * self._piece_in_link, minlength=self.count)
        return counted.astype(np.float64)

    @cached_property
    def link_characters(self) -> Counts:
        """Number of a block's characters that are in links."""
        return self._characters_of_pieces(self._piece_in_link)

    def _characters_of_pieces(self, chosen: Flags) -> Counts:
        """Number of a block's characters that are in the chosen pieces."""
        lengths = np.diff(np.append(self._piece_starts, len(self._codes)))
        lengths -= np.diff(self._piece_block, append=self.count) > 0  # the line break after a block's last piece
        counted = np.bincount(self._piece_block, weights=lengths * chosen, minlength=self.count)
        return counted.astype(np.int64)

    @cached_property
    def _piece_in_link(self) -> Flags:
        return self._pieces_in(["a"])

    def _pieces_in(self, tags: Iterable[str]) -> Flags:
        """Which pieces lie in an element with one of these tags."""
        around = self.elements_with(tags)
        return _covered(around, self.stop[around], len(self.stop))[self._piece_element] > 0

    @cached_property
    def _piece_block(self) -> Counts:
        return np.repeat(np.arange(self.count), [len(block.pieces) for block in self.blocks])

    @cached_property
    def _pieces(self) -> npt.NDArray[np.int64]:
        starts = [piece.start for block in self.blocks for piece in block.pieces]
        elements = [piece.element for block in self.blocks for piece in block.pieces]
        return np.maximum(np.array([starts, elements], dtype=np.int64), 0)

    @cached_property
    def _piece_starts(self) -> Counts:
        return self._starts[self._piece_block] + self._pieces[0]

    @property
    def _piece_element(self) -> Counts:
        return self._pieces[1]

    # Elements.

    @cached_property
    def _tag_numbers(self) -> dict[str, int]:
        return {tag: number for number, tag in enumerate(dict.fromkeys(self.elements.tag))}

    @cached_property
    def _tag_of_element(self) -> Counts:
        numbers = self._tag_numbers
        return np.array([numbers[tag] for tag in self.elements.tag], dtype=np.int64)

    @cached_property
    def parent(self) -> Counts:
        """The parent of each element, -1 for the root."""
        return np.array(self.elements.parent, dtype=np.int64)

    @cached_property
    def stop(self) -> Counts:
        """One more than the last element in each element."""
        return np.array(self.elements.stop, dtype=np.int64)

    @cached_property
    def element(self) -> Counts:
        """The innermost element that holds each block."""
        return np.maximum(np.array([block.element for block in self.blocks], dtype=np.int64), 0)

    @cached_property
    def block_range(self) -> tuple[Counts, Counts]:
        """The first block of each element and one more than the last: those that it holds as a whole."""
        elements = self.elements
        first, stop = (
            np.array(elements.first_block, dtype=np.int64),
            np.array(elements.stop_block, dtype=np.int64),
        )
        if not self.count:
            return first, stop
        first = first + self._straddles(first, first < stop)
        stop = stop - self._straddles(stop - 1, first < stop)
        return first, stop

    def _straddles(self, block: Counts, some: Flags) -> Flags:
        """Whether an element holds a part of the given block only, where it has any block."""
        holder = np.take(self.element, block, mode="clip")
        return some & ~((np.arange(len(self.stop)) <= holder) & (holder < self.stop))

    def tags_of(self, what: str) -> frozenset[str]:
        """The tags that a feature's name means: one, or those of a ``class-X`` of the config."""
        if what.startswith("class-"):
            return frozenset(self.config.get(what))
        return frozenset([what])

    def elements_with(self, tags: Iterable[str]) -> Counts:
        """The numbers of the elements with one of these tags."""
        return np.flatnonzero(self._are(self._tag_of_element, tags))

    def _are(self, tag_numbers: Counts, tags: Iterable[str]) -> Flags:
        """Which of the numbers are of these tags."""
        wanted = np.zeros(len(self._tag_numbers) + 1, dtype=bool)  # the last stands for -1, a tag of no element
        wanted[[self._tag_numbers[tag] for tag in tags if tag in self._tag_numbers]] = True
        return wanted[tag_numbers]

    def inside(self, elements: Counts) -> Counts:
        """How many of these elements are around each block."""
        first, stop = self.block_range
        return _covered(first[elements], stop[elements], self.count)

    def element_count(self, what: str) -> int:
        """How many elements of the page have this tag, or a tag of this class."""
        numbers = [self._tag_numbers[tag] for tag in self.tags_of(what) if tag in self._tag_numbers]
        return int(self._count_of_tag[numbers].sum()) if numbers else 0

    @cached_property
    def _count_of_tag(self) -> Counts:
        return np.bincount(self._tag_of_element)

    def within(self, what: str) -> Flags:
        """Which blocks lie in an element with this tag, or with a tag of this class."""
        if what in self._tag_numbers and self._tag_numbers[what] < _BITS:
            return self._tags_around[self._tag_numbers[what]]
        tags = [self._tag_numbers[tag] for tag in self.tags_of(what) if tag in self._tag_numbers]
        if max(tags, default=0) >= _BITS:
            return self.inside(self.elements_with(self.tags_of(what))) > 0
        return np.logical_or.reduce(self._tags_around[tags])

    @cached_property
    def _tags_around(self) -> Flags:
        """Which blocks lie in an element with each of the page's first 64 tags, one row per tag.

        Every element has a 64-bit number with one bit per tag. Each round adds the bits of the ancestor that the
        round before reached, so that the distance doubles: after one round an element has the bits of its parent,
        after two those of three ancestors, after three those of seven.
        """
        bit_of_tag = np.zeros(len(self._tag_numbers), dtype=np.uint64)
        for number in range(min(len(bit_of_tag), _BITS)):
            bit_of_tag[number] = 1 << number
        tags_around = bit_of_tag[self._tag_of_element]
        ancestor = self._parent_or_self
        while True:
            tags_around |= tags_around[ancestor]
            farther_ancestor = ancestor[ancestor]
            if (farther_ancestor == ancestor).all():
                break
            ancestor = farther_ancestor
        block_bytes = tags_around[self.element].astype("<u8").view(np.uint8).reshape(-1, _BITS // 8)
        block_bits = np.unpackbits(block_bytes, axis=1, bitorder="little")
        return np.ascontiguousarray(block_bits.T).view(bool)

    @cached_property
    def _parent_or_self(self) -> Counts:
        return np.where(self.parent < 0, np.arange(len(self.parent)), self.parent)

    def ancestor(self, levels: int) -> Counts:
        """The element so many levels above each block's own; the root where there are not so many."""
        element = self.ancestors[min(levels, FARTHEST)]
        for _ in range(FARTHEST, levels):
            element = self._parent_or_self[element]
        return element

    @cached_property
    def ancestors(self) -> npt.NDArray[np.int64]:
        """The elements above each block's own, which is the first row: a row a level."""
        rows = [self.element]
        for _ in range(FARTHEST):
            rows.append(self._parent_or_self[rows[-1]])
        return np.stack(rows)

    def element_sum(self, column: Column, element: Counts) -> Floats:
        """The sum of a column over the blocks that each of the given elements holds."""
        first, stop = self.block_range
        total = running_total(column)
        return total[stop[element]] - total[first[element]]

    @cached_property
    def ancestor_blocks(self) -> tuple[Counts, Counts]:
        """The first block of each block's ancestors and one more than the last, `HIGHEST` levels up: a row a level."""
        first, stop = self.block_range
        elements = self.ancestors[: HIGHEST + 1]
        return np.take(first, elements), np.take(stop, elements)

    @cached_property
    def ancestor_sums(self) -> Sums:
        """What the ancestors of each block hold: a row a level."""
        return self._sums(*self.ancestor_blocks)

    @cached_property
    def ancestor_children(self) -> Counts:
        """How many elements lie directly in the ancestors of each block: a row a level."""
        children = np.bincount(self.parent[self.parent >= 0], minlength=len(self.parent))
        return np.take(children, self.ancestors[: HIGHEST + 1])

    def _sums(self, first: Counts, stop: Counts) -> Sums:
        """What the blocks from one to before another hold."""
        words, link_words = self._running_words
        return Sums(
            np.take(words, stop) - np.take(words, first),
            np.take(link_words, stop) - np.take(link_words, first),
            stop - first,
        )

    @cached_property
    def _running_words(self) -> tuple[Floats, Floats]:
        return running_total(self.words), running_total(self.link_words)

    @cached_property
    def window_sums(self) -> Sums:
        """What the blocks at most so far away hold together: a row for each of `REACHES`."""
        return self._sums(*windows(self.count, REACHES))

    # Tags between blocks.

    @cached_property
    def _passed_tags(self) -> tuple[Counts, Counts]:
        """The tags that were passed before the blocks, and for each the block it came before."""
        owner = np.repeat(np.arange(self.count), [len(block.distance) for block in self.blocks])
        numbers = dict(self._tag_numbers)
        numbers |= {"/" + tag: number for tag, number in numbers.items()}
        passed = chain.from_iterable([block.distance for block in self.blocks])
        unknown = repeat(-1)  # a tag that the page has no element of
        return np.fromiter(map(numbers.get, passed, unknown), dtype=np.int64, count=len(owner)), owner

    def passed(self, tags: Iterable[str]) -> Counts:
        """How many opening or closing tags of these were passed since the block before."""
        seen, owner = self._passed_tags
        return np.bincount(owner[self._are(seen, tags)], minlength=self.count)

    # Groups.

    def group_share(self, group: Counts) -> Floats:
        """The share that each block's group has of the page's words outside links; 0 outside any group."""
        words = self.words - self.link_words
        sums = np.bincount(group + 1, weights=words, minlength=1)
        sums[0] = 0
        return sums[group + 1] / max(float(words.sum()), 1.0)

    def group(self, tag: str) -> Counts:
        """The number of the nearest element with this tag around each block, -1 for none."""
        nearest: list[int] = []
        for number, (its, parent) in enumerate(zip(self.elements.tag, self.elements.parent, strict=True)):
            nearest.append(number if its == tag else nearest[parent] if parent >= 0 else -1)
        return np.array([*nearest, -1], dtype=np.int64)[self.element]


def running_total(column: Column) -> Floats:
    """The sums of all entries before each place: one more of them than entries."""
    total = np.zeros(len(column) + 1)
    np.cumsum(column, out=total[1:])
    return total


def windows(count: int, reaches: Sequence[int]) -> tuple[Counts, Counts]:
    """The first block at most so far away from each block, and one more than the last: a row a reach."""
    at = np.arange(count)
    reach = np.array(reaches)[:, None]
    return np.maximum(at - reach, 0), np.minimum(at + reach + 1, count)


def _covered(first: Counts, stop: Counts, count: int) -> Counts:
    """How many of the ranges each of `count` places lies in."""
    nonempty = first < stop
    changes = np.bincount(first[nonempty], minlength=count + 1) - np.bincount(stop[nonempty], minlength=count + 1)
    return np.cumsum(changes)[:count]
