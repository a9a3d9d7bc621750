"""What can be counted of the elements around blocks: containers, ancestors, links, groups, the tags between blocks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

from victorpy.columns.text import Column, Counts, Flags, Floats, TextColumns


class ElementColumns(TextColumns):
    """The arrays of a page's elements.

    They stand in document order: what lies in an element is a range, so that sums over it are differences of
    running totals.
    """

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
        rows = [(piece.start, piece.element) for block in self.blocks for piece in block.pieces]
        return np.array(rows, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def _piece_starts(self) -> Counts:
        return self._starts[self._piece_block] + self._pieces[:, 0]

    @property
    def _piece_element(self) -> Counts:
        return self._pieces[:, 1]

    # Elements.

    @cached_property
    def _tag_numbers(self) -> dict[str, int]:
        return {tag: number for number, tag in enumerate(dict.fromkeys(self.document.elements.tag))}

    @cached_property
    def _tag_of_element(self) -> Counts:
        numbers = self._tag_numbers
        return np.array([numbers[tag] for tag in self.document.elements.tag], dtype=np.int64)

    @cached_property
    def names(self) -> tuple[list[str], Counts]:
        """The different names (class, id and role, a line each) of elements, and the number of each element's."""
        numbers: dict[tuple[str, str, str], int] = {("", "", ""): 0}
        found = []
        for attributes in self.document.elements.attributes:
            get = attributes.get
            key = (get("class", ""), get("id", ""), get("role", ""))
            found.append(numbers.setdefault(key, len(numbers)))
        return ["\n".join(key) for key in numbers], np.array(found, dtype=np.int64)

    @cached_property
    def parent(self) -> Counts:
        """The parent of each element, -1 for the root."""
        return np.array(self.document.elements.parent, dtype=np.int64)

    @cached_property
    def stop(self) -> Counts:
        """One more than the last element in each element."""
        return np.array(self.document.elements.stop, dtype=np.int64)

    @cached_property
    def element(self) -> Counts:
        """The innermost element that holds each block."""
        return np.array([block.element for block in self.blocks], dtype=np.int64)

    @cached_property
    def block_range(self) -> tuple[Counts, Counts]:
        """The first block of each element and one more than the last: those that it holds as a whole."""
        elements = self.document.elements
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
        wanted = [self._tag_numbers[tag] for tag in tags if tag in self._tag_numbers]
        if len(wanted) == 1:
            return np.flatnonzero(self._tag_of_element == wanted[0])
        return np.flatnonzero(np.isin(self._tag_of_element, wanted))

    def inside(self, elements: Counts) -> Counts:
        """How many of these elements are around each block."""
        first, stop = self.block_range
        return _covered(first[elements], stop[elements], self.count)

    def ancestor(self, levels: int) -> Counts:
        """The element so many levels above each block's own; the root where there are not so many."""
        element = self.element
        for _ in range(levels):
            parent = self.parent[element]
            element = np.where(parent < 0, element, parent)
        return element

    def element_sum(self, column: Column, element: Counts) -> Floats:
        """The sum of a column over the blocks that each of the given elements holds."""
        first, stop = self.block_range
        total = np.concatenate([[0.0], np.cumsum(column)])
        return total[stop[element]] - total[first[element]]

    def _elements_inside(self, tags: Iterable[str]) -> Counts:
        """How many elements with one of these tags are around each element, itself included."""
        found = self.elements_with(tags)
        return _covered(found, self.stop[found], len(self.stop))

    # Tags between blocks.

    @cached_property
    def _passed_tags(self) -> tuple[Counts, Counts]:
        """The tags that were passed before the blocks, and for each the block it came before."""
        owner = np.repeat(np.arange(self.count), [len(block.distance) for block in self.blocks])
        numbers = self._tag_numbers
        passed = chain.from_iterable(block.distance for block in self.blocks)
        return np.array([numbers.get(tag.lstrip("/"), -1) for tag in passed], dtype=np.int64), owner

    def passed(self, tags: Iterable[str]) -> Counts:
        """How many opening or closing tags of these were passed since the block before."""
        seen, owner = self._passed_tags
        wanted = [self._tag_numbers[tag] for tag in tags if tag in self._tag_numbers]
        return np.bincount(owner[np.isin(seen, wanted)], minlength=self.count)

    # Groups.

    def group_share(self, group: Counts) -> Floats:
        """The share that each block's group has of the page's words outside links; 0 outside any group."""
        words = self.words - self.link_words
        sums = np.bincount(group + 1, weights=words, minlength=1)
        sums[0] = 0
        return sums[group + 1] / max(float(words.sum()), 1.0)

    @cached_property
    def div_group(self) -> Counts:
        """The number of the nearest ``<div>`` of each block, -1 for none."""
        return np.array([block.div_group for block in self.blocks], dtype=np.int64)

    @cached_property
    def td_group(self) -> Counts:
        """The number of the nearest ``<td>`` of each block, -1 for none."""
        return np.array([block.td_group for block in self.blocks], dtype=np.int64)


def _covered(first: Counts, stop: Counts, count: int) -> Counts:
    """How many of the ranges each of `count` places lies in."""
    nonempty = first < stop
    changes = np.bincount(first[nonempty], minlength=count + 1) - np.bincount(stop[nonempty], minlength=count + 1)
    return np.cumsum(changes)[:count]
