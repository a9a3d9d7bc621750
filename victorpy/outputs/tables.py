"""The parts of a page that formats write: segments that readers can see, and tables of data.

The old Web laid pages out with tables; a table of data has rows and columns of short texts. Inside it every block
becomes a cell, whatever its label. A dropped block leaves its cell empty; rows and columns of which nothing was kept
are left out. Elements keep no ``colspan`` and ``rowspan``, so cells are in the order of their rows, and short rows end
early.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from victorpy.document import Block, Elements, Label
from victorpy.outputs.base import HEADINGS, CleanPage, LabelledBlock, Segment, join_blocks
from victorpy.page.markup import pieces

# A table with headings, a caption or a head is one of data unless whole articles are in it; any other has to look so.
_LONGEST_CELL_OF_MARKED = 2_000
_LONGEST_CELL = 400
_MEDIAN_CELL = 120
_MOST_CELLS_OF_SEVERAL_PARAGRAPHS = 0.4
_LEAST_ROWS_OF_ONE_WIDTH = 0.6
_LEAST_ROWS_OF_TWO_CELLS = 0.5
_LEAST_BLOCKS = 4

_CELL_TAGS = frozenset(["td", "th"])
_BOLD = HEADINGS | {"b", "strong"}
_CAPTION = frozenset(["caption"])
_ITEM = frozenset(["li"])

# What readers cannot see, and formats for them leave out: control characters and text that looks empty. Pages have
# control characters by accident, mostly from bytes of Windows-1252 that were taken for Latin-1. Browsers show nothing
# for them, or what the byte means there. Terminals obey them.
_CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_BREAKS = "\x0b\x0c\r\u2028\u2029"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_VISIBLE = re.compile(rf"[^\s{_INVISIBLE}]")


class Cell(NamedTuple):
    """A cell with the paragraphs and list items that were kept of it."""

    element: int
    is_heading: bool
    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """The cell's text on one line."""
        return " ".join(" ".join(segment.text.split()) for segment in self.segments)


class Table(NamedTuple):
    """A table of data; rows may be of different lengths."""

    element: int
    rows: tuple[tuple[Cell, ...], ...]
    has_header: bool
    """Whether the first row names the columns."""

    @property
    def label(self) -> Label:
        """The label that a table has for code that only knows segments."""
        return Label.PARAGRAPH

    @property
    def text(self) -> str:
        """One line per row with tabs between cells: no sign that is not on the page, and columns can be recovered."""
        return "\n".join("\t".join(cell.text for cell in row).rstrip("\t") for row in self.rows)


Part = Segment | Table
_Contents = dict[int, tuple[Segment, ...]]
"""Kept segments of each cell that is not empty, by the cell's element."""


def parts(page: CleanPage) -> list[Part]:
    """Return the segments of a page, without what readers cannot see, and its tables of data."""
    kept = [pair for pair in zip(page.document.blocks, page.labels, strict=True) if pair[1].is_content]
    suspects = [block.text for block, _ in kept if not block.text.isprintable()]  # much faster than to search
    if not suspects:
        return _parts(kept, page.document.elements)
    found = _parts(readable(kept, suspects), page.document.elements)
    return [part for part in found if isinstance(part, Table) or is_visible(part)]


def _parts(kept: Sequence[LabelledBlock], elements: Elements) -> list[Part]:
    if "table" not in elements.tag:
        return [*join_blocks(kept)]
    labelled = _with_captions(kept, elements) if "caption" in elements.tag else kept
    found: list[Part] = []
    done = 0
    for element, start, stop in _table_ranges(labelled, elements):
        # Blocks before and after the cells are a caption. Blocks between cells but in none make it no table of data.
        cells = [_cell_around(block.element, element, elements) for block, _ in labelled[start:stop]]
        in_cells = [start + number for number, cell in enumerate(cells) if cell >= 0]
        if not in_cells or len(in_cells) < in_cells[-1] + 1 - in_cells[0]:
            continue
        blocks_of: dict[int, list[LabelledBlock]] = {}
        for number in in_cells:
            blocks_of.setdefault(cells[number - start], []).append(labelled[number])
        segments_of = ((cell, _cell_segments(blocks, cell, elements)) for cell, blocks in blocks_of.items())
        contents = {cell: segments for cell, segments in segments_of if segments}
        rows = _rows(element, elements)
        if _is_data(element, rows, contents, elements):
            found += [*join_blocks(labelled[done : in_cells[0]]), _table(element, rows, contents, elements)]
            done = in_cells[-1] + 1
    return found + join_blocks(labelled[done:])


def _with_captions(labelled: Sequence[LabelledBlock], elements: Elements) -> Sequence[LabelledBlock]:
    """Make each caption a paragraph of its own, even if it is labelled as a heading or as a continuation."""
    relabelled = []
    previous = -1
    for block, label in labelled:
        caption = elements.ancestor(block.element, _CAPTION)
        continues = label is Label.CONTINUATION and caption == previous
        relabelled.append((block, label if caption < 0 or continues else Label.PARAGRAPH))
        previous = caption
    return relabelled


def _table_ranges(labelled: Sequence[LabelledBlock], elements: Elements) -> Iterable[tuple[int, int, int]]:
    """Yield the tables that hold no other table and enough for two rows of two, each with the range of its blocks."""
    tables = [number for number, tag in enumerate(elements.tag) if tag == "table"]
    at = 0
    for table, next_table in zip(tables, [*tables[1:], len(elements)], strict=True):
        table_stop = elements.stop[table]
        if next_table < table_stop:
            continue
        while at < len(labelled) and labelled[at][0].index < elements.first_block[table]:
            at += 1
        first = at
        while at < len(labelled) and labelled[at][0].index < elements.stop_block[table]:
            at += 1
        inside = [number for number in range(first, at) if table <= labelled[number][0].element < table_stop]
        if len(inside) >= _LEAST_BLOCKS:
            yield table, inside[0], inside[-1] + 1


def _cell_around(element: int, table: int, elements: Elements) -> int:
    """Return the cell of a table's row that an element lies in, or -1."""
    while element > table:
        if elements.tag[element] in _CELL_TAGS and elements.tag[elements.parent[element]] == "tr":
            return element
        element = elements.parent[element]
    return -1


def _rows(table: int, elements: Elements) -> list[list[int]]:
    """Return the cells of every row, as the page has them."""
    rows: dict[int, list[int]] = {}
    for number in range(table + 1, elements.stop[table]):
        tag = elements.tag[number]
        if tag == "tr":
            rows[number] = []
        elif tag in _CELL_TAGS and elements.parent[number] in rows:
            rows[elements.parent[number]].append(number)
    return [*rows.values()]


def _cell_segments(labelled: list[LabelledBlock], cell: int, elements: Elements) -> tuple[Segment, ...]:
    """Join a cell's blocks: markup says what is an item, and lines between line breaks belong together."""
    relabelled: list[LabelledBlock] = []
    previous = None
    for block, label in labelled:
        continues = previous is not None and (
            label is Label.CONTINUATION
            or ("br" in block.distance and block.element == previous.element and block.index == previous.index + 1)
        )
        if continues:
            relabelled.append((block, Label.CONTINUATION))
        else:
            is_item = elements.ancestor(block.element, _ITEM) > cell
            relabelled.append((block, Label.LIST if is_item else Label.PARAGRAPH))
        previous = block
    return tuple(filter(is_visible, join_blocks(relabelled)))


def _is_data(table: int, rows: list[list[int]], contents: _Contents, elements: Elements) -> bool:
    """Whether a table holds data: two rows or more have something in two columns or more, and cells are short."""
    if elements.attributes[table].get("role") in {"presentation", "none"}:
        return False
    filled_cells = [filled for row in rows if (filled := sum(cell in contents for cell in row))]
    rows_of_two = sum(filled > 1 for filled in filled_cells)
    if rows_of_two < 2:
        return False
    several = [segments for segments in contents.values() if len(segments) > 1]
    if any(not HEADINGS.isdisjoint(segment.blocks[0].containers) for segments in several for segment in segments):
        return False  # texts with headlines are articles
    lengths = sorted(sum(len(segment.text) for segment in segments) for segments in contents.values())
    tags_inside = elements.tag[table : elements.stop[table]]
    if "thead" in tags_inside or "caption" in tags_inside or any(elements.tag[cell] == "th" for cell in contents):
        return lengths[-1] <= _LONGEST_CELL_OF_MARKED  # nobody lays a page out with these
    median = (lengths[(len(lengths) - 1) // 2] + lengths[len(lengths) // 2]) / 2
    widths = Counter(len(row) for row in rows if row)
    return (
        lengths[-1] <= _LONGEST_CELL
        and median <= _MEDIAN_CELL
        and len(several) <= _MOST_CELLS_OF_SEVERAL_PARAGRAPHS * len(contents)
        and max(widths.values()) >= _LEAST_ROWS_OF_ONE_WIDTH * widths.total()
        and rows_of_two >= _LEAST_ROWS_OF_TWO_CELLS * len(filled_cells)
    )


def _table(table: int, rows: list[list[int]], contents: _Contents, elements: Elements) -> Table:
    rows = [row for row in rows if any(cell in contents for cell in row)]
    used = {column for row in rows for column, cell in enumerate(row) if cell in contents}
    cells = tuple(
        tuple(
            Cell(cell, elements.tag[cell] == "th", contents.get(cell, ()))
            for column, cell in enumerate(row)
            if column in used
        )
        for row in rows
    )
    # The first row is a header if it is in a head, or is all headings, or is bold above a row that is not.
    first = cells[0] if cells[0][0].segments else cells[0][1:]  # nothing may be above a column of headings
    has_header = (
        elements.tag[elements.parent[elements.parent[rows[0][0]]]] == "thead"
        or all(cell.is_heading for cell in first)
        or (len(first) > 1 and _is_bold(first, elements) and not _is_bold(cells[1], elements))
    )
    return Table(table, cells, has_header)


def _is_bold(cells: Sequence[Cell], elements: Elements) -> bool:
    """Whether all cells have some text, and all of it is bold."""
    for cell in cells:
        pieces = [piece for segment in cell.segments for block in segment.blocks for piece in block.pieces]
        if not pieces or any(elements.ancestor(piece.element, _BOLD) < 0 for piece in pieces):
            return False
    return True


def without_controls(text: str, line_end: str = " ") -> str:
    r"""Remove control characters, or replace them with what they mean: line ends, characters of Windows-1252.

    >>> without_controls("\x1b[1mtea\x07 \x96 5\x80\u2028")
    '[1mtea – 5€ '
    """

    def meaning(match: re.Match[str]) -> str:
        control = match[0]
        if control in _BREAKS:
            return line_end
        return bytes([ord(control)]).decode("cp1252", "ignore") if "\x80" <= control <= "\x9f" else ""

    return _CONTROLS.sub(meaning, text)


def readable(labelled: Sequence[LabelledBlock], suspects: Sequence[str]) -> Sequence[LabelledBlock]:
    """Return blocks without control characters; only the texts in `suspects` may have some."""
    if not _CONTROLS.search("\n".join(suspects)):
        return labelled
    return [(_clean_block(block), label) for block, label in labelled]


def _clean_block(block: Block) -> Block:
    """Clean a block's text piece by piece, so that each piece still begins at the right character."""
    line_end = "\n" if block.preformatted else " "
    texts, moved, start = [], [], 0
    for piece, (_, text) in zip(block.pieces, pieces(block), strict=True):
        moved.append(piece._replace(start=start))
        texts.append(without_controls(text, line_end))
        start += len(texts[-1])
    return block._replace(text="".join(texts), pieces=tuple(moved))


def is_visible(segment: Segment) -> bool:
    """Whether a segment has a visible character."""
    return segment.blocks[0].text[:1].isalnum() or any(_VISIBLE.search(block.text) for block in segment.blocks)
