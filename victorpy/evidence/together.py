"""What belongs together stays together: a heading with the text below it, the cells of a table with each other.

Blocks are judged one by one, by how much their words count. A heading's few words hardly count, and a number in a cell
looks like noise; but readers miss the one, and a table with holes says less than none.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from victorpy.columns import Columns, Counts, Flags, Floats
from victorpy.evidence.cut import block_weights

# From this share of a table's words on, all of it is kept.
MOST_OF_A_TABLE = 0.5

# Tables whose cells hold texts, or that are hardly tables, are judged like all else.
_LONGEST_CELL = 80
_FEWEST_CELLS = 4
_FEWEST_ROWS = 2


def headings_above(kept: Flags, content: Floats, page: Columns, least: float) -> Flags:
    """Headings right above text that is kept, if they are so probable."""
    is_heading = page.within("class-header")
    above = np.zeros(len(kept), dtype=bool)
    above[:-1] = (kept & ~is_heading)[1:]
    return is_heading & above & (content >= least)


def with_whole_tables(kept: Flags, page: Columns) -> Flags:
    """Keep all of the tables of data of which most is kept."""
    tables = page.elements_with(["table"])
    if not len(tables):
        return kept
    result = kept.copy()
    weight = block_weights(page)
    first, stop = page.block_range
    for table in _tables_of_data(tables, page):
        cells = slice(first[table], stop[table])
        is_short = page.words[cells].max(initial=0) <= _LONGEST_CELL
        if len(weight[cells]) >= _FEWEST_CELLS and is_short:
            share = weight[cells] @ kept[cells] / weight[cells].sum()
            result[cells] |= share >= MOST_OF_A_TABLE
    return result


def _tables_of_data(tables: Counts, page: Columns) -> Counts:
    """The tables that hold no other one, have rows, and say by their markup that they hold data, not a layout."""

    def held(tags: Iterable[str]) -> Counts:
        """How many elements with these tags each table holds."""
        elements = page.elements_with(tags)
        found: Counts = np.searchsorted(elements, page.stop[tables]) - np.searchsorted(elements, tables, side="right")
        return found

    marked = held(["th", "thead", "caption"]) > 0
    return tables[marked & (held(["table"]) == 0) & (held(["tr"]) >= _FEWEST_ROWS)]
