"""Features that distinguish headers, paragraphs, list items and continued lines."""

from __future__ import annotations

import numpy as np

from victorpy.base import unicode
from victorpy.columns import Column, Columns
from victorpy.features.base import column_features, feature

_SHORT = 5  # blocks with fewer words are short
_BEGINNINGS = {"digit": unicode.DIGIT, "lower": unicode.LOWER, "sign": unicode.PUNCTUATION}

column_features(
    "lines",
    {
        "characters": "lengths",
        "run.blocks": "run_blocks",
        "run.place": "run_place",
        "run.longest": "run_longest",
        "run.mean": "run_mean",
        "bold-share": "bold_share",
        "capitalised-share": "capitalised_share",
    },
)


@feature("run.filled")
def run_filled(page: Columns) -> Column:
    """Length of the block relative to the longest block in the run."""
    return page.lengths / np.maximum(page.run_longest, 1)


@feature("begins-with.{digit,lower,sign}")
def begins_with(page: Columns, kind: str) -> Column:
    """1 if the block begins with a digit, a lower-case letter or a punctuation mark (sign)."""
    return page.begins_with(_BEGINNINGS[kind])


@feature("look.bold-share")
def look_bold_share(page: Columns) -> Column:
    """Average bold-share of the blocks that look like this block."""
    return page.share_of_look(page.bold_share)


@feature("look.short-share")
def look_short_share(page: Columns) -> Column:
    """Share of short blocks, with fewer than five words, among the blocks that look like this block."""
    return page.share_of_look(page.words < _SHORT)


@feature("look.break-share")
def look_break_share(page: Columns) -> Column:
    """Share of blocks after a single line break among the blocks that look like this block."""
    return page.share_of_look(page.passed(["br"]) == 1)


@feature("document.break-share")
def document_break_share(page: Columns) -> Column:
    """Share of the page's blocks that come after a line break."""
    return _everywhere(page, page.passed(["br"]) > 0)


@feature("document.share-in.*")
def document_share_in(page: Columns, name: str) -> Column:
    """Share of the page's blocks inside an element with this tag or a tag of this class."""
    return _everywhere(page, page.within(name))


def _everywhere(page: Columns, column: Column) -> Column:
    """Return the mean of a column for every block."""
    return np.full(page.count, column.mean() if page.count else 0.0)
