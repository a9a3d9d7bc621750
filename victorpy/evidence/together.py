"""What belongs together stays together: a heading with the text below it, the cells of a table with each other.

Blocks are judged one by one, weighted by their words. A heading's few words hardly count, and a number in a cell looks
like noise. But readers miss a heading, and a table with holes is worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from victorpy.columns import Columns, Counts, Flags, Floats
from victorpy.evidence.cut import block_weights

# A whole table is kept if this share of its words is: of a table whose markup says that it holds data, ...
MOST_OF_MARKED = 0.5
_LONGEST_OF_MARKED = 80

# ... and of one that might be for layout, but has rows of several short cells.
MOST_OF_BARE = 0.7
_LONGEST_OF_BARE = 40

_FEWEST_BLOCKS = 4
_FEWEST_ROWS = 2


def headings_above(kept: Flags, content: Floats, page: Columns, least: float) -> Flags:
    """Return the headings right above kept text, if they are at least this probable."""
    is_heading = page.within("class-header")
    above = np.zeros(len(kept), dtype=bool)
    above[:-1] = (kept & ~is_heading)[1:]
    return is_heading & above & (content >= least)


def with_whole_tables(kept: Flags, page: Columns) -> Flags:
    """Add the rest of data tables of which most is kept."""
    tables = page.elements_with(["table"])
    if not len(tables):
        return kept
    rows, cells = _held(tables, ["tr"], page), _held(tables, ["td", "th"], page)
    is_innermost = _held(tables, ["table"], page) == 0
    is_marked = _held(tables, ["th", "thead", "caption"], page) > 0
    is_grid = (rows > _FEWEST_ROWS) & (cells >= 2 * rows)
    result = kept.copy()
    weight = block_weights(page)
    for table in tables[is_innermost & is_marked & (rows >= _FEWEST_ROWS)]:
        _keep_whole(int(table), result, weight, page, MOST_OF_MARKED, _LONGEST_OF_MARKED)
    for table in tables[is_innermost & ~is_marked & is_grid]:
        _keep_whole(int(table), result, weight, page, MOST_OF_BARE, _LONGEST_OF_BARE)
    return result


def _held(tables: Counts, tags: Iterable[str], page: Columns) -> Counts:
    """Return how many elements with these tags each table holds."""
    elements = page.elements_with(tags)
    first, stop = (np.searchsorted(elements, at, side="left") for at in (tables + 1, page.stop[tables]))
    held: Counts = stop - first
    return held


def _keep_whole(table: int, kept: Flags, weight: Floats, page: Columns, most: float, longest: int) -> None:
    """Keep all of a table if at least `most` of its words are kept and no block has more than `longest` words."""
    first, stop = page.block_range
    blocks = slice(first[table], stop[table])
    own = weight[blocks]
    if len(own) >= _FEWEST_BLOCKS and page.words[blocks].max() <= longest:
        kept[blocks] |= own @ kept[blocks] >= most * own.sum()
