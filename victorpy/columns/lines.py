"""What tells kinds of content apart: how long lines are, which of them go on, what is bold, how blocks begin."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from victorpy.base import unicode
from victorpy.columns.text import Column, Counts, Flags, Floats
from victorpy.columns.tokens import TokenColumns

SHORT = 5
"""A block of fewer words is a short one."""


class LineColumns(TokenColumns):
    """The arrays of a page's lines: blocks that follow each other in one element are its lines."""

    @cached_property
    def run(self) -> Counts:
        """The number of the run of lines that each block belongs to."""
        begins = np.ones(self.count, dtype=bool)
        begins[1:] = self.element[1:] != self.element[:-1]
        return np.cumsum(begins) - 1

    @cached_property
    def run_blocks(self) -> Counts:
        """How many lines each block's run has."""
        return np.bincount(self.run)[self.run] if self.count else self.run

    @cached_property
    def run_place(self) -> Counts:
        """How many lines of its run stand before each block."""
        return np.arange(self.count) - np.searchsorted(self.run, self.run)

    @cached_property
    def run_longest(self) -> Counts:
        """How many characters the longest line of each block's run has."""
        longest = np.zeros(int(self.run.max(initial=0)) + 1, dtype=np.int64)
        np.maximum.at(longest, self.run, self.lengths)
        return longest[self.run]

    @cached_property
    def run_mean(self) -> Floats:
        """How many characters the lines of each block's run have on average."""
        return np.bincount(self.run, self.lengths)[self.run] / np.maximum(self.run_blocks, 1) if self.count else _NONE

    @cached_property
    def bold_share(self) -> Floats:
        """The share of each block's characters that are bold or in a heading."""
        bold = self._pieces_in(self.tags_of("class-bold") | self.tags_of("class-header"))
        return self._characters_of_pieces(bold) / np.maximum(self.lengths, 1)

    @cached_property
    def capitalised_share(self) -> Floats:
        """The share of each block's words that begin with a capital letter."""
        if not self.count:
            return _NONE
        begins = (self._word_weight_of_char == 1) & self._has(unicode.UPPER)
        return self._per_block(begins) / np.maximum(self.words, 1)

    def begins_with(self, flags: int) -> Flags:
        """Whether each block's first character that is no white space is one of these."""
        first = self._first_of(~self._has(unicode.SPACE))
        return (first >= 0) & ((self._flags[np.maximum(first, 0)] & flags) != 0)

    def share_of_look(self, column: Column) -> Floats:
        """The average of a column over the blocks of the page that look like each block."""
        if not self.count:
            return _NONE
        look = self.look
        return np.asarray((np.bincount(look, column) / np.bincount(look))[look])


_NONE = np.zeros(0)
