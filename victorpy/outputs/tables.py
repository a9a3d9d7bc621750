"""The parts of a page that formats write: segments and data tables.

Old pages use tables for layout; a data table has rows and columns of short texts. In a data table every block becomes
a cell, whatever its label. A dropped block leaves its cell empty, and rows and columns without kept text are left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from victorpy.document import HEADINGS, Block, Document, Elements, Label, Piece
from victorpy.outputs.base import CleanPage, KeptBlocks, LabelledBlock, Segment, join_blocks

# A table with <th>, <caption> or <thead> contains data, unless a cell is as long as an article.
_MAX_MARKED_CELL = 2_000
# For other tables, the rules are stricter.
_MAX_CELL = 400  # characters
_MAX_LONG_CELLS = 0.05  # share of cells that may be longer
_MAX_MEDIAN_CELL = 120
_MAX_MULTI_SEGMENT_CELLS = 0.4
_MIN_ROWS_OF_COMMON_WIDTH = 0.6
_MIN_ROWS_WITH_TWO_CELLS = 0.5

MOST_CELLS = 10_000
"""Maximum number of cells of a table.

A larger table is written as several tables. If a single row is longer, it is not a table.
"""

_CELL_TAGS = frozenset(["td", "th"])
_MAX_COLUMNS = 100  # maximum number of columns that spans may cover
_NUMBER = re.compile("[0-9]{1,6}")
_MARK = re.compile(r"(\s*)([\w*†‡§]{1,4})(\s*)")  # of a note
_BOLD = HEADINGS | {"b", "strong"}

# Control characters occur by accident, mostly as Windows-1252 bytes that were decoded as Latin-1. Browsers show
# nothing, or the Windows-1252 character, but terminals execute them.
_CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
# Soft hyphens, zero-width spaces and byte order marks would hide a word from a search.
_ZERO_WIDTH = re.compile("[\u00ad\u200b\u2060\ufeff]")
_BREAKS = "\x0b\x0c\r\u2028\u2029"
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff•◦▪‣"  # a bullet without text counts as invisible
_VISIBLE = re.compile(rf"[^\s{INVISIBLE}]")


class Cell(NamedTuple):
    """A table cell with its kept paragraphs and list items."""

    element: int
    is_heading: bool
    segments: tuple[Segment, ...]
    column: int = 0  # number of the cell's first column
    width: int = 1  # number of columns that it spans
    height: int = 1  # number of rows that it spans

    @property
    def text(self) -> str:
        """The cell's text on one line."""
        return " ".join(" ".join(segment.text.split()) for segment in self.segments)


class Table(NamedTuple):
    """A data table. Rows may have different lengths, and cells may span several rows or columns."""

    element: int
    rows: tuple[tuple[Cell, ...], ...]
    has_header: bool  # whether the first row names the columns

    @property
    def grid(self) -> list[list[Cell | None]]:
        """The rows with one entry per column, up to their last cell.

        If a cell spans columns, it is in the first of them.
        """
        grid: list[list[Cell | None]] = []
        for row in self.rows:
            entries: list[Cell | None] = [None] * (row[-1].column + 1 if row else 0)
            for cell in row:
                entries[cell.column] = cell
            grid.append(entries)
        return grid

    @property
    def label(self) -> Label:
        """Label of a table in code that expects segments: a paragraph."""
        return Label.PARAGRAPH

    @property
    def text(self) -> str:
        """One line per row, with tabs between cells."""
        return "\n".join("\t".join(cell.text if cell else "" for cell in row).rstrip("\t") for row in self.grid)


Part = Segment | Table


def parts(page: CleanPage, marks: bool = False) -> Iterator[Part]:
    """Yield the segments and data tables of a page, without invisible segments. `marks` are as in `TidyBlocks`."""
    kept = TidyBlocks(page, marks)
    if not page.document.has_tag("table"):
        yield from filter(_is_visible, join_blocks(kept))
        return
    done = 0
    for table, first, stop in find_tables(kept):
        yield from filter(_is_visible, join_blocks(_stretch(kept, done, first)))
        yield table
        done = stop
    yield from filter(_is_visible, join_blocks(_stretch(kept, done, len(kept.numbers))))


def tidy_text(page: CleanPage, number: int) -> str:
    """Return the text of a block as it is written in plain text."""
    [(block, _)] = TidyBlocks(page, marks=True, numbers=[number])
    return block.text


class TidyBlocks(KeptBlocks):
    """Kept blocks without control characters.

    Zero-width characters are also removed, unless a person labelled the page.

    With `marks`, references to notes are put in brackets, because plain text would join them to the previous word.
    """

    def __init__(self, page: CleanPage, marks: bool, numbers: Sequence[int] | None = None) -> None:
        super().__init__(page, numbers)
        self._has_marks = marks and page.document.has_tag("sup")

    def _make(self, numbers: Sequence[int]) -> list[LabelledBlock]:
        tidy = []
        for block, label in super()._make(numbers):
            has_mark = self._has_marks and any("sup" in piece.distance for piece in block.pieces)
            marked = _rewrite(block, self._in_brackets) if has_mark else block
            # Most texts are printable, and this check is much faster than a search.
            tidy.append((marked if marked.text.isprintable() else _rewrite(marked, self._printable), label))
        return tidy

    def _in_brackets(self, text: str, piece: Piece, _: str) -> str:
        document = self.page.document
        is_mark = piece.start and _MARK.fullmatch(text) and document.elements.ancestor(piece.element, ["sup"]) >= 0
        link = document.elements.ancestor(piece.element, ["a"]) if is_mark else -1
        return _MARK.sub(r"\1[\2]\3", text) if "#" in document.attributes_of(link).get("href", "") else text

    def _printable(self, text: str, _: Piece, line_end: str) -> str:
        text = without_controls(text, line_end)
        return _ZERO_WIDTH.sub("", text) if self.page.by_method else text


def find_tables(kept: TidyBlocks) -> Iterator[tuple[Table, int, int]]:
    """Yield the data tables of a page, each with the range of the kept blocks in its cells."""
    document, elements = kept.page.document, kept.page.document.elements
    for table, rows, first, stop in _tables(kept.numbers, elements):
        blocks_by_cell: dict[int, list[LabelledBlock]] = {cell: [] for row in rows for cell in row}
        in_cells = []
        for number, labelled in enumerate(_stretch(kept, first, stop), first):
            element = labelled[0].element
            while element > table and element not in blocks_by_cell:
                element = elements.parent[element]
            if element > table:
                in_cells.append(number)
                blocks_by_cell[element].append(labelled)
        # Text before or after all cells is a caption. But a table with text between its cells is not a data table.
        if not in_cells or in_cells[-1] - in_cells[0] >= len(in_cells):
            continue
        contents = {
            cell: segments
            for cell, blocks in blocks_by_cell.items()
            if (segments := _cell_segments(blocks, cell, elements))
        }
        places = _cell_places(rows, document)
        if _is_data(table, rows, places, contents, document):
            yield _table(table, rows, places, contents, elements), in_cells[0], in_cells[-1] + 1


def _stretch(kept: TidyBlocks, first: int, stop: int) -> Iterator[LabelledBlock]:
    """Yield a range of the kept blocks. Captions become paragraphs, even if they are labelled as headings."""
    if not kept.page.document.has_tag("caption"):
        yield from kept.stretch(first, stop)
        return
    elements = kept.page.document.elements
    previous = -1
    for block, label in kept.stretch(first, stop):
        caption = elements.ancestor(block.element, ["caption"]) if "caption" in block.containers else -1
        continues = label is Label.CONTINUATION and caption == previous
        yield block, label if caption < 0 or continues else Label.PARAGRAPH
        previous = caption


def _tables(numbers: Sequence[int], elements: Elements) -> Iterator[tuple[int, list[list[int]], int, int]]:
    """Yield the tables that may contain data: the table, its cells by row, and the range of its kept blocks.

    `numbers` are the numbers of the kept blocks. A table with more than `MOST_CELLS` cells is cut into several.
    """
    tables: list[tuple[int, int, int]] = []
    for table in elements.with_tag("table"):
        first = bisect_left(numbers, elements.first_block[table])
        stop = bisect_left(numbers, elements.stop_block[table])
        if stop - first >= 4:  # two rows of two cells; smaller ones, such as a pager, are text of the table around them
            tables.append((table, first, stop))
    for (table, start, stop), (next_table, *_) in pairwise([*tables, (len(elements), 0, 0)]):
        if next_table < elements.stop[table]:
            continue  # it contains another table
        rows = _rows(table, elements)
        is_nested = any(elements.stop[row[-1]] > below[0] for row, below in pairwise(filter(None, rows)))
        if is_nested or max(map(len, rows), default=0) > MOST_CELLS:
            continue  # broken markup with rows inside cells, or too long a row
        portion: list[list[int]] = []
        cells, first = 0, start
        for row in rows:
            if cells + len(row) > MOST_CELLS:
                end = bisect_left(numbers, elements.first_block[row[0]])
                yield table, portion, first, end
                portion, cells, first = [], 0, end
            portion.append(row)
            cells += len(row)
        yield table, portion, first, stop


def _rows(table: int, elements: Elements) -> list[list[int]]:
    """Return the cell elements of every row, without those of nested tables."""
    rows: dict[int, list[int]] = {}
    nested_stop = 0
    for number in range(table + 1, elements.stop[table]):
        tag = elements.tag[number]
        if number < nested_stop:
            continue
        if tag == "table":
            nested_stop = elements.stop[number]
        elif tag == "tr":
            rows[number] = []
        elif tag in _CELL_TAGS and elements.parent[number] in rows:
            rows[elements.parent[number]].append(number)
    return [*rows.values()]


class _CellPlace(NamedTuple):
    row: int
    column: int
    height: int
    width: int


_Places = dict[int, _CellPlace]


def _cell_places(rows: list[list[int]], document: Document) -> _Places:
    """Return the place of every cell in the grid of rows and columns, as browsers lay out a table."""
    places: _Places = {}
    rows_left: dict[int, int] = {}  # by column, how many more rows a cell above covers
    for number, row in enumerate(rows):
        column = 0
        covering: dict[int, int] = {}
        for cell in row:
            while rows_left.get(column):
                column += 1
            attributes = document.attributes_of(cell)
            height = width = 1
            if "rowspan" in attributes or "colspan" in attributes:
                height = _span(attributes, "rowspan", len(rows) - number)
                width = _span(attributes, "colspan", max(_MAX_COLUMNS - column, 1))
            places[cell] = _CellPlace(number, column, height, width)
            if height > 1:
                covering |= dict.fromkeys(range(column, column + width), height)
            column += width
        rows_left |= covering
        rows_left = {column: left - 1 for column, left in rows_left.items() if left > 1}
    return places


def _span(attributes: Mapping[str, str], attribute: str, most: int) -> int:
    value = attributes.get(attribute, "").strip()
    if not _NUMBER.fullmatch(value):
        return 1
    return most if int(value) == 0 and attribute == "rowspan" else min(max(int(value), 1), most)


def _cell_segments(blocks: Sequence[LabelledBlock], cell: int, elements: Elements) -> tuple[Segment, ...]:
    """Join a cell's blocks. The markup decides what is a list item, and text after a ``<br>`` is a continuation."""
    relabelled: list[LabelledBlock] = []
    previous = None
    for block, label in blocks:
        if previous is not None and (
            label is Label.CONTINUATION
            or ("br" in block.distance and block.element == previous.element and block.index == previous.index + 1)
        ):
            relabelled.append((block, Label.CONTINUATION))
        else:
            element = block.element
            while element > cell and elements.tag[element] != "li":
                element = elements.parent[element]
            relabelled.append((block, Label.LIST if element > cell else Label.PARAGRAPH))
        previous = block
    if len(relabelled) == 1:  # the usual case
        return (segment,) if _is_visible(segment := Segment(relabelled[0][1], (relabelled[0][0],))) else ()
    return tuple(filter(_is_visible, join_blocks(relabelled)))


_Contents = dict[int, tuple[Segment, ...]]
"""Segments of the cells that are not empty."""


def _is_data(table: int, rows: list[list[int]], places: _Places, contents: _Contents, document: Document) -> bool:
    """Whether a table contains data: short cells, and two or more rows with two or more filled cells."""
    elements = document.elements
    if document.attributes_of(table).get("role") in {"presentation", "none"}:
        return False
    filled_cells = [filled for row in rows if (filled := sum(cell in contents for cell in row))]
    rows_with_two = sum(filled > 1 for filled in filled_cells)
    if rows_with_two < 2:
        return False
    multi_segment = [segments for segments in contents.values() if len(segments) > 1]
    if any(not HEADINGS.isdisjoint(segment.blocks[0].containers) for segments in multi_segment for segment in segments):
        return False  # a heading with text below it is an article
    lengths = sorted(sum(len(segment.text) for segment in segments) for segments in contents.values())
    tags = elements.tag[table : elements.stop[table]]
    if "thead" in tags or "caption" in tags or any(elements.tag[cell] == "th" for cell in contents):
        return lengths[-1] <= _MAX_MARKED_CELL
    median = (lengths[(len(lengths) - 1) // 2] + lengths[len(lengths) // 2]) / 2
    widths = Counter(places[row[-1]].column + places[row[-1]].width for row in rows if row)
    return (
        lengths[-1] <= _MAX_MARKED_CELL
        and sum(length > _MAX_CELL for length in lengths) <= _MAX_LONG_CELLS * len(lengths)
        and median <= _MAX_MEDIAN_CELL
        and len(multi_segment) <= _MAX_MULTI_SEGMENT_CELLS * len(contents)
        and max(widths.values()) >= _MIN_ROWS_OF_COMMON_WIDTH * widths.total()
        and rows_with_two >= _MIN_ROWS_WITH_TWO_CELLS * len(filled_cells)
    )


def _table(table: int, rows: list[list[int]], places: _Places, contents: _Contents, elements: Elements) -> Table:
    filled = [places[cell] for cell in contents]
    used_rows = sorted({place.row for place in filled})
    used_columns = sorted({place.column for place in filled})
    column_of = {column: number for number, column in enumerate(used_columns)}
    written_rows = []
    for number, row in enumerate(used_rows):
        written = []
        for cell in rows[row]:
            place = places[cell]
            column, width, height = column_of.get(place.column, -1), 1, 1
            if place.width > 1 or place.height > 1:
                column = bisect_left(used_columns, place.column)
                width = bisect_left(used_columns, place.column + place.width) - column
                height = bisect_left(used_rows, row + place.height) - number
            if column >= 0 and width:
                is_heading = elements.tag[cell] == "th"
                written.append(Cell(cell, is_heading, contents.get(cell, ()), column, width, height))
        written_rows.append(tuple(written))
    cells = tuple(written_rows)
    first_row = rows[used_rows[0]]
    # The first row is the header if it is in a <thead>, has only <th> cells, or is bold while the second row is not.
    first = cells[0] if cells[0][0].segments else cells[0][1:]  # the corner cell may be empty
    has_header = (
        elements.tag[elements.parent[elements.parent[first_row[0]]]] == "thead"
        or all(cell.is_heading for cell in first)
        or (len(first) > 1 and _is_bold(first, elements) and not _is_bold(cells[1], elements))
    )
    return Table(table, cells, has_header)


def _is_bold(cells: Sequence[Cell], elements: Elements) -> bool:
    """Whether all cells have text, and all their text is bold."""
    for cell in cells:
        pieces = [piece for segment in cell.segments for block in segment.blocks for piece in block.pieces]
        if not pieces or any(elements.ancestor(piece.element, _BOLD) < 0 for piece in pieces):
            return False
    return True


def without_controls(text: str, line_end: str = " ") -> str:
    r"""Remove control characters, or replace them with the line end or Windows-1252 character that they stand for.

    >>> without_controls("\x1b[1mtea\x07 \x96 5\x80\u2028")
    '[1mtea – 5€ '
    """

    def meaning(match: re.Match[str]) -> str:
        control = match[0]
        if control in _BREAKS:
            return line_end
        return bytes([ord(control)]).decode("cp1252", "ignore") if "\x80" <= control <= "\x9f" else ""

    return _CONTROLS.sub(meaning, text)


def _rewrite(block: Block, rewrite: Callable[[str, Piece, str], str]) -> Block:
    """Rewrite the text of a block piece by piece, so that each piece still starts at the right offset.

    `rewrite` receives the text, the piece, and the replacement for line ends.
    """
    line_end = "\n" if block.preformatted else " "
    texts, moved, start = [], [], 0
    for piece, text in block.each_piece():
        moved.append(piece._replace(start=start))
        texts.append(rewrite(text, piece, line_end))
        start += len(texts[-1])
    return block._replace(text="".join(texts), pieces=tuple(moved))


def _is_visible(segment: Segment) -> bool:
    return segment.blocks[0].text[:1].isalnum() or any(_VISIBLE.search(block.text) for block in segment.blocks)
