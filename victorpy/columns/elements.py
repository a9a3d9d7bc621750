"""Count the content of the elements around blocks: ancestors, links, groups, and tags between blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat

import numpy as np

from victorpy.columns.text import Column, Counts, Flags, Floats, TextColumns
from victorpy.document import Elements

HIGHEST = 6  # number of levels above a block's element whose content is summed
FARTHEST = 8  # number of levels above a block's element that are computed together
REACHES = (1, 2, 3, 5, 12, 25)  # sizes of the windows around a block, in blocks on either side
_BITS = 64  # one bit per tag fits into this integer


@dataclass(frozen=True)
class Sums:
    """Totals over the blocks of an ancestor or a window. If there are several ranges per block, each range is a row."""

    words: Floats
    link_words: Floats
    blocks: Counts

    @cached_property
    def link_share(self) -> Floats:
        return self.link_words / np.maximum(self.words, 1)

    @cached_property
    def block_words(self) -> Floats:
        """The average number of words per block."""
        return self.words / np.maximum(self.blocks, 1)


class ElementColumns(TextColumns):
    """Counts over the elements around a page's blocks.

    Elements are in document order, so the blocks inside an element are a range, and a sum over them is
    the difference of two running totals.
    """

    @cached_property
    def elements(self) -> Elements:
        """The page's elements. Annotation files without tags get an artificial root."""
        root = Elements(["html"], [-1], [{}], [1], [0], [self.count])
        return self.document.elements if self.document.elements.tag else root

    @cached_property
    def parent(self) -> Counts:
        """The parent of each element, -1 for the root."""
        return np.array(self.elements.parent, dtype=np.int64)

    @cached_property
    def stop(self) -> Counts:
        """The end of each element's range of descendants."""
        return np.array(self.elements.stop, dtype=np.int64)

    @cached_property
    def element(self) -> Counts:
        """The innermost element around each block."""
        return np.maximum(np.array([block.element for block in self.blocks], dtype=np.int64), 0)

    @cached_property
    def depth(self) -> Counts:
        """Number of elements around the block."""
        return np.array([len(block.containers) for block in self.blocks], dtype=np.int64)

    @cached_property
    def hidden(self) -> Flags:
        """1 if the block is hidden by the hidden attribute, aria-hidden or an inline display:none."""
        return np.array([block.hidden for block in self.blocks], dtype=bool)

    @cached_property
    def block_range(self) -> tuple[Counts, Counts]:
        """Each element's first block and the end of its range. Only whole blocks are included."""
        first = np.array(self.elements.first_block, dtype=np.int64)
        stop = np.array(self.elements.stop_block, dtype=np.int64)
        if self.count:
            first = first + self._holds_part(first, first < stop)
            stop = stop - self._holds_part(stop - 1, first < stop)
        return first, stop

    def _holds_part(self, block: Counts, has_blocks: Flags) -> Flags:
        """Return which elements contain only a part of their block."""
        holder = np.take(self.element, block, mode="clip")
        return has_blocks & ~((np.arange(len(self.stop)) <= holder) & (holder < self.stop))

    @cached_property
    def styles(self) -> list[str]:
        """Each element's style attribute, in lower case and without white space."""
        return ["".join(attributes.get("style", "").lower().split()) for attributes in self.elements.attributes]

    # Tags.

    @cached_property
    def _tag_numbers(self) -> dict[str, int]:
        return {tag: number for number, tag in enumerate(dict.fromkeys(self.elements.tag))}

    @cached_property
    def _tag_of_element(self) -> Counts:
        numbers = self._tag_numbers
        return np.array([numbers[tag] for tag in self.elements.tag], dtype=np.int64)

    def tags_of(self, name: str) -> frozenset[str]:
        """Return the tags of a config class such as ``class-bold``, or the tag itself."""
        return frozenset(self.config.get(name) if name.startswith("class-") else [name])

    def elements_with(self, tags: Collection[str]) -> Counts:
        """Return the indices of the elements with one of the tags."""
        elements, starts = self._elements_by_tag
        numbers = [self._tag_numbers[tag] for tag in tags if tag in self._tag_numbers]
        groups = [elements[starts[number] : starts[number + 1]] for number in numbers]
        if len(groups) < 2:
            return groups[0] if groups else elements[:0]
        return np.sort(np.concatenate(groups))

    @cached_property
    def _elements_by_tag(self) -> tuple[Counts, list[int]]:
        """The elements sorted by tag, and the index at which the elements of each tag begin."""
        tags = self._tag_of_element
        counts = np.bincount(tags, minlength=len(self._tag_numbers))
        return np.argsort(tags, kind="stable"), [0, *np.cumsum(counts).tolist()]

    def elements_count(self, tags: Collection[str]) -> Counts:
        """Return, for every block, the number of the page's elements with one of the tags."""
        return np.full(self.count, len(self.elements_with(tags)))

    def _are(self, tag_numbers: Counts, tags: Iterable[str]) -> Flags:
        is_wanted = np.zeros(len(self._tag_numbers) + 1, dtype=bool)  # the last entry is for -1, an unknown tag
        is_wanted[[self._tag_numbers[tag] for tag in tags if tag in self._tag_numbers]] = True
        return is_wanted[tag_numbers]

    def inside(self, elements: Counts) -> Counts:
        """Return how many of the elements are around each block."""
        first, stop = self.block_range
        return _covering_ranges(first[elements], stop[elements], self.count)

    def within(self, name: str) -> Flags:
        """Return which blocks are inside an element with this tag or a tag of this class."""
        number = self._tag_numbers.get(name, _BITS)
        if number < _BITS:
            return self._tags_around[number]
        if name not in self._within:
            tags = [self._tag_numbers[tag] for tag in self.tags_of(name) if tag in self._tag_numbers]
            if not tags:
                self._within[name] = np.zeros(self.count, dtype=bool)
            elif max(tags) >= _BITS:
                self._within[name] = self.inside(self.elements_with(self.tags_of(name))) > 0
            else:
                self._within[name] = np.logical_or.reduce(self._tags_around[tags])
        return self._within[name]

    def within_any(self, *names: str) -> Flags:
        """Return which blocks are inside an element with one of these tags or of these classes."""
        tags = chain.from_iterable(map(self.tags_of, names))
        rows = [self._tag_numbers[tag] for tag in tags if tag in self._tag_numbers]
        if max(rows, default=0) >= _BITS:
            return np.logical_or.reduce([self.within(name) for name in names])
        return np.logical_or.reduce(self._tags_around[rows])

    @cached_property
    def _within(self) -> dict[str, Flags]:
        """Cached results of `within` for classes of tags."""
        return {}

    @cached_property
    def _tags_around(self) -> Flags:
        """Which blocks are inside each of the page's first 64 tags, one row per tag.

        Every element has an integer with one bit per tag. Each round adds the bits of an ancestor and doubles the
        distance to the next one. After one round, an element has the bits of its parent; after two rounds, those of
        three ancestors; after three rounds, those of seven.
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
    def _passed_tags(self) -> tuple[Counts, Counts]:
        """The tags between blocks, and the block that follows each tag."""
        block = np.repeat(np.arange(self.count), [len(block.distance) for block in self.blocks])
        numbers = self._tag_numbers | {f"/{tag}": number for tag, number in self._tag_numbers.items()}
        tags = chain.from_iterable([block.distance for block in self.blocks])
        return np.fromiter(map(numbers.get, tags, repeat(-1)), dtype=np.int64, count=len(block)), block

    def passed(self, tags: Iterable[str]) -> Counts:
        """Count the opening and closing tags between the previous block and each block."""
        numbers, block = self._passed_tags
        return np.bincount(block[self._are(numbers, tags)], minlength=self.count)

    # Pieces: parts of a block, each directly inside one element.

    @cached_property
    def _pieces(self) -> tuple[Counts, Counts, Counts]:
        """The block of each piece, the offset of its first character in the page, and its element."""
        block = np.repeat(np.arange(self.count), [len(block.pieces) for block in self.blocks])
        starts = [piece.start for block in self.blocks for piece in block.pieces]
        elements = [piece.element for block in self.blocks for piece in block.pieces]
        offset, element = np.maximum(np.array([starts, elements], dtype=np.int64), 0)
        return block, self._starts[block] + offset, element

    def _pieces_in(self, tags: Collection[str]) -> Flags:
        elements = self.elements_with(tags)
        return _covering_ranges(elements, self.stop[elements], len(self.stop))[self._pieces[2]] > 0

    def _characters_of_pieces(self, chosen: Flags) -> Counts:
        block, start, _ = self._pieces
        lengths = np.diff(np.append(start, len(self._codes)))
        lengths -= np.diff(block, append=self.count) > 0  # the line break after a block's last piece
        return np.bincount(block, lengths * chosen, self.count).astype(np.int64)

    @cached_property
    def _piece_in_link(self) -> Flags:
        return self._pieces_in(["a"])

    @cached_property
    def link_characters(self) -> Counts:
        return self._characters_of_pieces(self._piece_in_link)

    @cached_property
    def link_words(self) -> Floats:
        if not self.count:
            return np.zeros(0)
        block, start, _ = self._pieces
        words = np.add.reduceat(self._word_starts, start)
        return np.bincount(block, words * self._piece_in_link, self.count).astype(np.float64)

    @cached_property
    def bold_share(self) -> Floats:
        """Share of the block's characters in elements of class-bold or class-header."""
        is_bold = self._pieces_in(self.tags_of("class-bold") | self.tags_of("class-header"))
        return self._characters_of_pieces(is_bold) / np.maximum(self.lengths, 1)

    # Ancestors, windows and groups.

    @cached_property
    def _parent_or_self(self) -> Counts:
        return np.where(self.parent < 0, np.arange(len(self.parent)), self.parent)

    def ancestor(self, levels: int) -> Counts:
        """Return the ancestor `levels` above each block's element, or the root."""
        element = self.ancestors[min(levels, FARTHEST)]
        for _ in range(FARTHEST, levels):
            element = self._parent_or_self[element]
        return element

    @cached_property
    def ancestors(self) -> Counts:
        """Each block's element and its ancestors, one row per level."""
        rows = [self.element]
        for _ in range(FARTHEST):
            rows.append(self._parent_or_self[rows[-1]])
        return np.stack(rows)

    def element_sum(self, column: Column, element: Counts) -> Floats:
        """Return the sum of a column over the blocks inside each of the elements."""
        first, stop = self.block_range
        total = running_total(column)
        return total[stop[element]] - total[first[element]]

    @cached_property
    def ancestor_blocks(self) -> tuple[Counts, Counts]:
        """The block ranges of each block's ancestors up to `HIGHEST`, one row per level."""
        first, stop = self.block_range
        elements = self.ancestors[: HIGHEST + 1]
        return np.take(first, elements), np.take(stop, elements)

    @cached_property
    def ancestor_sums(self) -> Sums:
        """The totals of each block's ancestors, one row per level."""
        return self._sums(*self.ancestor_blocks)

    @cached_property
    def ancestor_children(self) -> Counts:
        """The number of child elements of each block's ancestors, one row per level."""
        children = np.bincount(self.parent[self.parent >= 0], minlength=len(self.parent))
        return np.take(children, self.ancestors[: HIGHEST + 1])

    @cached_property
    def window_sums(self) -> Sums:
        """The totals of the blocks around each block, one row per size in `REACHES`."""
        return self._sums(*windows(self.count, REACHES))

    def _sums(self, first: Counts, stop: Counts) -> Sums:
        words, link_words = self._running_words
        return Sums(
            np.take(words, stop) - np.take(words, first),
            np.take(link_words, stop) - np.take(link_words, first),
            stop - first,
        )

    @cached_property
    def words_before(self) -> Floats:
        """Number of words in the page before the block."""
        return self._running_words[0][:-1]

    @cached_property
    def words_after(self) -> Floats:
        """Number of words in the page after the block."""
        return self.words.sum() - self._running_words[0][1:]

    @cached_property
    def position(self) -> Floats:
        """Position of the block in the page, from 0 for the first block to 1 for the last."""
        return np.arange(self.count) / max(self.count - 1, 1)

    @cached_property
    def _running_words(self) -> tuple[Floats, Floats]:
        return running_total(self.words), running_total(self.link_words)

    def group(self, tag: str) -> Counts:
        """Return the nearest element with this tag around each block, or -1."""
        nearest = np.full(len(self.parent), -1)
        elements = self.elements_with([tag])
        for element, stop in zip(elements.tolist(), self.stop[elements].tolist(), strict=True):
            nearest[element:stop] = element  # inner elements come later
        return nearest[self.element]

    def group_share(self, tag: str) -> Floats:
        """Return the share of the page's words outside links in the nearest element with this tag, or 0."""
        group = self.group(tag)
        words = self.words - self.link_words
        sums = np.bincount(group + 1, weights=words, minlength=1)
        sums[0] = 0
        return sums[group + 1] / max(float(words.sum()), 1.0)


def running_total(column: Column) -> Floats:
    """Return running totals: the sum of the entries before each position, followed by the sum of all.

    >>> running_total(np.array([1, 2, 3]))
    array([0., 1., 3., 6.])
    """
    total = np.zeros(len(column) + 1)
    np.cumsum(column, out=total[1:])
    return total


def windows(count: int, reaches: Sequence[int]) -> tuple[Counts, Counts]:
    """Return the block range within each reach of each block, one row per reach."""
    block = np.arange(count)
    reach = np.array(reaches)[:, None]
    return np.maximum(block - reach, 0), np.minimum(block + reach + 1, count)


def _covering_ranges(first: Counts, stop: Counts, count: int) -> Counts:
    """Return how many of the ranges include each of `count` positions."""
    nonempty = first < stop
    changes = np.bincount(first[nonempty], minlength=count + 1) - np.bincount(stop[nonempty], minlength=count + 1)
    return np.cumsum(changes)[:count]
