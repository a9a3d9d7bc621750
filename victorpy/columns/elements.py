"""What can be counted of the elements around blocks: containers, ancestors, links, groups, the tags between blocks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from victorpy.columns.text import Column, Counts, Flags, Floats, TextColumns
from victorpy.document import Elements

HIGHEST = 6
"""So many levels above a block's own element are looked at."""

REACHES = (1, 2, 3, 5, 12, 25)
"""How far windows around a block reach."""

# So many tags of a page fit a number's bits.
_BITS = 64


class Sums(NamedTuple):
    """What a stretch of the page around each block holds: an ancestor of the block, or a window of blocks."""

    words: Floats
    link_words: Floats
    blocks: Counts


class ElementColumns(TextColumns):
    """The arrays of a page's elements.

    They stand in document order: what lies in an element is a range, so that sums over it are differences of
    running totals.
    """

    @cached_property
    def elements(self) -> Elements:
        """The page's elements; an annotation file may have text in none, which then is in a root made up for it."""
        return (
            self.document.elements
            if self.document.elements.tag
            else Elements(["html"], [-1], [{}], [1], [0], [self.count])
        )

    # Links, by the pieces that blocks are made of.

    @cached_property
    def link_words(self) -> Floats:
        """How many of a block's words stand in links."""
        return self._words_of_pieces_in(["a"])

    @cached_property
    def link_characters(self) -> Counts:
        """How many of a block's characters stand in links."""
        lengths = np.diff(np.append(self._piece_starts, len(self._codes)))
        lengths -= np.diff(self._piece_block, append=self.count) > 0  # the line break behind a block's last piece
        inside = self._elements_inside(["a"])[self._piece_element] > 0
        counted = np.bincount(self._piece_block, weights=lengths * inside, minlength=self.count)
        return counted.astype(np.int64)

    def _words_of_pieces_in(self, tags: Iterable[str]) -> Floats:
        if not self.count:
            return np.zeros(0)
        words = np.add.reduceat(self._word_weight_of_char, self._piece_starts)
        inside = self._elements_inside(tags)[self._piece_element] > 0
        return np.bincount(self._piece_block, weights=words * inside, minlength=self.count).astype(np.float64)

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
        holder = self.element[np.clip(block, 0, self.count - 1)]
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

    def within(self, what: str) -> Flags:
        """Which blocks lie in an element with this tag, or with a tag of this class."""
        tags = [self._tag_numbers[tag] for tag in self.tags_of(what) if tag in self._tag_numbers]
        if max(tags, default=0) >= _BITS:
            return self.inside(self.elements_with(self.tags_of(what))) > 0
        return (self._tags_around & np.uint64(sum(1 << number for number in tags))) != 0

    @cached_property
    def _tags_around(self) -> npt.NDArray[np.uint64]:
        """A bit for each of the page's first tags that is around a block."""
        bits = {tag: 1 << number if number < _BITS else 0 for tag, number in self._tag_numbers.items()}
        around: list[int] = []
        for tag, parent in zip(self.elements.tag, self.elements.parent, strict=True):
            around.append(bits[tag] | around[parent] if parent >= 0 else bits[tag])
        return np.array(around, dtype=np.uint64)[self.element]

    def ancestor(self, levels: int) -> Counts:
        """The element so many levels above each block's own; the root where there are not so many."""
        known = self._ancestors
        while len(known) <= levels:
            parent = self.parent[known[-1]]
            known.append(np.where(parent < 0, known[-1], parent))
        return known[levels]

    @cached_property
    def _ancestors(self) -> list[Counts]:
        return [self.element]

    def element_sum(self, column: Column, element: Counts) -> Floats:
        """The sum of a column over the blocks that each of the given elements holds."""
        first, stop = self.block_range
        total = running_total(column)
        return total[stop[element]] - total[first[element]]

    def ancestor_sums(self, levels: int) -> Sums:
        """What the element so many levels above each block's own holds, `HIGHEST` levels at most."""
        words, link_words, blocks = self._ancestor_sums
        return Sums(words[levels], link_words[levels], blocks[levels])

    @cached_property
    def _ancestor_sums(self) -> Sums:
        """The sums of all levels, a row each."""
        elements = np.stack([self.ancestor(level) for level in range(HIGHEST + 1)])
        first, stop = self.block_range
        return self._sums(first[elements], stop[elements])

    def _sums(self, first: Counts, stop: Counts) -> Sums:
        """What the blocks from one to before another hold."""
        words, link_words = self._running_words
        return Sums(words[stop] - words[first], link_words[stop] - link_words[first], stop - first)

    @cached_property
    def _running_words(self) -> tuple[Floats, Floats]:
        return running_total(self.words), running_total(self.link_words)

    def window_sums(self, reach: int) -> Sums:
        """What the blocks at most so far away, one of `REACHES`, hold together."""
        words, link_words, blocks = self._window_sums
        number = REACHES.index(reach)
        return Sums(words[number], link_words[number], blocks[number])

    @cached_property
    def _window_sums(self) -> Sums:
        at = np.arange(self.count)
        reaches = np.array(REACHES)[:, None]
        return self._sums(np.maximum(at - reaches, 0), np.minimum(at + reaches + 1, self.count))

    @cached_property
    def children(self) -> Counts:
        """How many elements lie directly in each element."""
        return np.bincount(self.parent[self.parent >= 0], minlength=len(self.parent))

    def _elements_inside(self, tags: Iterable[str]) -> Counts:
        """How many elements with one of these tags are around each element, itself included."""
        found = self.elements_with(tags)
        return _covered(found, self.stop[found], len(self.stop))

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


def _covered(first: Counts, stop: Counts, count: int) -> Counts:
    """How many of the ranges each of `count` places lies in."""
    nonempty = first < stop
    changes = np.bincount(first[nonempty], minlength=count + 1) - np.bincount(stop[nonempty], minlength=count + 1)
    return np.cumsum(changes)[:count]
