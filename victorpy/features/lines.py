"""Features that tell headers, paragraphs, list items and lines that go on from each other."""

from __future__ import annotations

import numpy as np

from victorpy.base import unicode
from victorpy.columns import Column, Columns
from victorpy.columns.lines import SHORT
from victorpy.features.base import feature

_BEGINNINGS = {"digit": unicode.DIGIT, "lower": unicode.LOWER, "sign": unicode.PUNCTUATION}


@feature("characters")
def characters(page: Columns) -> Column:
    """Number of characters of the block."""
    return page.lengths


@feature("run.blocks")
def run_blocks(page: Columns) -> Column:
    """Number of blocks in a row that lie in the same element as this one: lines with breaks between them."""
    return page.run_blocks


@feature("run.place")
def run_place(page: Columns) -> Column:
    """Number of blocks in a row, before this one, that lie in the same element."""
    return page.run_place


@feature("run.longest")
def run_longest(page: Columns) -> Column:
    """Characters of the longest block in a row that lies in the same element: the width of wrapped text."""
    return page.run_longest


@feature("run.mean")
def run_mean(page: Columns) -> Column:
    """Average number of characters of the blocks in a row that lie in the same element."""
    return page.run_mean


@feature("run.filled")
def run_filled(page: Columns) -> Column:
    """Characters of the block, as a share of those of the longest in a row that lies in the same element."""
    return page.lengths / np.maximum(page.run_longest, 1)


@feature("bold-share")
def bold_share(page: Columns) -> Column:
    """Share of the block's characters in elements of class-bold or class-header."""
    return page.bold_share


@feature("capitalised-share")
def capitalised_share(page: Columns) -> Column:
    """Share of the block's words that begin with a capital letter."""
    return page.capitalised_share


@feature("begins-with.{digit,lower,sign}")
def begins_with(page: Columns, what: str) -> Column:
    """1 where the block begins with a digit, a lower-case letter or a punctuation mark."""
    return page.begins_with(_BEGINNINGS[what])


@feature("look.bold-share")
def look_bold_share(page: Columns) -> Column:
    """Average bold share of the blocks of the page that look like this one."""
    return page.share_of_look(page.bold_share)


@feature("look.short-share")
def look_short_share(page: Columns) -> Column:
    """Share of short blocks among those of the page that look like this one."""
    return page.share_of_look(page.words < SHORT)


@feature("look.break-share")
def look_break_share(page: Columns) -> Column:
    """Share of blocks behind a single line break among those of the page that look like this one."""
    return page.share_of_look(_after_a_break(page) == 1)


@feature("document.break-share")
def document_break_share(page: Columns) -> Column:
    """Share of the page's blocks that stand behind a line break."""
    return _everywhere(page, _after_a_break(page) > 0)


@feature("document.share-in.*")
def document_share_in(page: Columns, what: str) -> Column:
    """Share of the page's blocks that lie in an element with this tag, or with a tag of this class."""
    return _everywhere(page, page.within(what))


def _after_a_break(page: Columns) -> Column:
    return page.passed(frozenset(["br"]))


def _everywhere(page: Columns, column: Column) -> Column:
    """The average of a column, for every block."""
    return np.full(page.count, column.mean() if page.count else 0.0)
