"""Tables of data among what was kept, told from the tables that the old Web laid pages out with.

A table of data has rows and columns of short texts. What stands in one is a cell, whatever its label is; what was
dropped leaves its cell empty, and rows and columns of which nothing was kept are left out. Elements keep no ``colspan``
and ``rowspan``, so cells stand in the order of their rows, and short rows end early.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from statistics import median
from typing import NamedTuple

from victorpy.document import Block, CleanPage, Elements, Label
from victorpy.outputs.base import HEADINGS, LabelledBlock, Segment, join_blocks
from victorpy.outputs.readable import is_visible, readable, suspects

# A table with headings, a caption or a head is one of data unless whole articles stand in it; any other has to look it.
_LONGEST_CELL_OF_MARKED = 2_000
_LONGEST_CELL = 400
_MEDIAN_CELL = 120
_MOST_CELLS_OF_SEVERAL_PARAGRAPHS = 0.4
_LEAST_ROWS_OF_ONE_WIDTH = 0.6
_LEAST_ROWS_OF_TWO_CELLS = 0.5
_LEAST_BLOCKS = 4

_CELL_TAGS = frozenset(["td", "th"])
_BOLD = HEADINGS | {"b", "strong"}


class Cell(NamedTuple):
    """A cell with what was kept of it: paragraphs and list items, none where all of it was dropped."""

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
    """Whether the first row says what the columns are."""

    @property
    def label(self) -> Label:
        """What a table is for those who know segments alone."""
        return Label.PARAGRAPH

    @property
    def text(self) -> str:
        """A row a line, tabs between its cells: no sign that is not on the page, and columns can be had back."""
        return "\n".join("\t".join(cell.text for cell in row).rstrip("\t") for row in self.rows)


Part = Segment | Table


def parts(page: CleanPage) -> list[Part]:
    """The segments of a page, as readers can see them, with its tables of data as such."""
    kept = [pair for pair in zip(page.document.blocks, page.labels, strict=True) if pair[1].is_content]
    suspected = suspects(kept)
    if not suspected:
        return _parts(kept, page.document.elements)
    found = _parts(readable(kept, suspected), page.document.elements)
    return [part for part in found if isinstance(part, Table) or is_visible(part)]


def _parts(kept: Sequence[LabelledBlock], elements: Elements) -> list[Part]:
    if "table" not in elements.tag:
        return [*join_blocks(kept)]
    labelled = _with_captions(kept, elements)
    found: list[Part] = []
    done = 0
    for element, inside in _table_blocks(labelled, elements):
        read = _read(element, labelled[inside.start : inside.stop], elements)
        if read is not None:
            table, first, stop = read
            found += join_blocks(labelled[done : inside.start + first])
            found.append(table)
            done = inside.start + stop
    return found + join_blocks(labelled[done:])


def _with_captions(labelled: Sequence[LabelledBlock], elements: Elements) -> Sequence[LabelledBlock]:
    """A caption is a paragraph of its own; a label may make it a heading or the rest of what stands above the table."""
    if "caption" not in elements.tag:
        return labelled
    changed = []
    before = -1
    for block, label in labelled:
        caption = _ancestor(block.element, {"caption"}, elements)
        goes_on = label is Label.CONTINUATION and caption == before
        changed.append((block, label if caption < 0 or goes_on else Label.PARAGRAPH))
        before = caption
    return changed


def _table_blocks(labelled: Sequence[LabelledBlock], elements: Elements) -> Iterable[tuple[int, range]]:
    """The tables that hold no other table and enough for two rows of two, each with its kept blocks as a range."""
    tables = [number for number, tag in enumerate(elements.tag) if tag == "table"]
    at = 0
    for table, following in zip(tables, [*tables[1:], len(elements)], strict=True):
        stop = elements.stop[table]
        if following < stop:
            continue
        while at < len(labelled) and labelled[at][0].index < elements.first_block[table]:
            at += 1
        first = at
        while at < len(labelled) and labelled[at][0].index < elements.stop_block[table]:
            at += 1
        inside = [n for n in range(first, at) if table <= labelled[n][0].element < stop]
        if len(inside) >= _LEAST_BLOCKS:
            yield table, range(inside[0], inside[-1] + 1)


def _read(table: int, labelled: Sequence[LabelledBlock], elements: Elements) -> tuple[Table, int, int] | None:
    """Read a table if it is one of data; the numbers say where in its blocks the cells begin and end.

    What stands before and after them is a caption. Text between them that is in no cell makes it no table.
    """
    cells = [_cell_around(block.element, table, elements) for block, _ in labelled]
    in_cells = [number for number, cell in enumerate(cells) if cell >= 0]
    if not in_cells:
        return None
    first, stop = in_cells[0], in_cells[-1] + 1
    if len(in_cells) < stop - first:
        return None
    kept: dict[int, list[LabelledBlock]] = {}
    for number in in_cells:
        kept.setdefault(cells[number], []).append(labelled[number])
    rows = _rows(table, elements)
    read = ((cell, _cell_segments(blocks, cell, elements)) for cell, blocks in kept.items())
    contents = {cell: held for cell, held in read if held}
    if not _is_data(table, rows, contents, elements):
        return None
    return _table(table, rows, contents, elements), first, stop


def _cell_around(element: int, table: int, elements: Elements) -> int:
    """The cell of a table's row that an element lies in, -1 if in none."""
    while element > table:
        if elements.tag[element] in _CELL_TAGS and elements.tag[elements.parent[element]] == "tr":
            return element
        element = elements.parent[element]
    return -1


def _rows(table: int, elements: Elements) -> list[list[int]]:
    """The cells of every row, as the page has them."""
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
    for block, label in labelled:
        before = relabelled[-1][0] if relabelled else None
        if before is not None and (label is Label.CONTINUATION or _is_next_line(before, block)):
            relabelled.append((block, Label.CONTINUATION))
        else:
            is_item = _ancestor(block.element, {"li"}, elements) > cell
            relabelled.append((block, Label.LIST if is_item else Label.PARAGRAPH))
    return tuple(filter(is_visible, join_blocks(relabelled)))


def _is_next_line(before: Block, block: Block) -> bool:
    return "br" in block.distance and block.element == before.element and block.index == before.index + 1


def _is_data(table: int, rows: list[list[int]], contents: dict[int, tuple[Segment, ...]], elements: Elements) -> bool:
    """Whether a table holds data: two rows or more have something in two columns or more, and cells are short."""
    if elements.attributes[table].get("role") in {"presentation", "none"}:
        return False
    filled = [filled for row in rows if (filled := sum(cell in contents for cell in row))]
    of_two_cells = sum(number > 1 for number in filled)
    if of_two_cells < 2:
        return False
    if any(len(held) > 1 and _has_heading(held) for held in contents.values()):
        return False
    lengths = [sum(len(segment.text) for segment in held) for held in contents.values()]
    if _is_marked(table, contents, elements):
        return max(lengths) <= _LONGEST_CELL_OF_MARKED
    widths = Counter(len(row) for row in rows if row)
    several = sum(len(held) > 1 for held in contents.values())
    return (
        max(lengths) <= _LONGEST_CELL
        and median(lengths) <= _MEDIAN_CELL
        and several <= _MOST_CELLS_OF_SEVERAL_PARAGRAPHS * len(contents)
        and max(widths.values()) >= _LEAST_ROWS_OF_ONE_WIDTH * widths.total()
        and of_two_cells >= _LEAST_ROWS_OF_TWO_CELLS * len(filled)
    )


def _has_heading(held: tuple[Segment, ...]) -> bool:
    """Whether something has a headline, so that it is an article, not a datum."""
    return any(not HEADINGS.isdisjoint(segment.blocks[0].containers) for segment in held)


def _is_marked(table: int, contents: Iterable[int], elements: Elements) -> bool:
    """Whether the markup says that a table is one of data; nobody lays a page out with these."""
    inside = elements.tag[table : elements.stop[table]]
    return "thead" in inside or "caption" in inside or any(elements.tag[cell] == "th" for cell in contents)


def _table(table: int, rows: list[list[int]], contents: dict[int, tuple[Segment, ...]], elements: Elements) -> Table:
    rows = [row for row in rows if any(cell in contents for cell in row)]
    used = {column for row in rows for column, cell in enumerate(row) if cell in contents}
    written = tuple(
        tuple(
            Cell(cell, elements.tag[cell] == "th", contents.get(cell, ()))
            for column, cell in enumerate(row)
            if column in used
        )
        for row in rows
    )
    return Table(table, written, _has_header(rows[0], written, elements))


def _has_header(first: list[int], rows: Sequence[Sequence[Cell]], elements: Elements) -> bool:
    """Whether the first row is a head: by its place, or as all of it is headings, or bold above what is not."""
    if elements.tag[elements.parent[elements.parent[first[0]]]] == "thead":
        return True
    cells = rows[0] if rows[0][0].segments else rows[0][1:]  # nothing may stand above a column of headings
    if all(cell.is_heading for cell in cells):
        return True
    return len(cells) > 1 and _is_bold(cells, elements) and not _is_bold(rows[1], elements)


def _is_bold(cells: Sequence[Cell], elements: Elements) -> bool:
    """Whether cells all have something in them, and all of that is bold."""
    pieces = [
        [piece for segment in cell.segments for block in segment.blocks for piece in block.pieces] for cell in cells
    ]
    return all(held and all(_ancestor(piece.element, _BOLD, elements) >= 0 for piece in held) for held in pieces)


def _ancestor(element: int, tags: Set[str], elements: Elements) -> int:
    """The innermost element of some tags around an element, -1 if there is none."""
    while element >= 0 and elements.tag[element] not in tags:
        element = elements.parent[element]
    return element
