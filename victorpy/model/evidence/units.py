"""Find the units of a page, such as listings and data tables, which are kept as a whole or not at all."""

from __future__ import annotations

import numpy as np

from victorpy.columns import Columns, Counts

# A data table has at least this many blocks and rows, and its blocks have at most this many words.
_FEWEST_TABLE_BLOCKS = 4
_FEWEST_ROWS = 2
_LONGEST_MARKED_CELL = 80  # maximum words if a table has header cells or a caption
_LONGEST_CELL = 40  # maximum words in a table that may only arrange the page, but has rows of several cells

# Maximum number of words of a figure, of an item or description with its label, and of an item's label.
_LONGEST_FIGURE = 120
_LONGEST_ITEM = 80
_LONGEST_LABEL = 8
_ITEM_BLOCKS = 2, 4  # minimum and maximum number of blocks


Ranges = tuple[Counts, Counts]
"""The first block of each unit, and the end of its range."""


def find_units(page: Columns) -> Ranges:
    """Return the ranges of blocks that are kept or dropped together. Smaller units come first.

    Units are listings, data tables, figures with their captions, terms with their descriptions, and short items of
    lists that begin with a label and do not end with a button.
    """
    first, stop = page.block_range
    total, link_total = page._running_words
    figures, terms, items = (page.elements_with([tag]) for tag in ("figure", "dt", "li"))
    figures = figures[total[stop[figures]] - total[first[figures]] <= _LONGEST_FIGURE] if len(figures) else figures
    whole = page.elements_with(["pre"]), data_tables(page, page.elements_with(["table"])), figures
    ranges = [(first[elements], stop[elements]) for elements in whole if len(elements)]
    if len(terms):
        list_of_term, following = page.parent[terms], np.append(terms[1:], 0)  # nothing follows the last term
        end = np.where(page.parent[following] == list_of_term, first[following], stop[list_of_term])
        is_short = total[end] - total[first[terms]] <= _LONGEST_ITEM
        ranges.append((first[terms][is_short], end[is_short]))
    begin, end = first[items], stop[items]
    size = end - begin
    few = np.flatnonzero((size >= _ITEM_BLOCKS[0]) & (size <= _ITEM_BLOCKS[1])) if len(items) else items
    if len(few):
        begin, end = begin[few], end[few]
        words, link_words, label = total[end] - total[begin], link_total[end] - link_total[begin], page.words[begin]
        is_labelled = (label <= _LONGEST_LABEL) & (2 * label <= words) & (words <= _LONGEST_ITEM)
        is_labelled &= 2 * link_words < words
        if page.document.has_tag("button"):
            is_labelled &= ~page.within("button")[end - 1]
        if is_labelled.any():
            ranges.append((begin[is_labelled], end[is_labelled]))
    if not ranges:
        return items[:0], items[:0]
    begin, end = map(np.concatenate, zip(*ranges, strict=True))
    size = end - begin
    order = np.argsort(size, kind="stable")
    order = order[size[order] > 1]
    return begin[order], end[order]


def data_tables(page: Columns, tables: Counts) -> Counts:
    """Return the tables that contain data, not those that only arrange the page."""
    if not len(tables):
        return tables
    edges = np.array([tables + 1, page.stop[tables]])

    def count_inside(*tags: str) -> Counts:
        """Count the elements with these tags inside each table."""
        begin, end = page.elements_with(tags).searchsorted(edges)
        counts: Counts = end - begin
        return counts

    rows, cells = count_inside("tr"), count_inside("td", "th")
    is_marked = count_inside("th", "thead", "caption") > 0
    is_grid = (rows > _FEWEST_ROWS) & (cells >= 2 * rows)
    first, stop = page.block_range
    is_data = (count_inside("table") == 0) & np.where(is_marked, rows >= _FEWEST_ROWS, is_grid)
    is_data &= stop[tables] - first[tables] >= _FEWEST_TABLE_BLOCKS
    longest = np.where(is_marked, _LONGEST_MARKED_CELL, _LONGEST_CELL)
    for number in np.flatnonzero(is_data):
        table = tables[number]
        is_data[number] = page.words[first[table] : stop[table]].max() <= longest[number]
    return tables[is_data]
