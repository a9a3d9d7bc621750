"""The layout of a page: wrapped lines, rules between sections, and short blocks that share a line.

Blocks are laid out on demand, so that a long page takes no more time than a short one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from victorpy.annotation.session import DOUBTFUL, Session
from victorpy.annotation.tui.text import HIT, RIGHT_TO_LEFT, Cell, Row, between, text_of, visible, width_of, wrap
from victorpy.document import Block, Document, Label

MOST_SHOWN = 5_000  # maximum number of visible characters of a block
SECTION_END = "end"  # name of the rule at the end of a section, unless another section begins there
_LISTS = frozenset("table ul ol dl figure".split())  # sections that may begin in the middle of a shared line
_SECTIONS = _LISTS | frozenset("nav header footer aside main article section form dialog".split())
_INDENTING = frozenset(["ul", "ol", "dl", "dir", "menu", "blockquote", "table"])
_HEADINGS = {f"h{level}": f"h{level} " for level in range(1, 7)}
_DEEPEST_INDENT = 5

_LONGEST_SHARED = 40  # maximum columns of a text that shares a line
_SHARED_GUTTER = 5  # columns before a block that follows another block on a line
_LINE_STARTS = 64  # every 64th block starts a line, so that shared lines depend only on nearby blocks
_MOST_KEPT = 2_000  # maximum number of blocks whose layout is cached


class BlockLayout(NamedTuple):
    """A block, ready to be drawn."""

    rule: str  # name of the rule above the block; empty if there is none
    mark: str  # text before the block, such as the level of a heading or a bullet
    indent: int
    lines: list[Row]  # styles: empty, link, heading or hit; see `text_style`
    shared_columns: int | None
    """Columns that the block takes on a shared line. None if it needs a line of its own."""

    @property
    def inline_mark(self) -> str:
        """The mark on a shared line, without the bullet."""
        return self.mark.replace("• ", "")


class PageLayout:
    """The layout of a page for one width."""

    def __init__(self, session: Session, gutter: int) -> None:
        self._session = session
        self._gutter = gutter  # columns before the text of a block
        self._rules, self._breaks = _find_sections(session.document)
        self._made_for: tuple[object, ...] = ()
        self._width = 0
        self._pack = True
        self._blocks: dict[int, BlockLayout] = {}
        self._lines: dict[int, range] = {}

    def prepare(self, width: int, pack: bool) -> bool:
        """Set the width, and whether blocks share lines. Return whether the layout is unchanged."""
        state = (width, pack, self._session.pattern, self._session.predicted)
        is_same = state == self._made_for
        if not is_same:
            self._made_for = state
            self._width, self._pack = width, pack
            self._blocks.clear()
            self._lines.clear()
        return is_same

    def height_of(self, number: int) -> int:
        """Return the rows of a block: 0 if it follows another block on a line."""
        if self.line_of(number)[0] != number:
            return 0
        block = self.block(number)
        return len(block.lines) + bool(block.rule)

    def block(self, number: int) -> BlockLayout:
        if number in self._blocks:
            return self._blocks[number]
        document = self._session.document
        block = document.blocks[number]
        heading = next((_HEADINGS[tag] for tag in reversed(block.containers) if tag in _HEADINGS), "")
        bullet = "• " if "li" in block.distance else ""
        is_picture = block.element >= 0 and document.elements.tag[block.element] == "img"
        mark = heading + bullet + ("[picture] " if is_picture else "") + ("[hidden] " if block.hidden else "")
        indent = 2 * min(sum(tag in _INDENTING for tag in block.containers), _DEEPEST_INDENT)

        cells = cells_of(block, document, "heading" if heading else "")
        # one column stays free, because terminals disagree on some widths
        room = self._width - self._gutter - indent - width_of(mark) - 1
        marked_cells = mark_hits(cells, self._session.pattern)
        lines = [list(between(marked_cells, start, stop)) for start, stop in wrap(text_of(cells), max(room, 8))]
        layout = BlockLayout(self._rules.get(number, ""), mark, indent, lines, None)

        text = text_of(cells)
        is_short = len(lines) == 1 and width_of(text) <= _LONGEST_SHARED
        if is_short and not self._session.choices and not RIGHT_TO_LEFT.search(text):
            before = max(indent + width_of(mark), _SHARED_GUTTER + width_of(layout.inline_mark))
            layout = layout._replace(shared_columns=before + width_of(text))
        if len(self._blocks) > _MOST_KEPT:
            self._blocks.clear()
        self._blocks[number] = layout
        return layout

    def line_of(self, number: int) -> range:
        """Return the blocks on the line of a block. Most blocks have a line of their own.

        Short neighbours that the model is sure are noise share a line, such as the entries of a menu. The layout
        depends only on the model, so that nothing moves while you label.
        """
        if not self._pack:
            return range(number, number + 1)
        if number not in self._lines:
            start, stop = number, number + 1
            while self._may_join_previous(start):
                start -= 1
            while self._may_join_previous(stop):
                stop += 1
            line_width = self._width - self._gutter - 1
            line, room = range(start, start), line_width
            for neighbour in range(start, stop):
                columns = self.block(neighbour).shared_columns or 0
                if columns > room and line:
                    self._lines.update(dict.fromkeys(line, line))
                    line, room = range(neighbour, neighbour), line_width
                line = range(line.start, neighbour + 1)
                room -= columns
            self._lines.update(dict.fromkeys(line, line))
        return self._lines[number]

    def _may_join_previous(self, number: int) -> bool:
        if not 0 < number < len(self._session) or number % _LINE_STARTS == 0 or number in self._breaks:
            return False
        return self._may_share(number - 1) and self._may_share(number)

    def _may_share(self, number: int) -> bool:
        predicted = self._session.predicted
        probability = predicted.probabilities[number]
        if predicted.labels[number] is not Label.OTHER or probability is None or probability < DOUBTFUL:
            return False
        return self.block(number).shared_columns is not None


def _find_sections(document: Document) -> tuple[dict[int, str], set[int]]:
    """Return the names of horizontal rules by block number, and the blocks that always start a line."""
    elements = document.elements
    rules: dict[int, str] = {}
    ends, breaks = set(), set()
    for number, tag in enumerate(elements.tag):
        first, stop = elements.first_block[number], elements.stop_block[number]
        if tag not in _SECTIONS or stop <= first:
            continue
        ids, classes = (elements.attributes[number].get(name, "").split() for name in ("id", "class"))
        name = visible(f"{tag}#{ids[0][:24]}" if ids else f"{tag}.{classes[0][:24]}" if classes else tag)
        rules[first] = f"{rules[first]} › {name}" if first in rules else name
        ends.add(stop)
        if tag not in _LISTS:
            breaks.add(first)
    return dict.fromkeys(ends, SECTION_END) | rules, breaks


def cells_of(block: Block, document: Document, style: str) -> Row:
    """Return the text of a block, safe for a terminal. Links have their own style."""
    cells: Row = []
    room = MOST_SHOWN
    for piece, text in block.each_piece():
        in_link = document.elements.ancestor(piece.element, ("a",)) >= 0
        cells.append(("link" if in_link else style, visible(text[:room].expandtabs(4))))
        room -= len(text)
        if room < 0:
            cells.append(("", f" … {len(block.text) - MOST_SHOWN:,} more characters"))
            break
    return cells


def mark_hits(cells: Sequence[Cell], pattern: str) -> Sequence[Cell]:
    """Give search hits their own style, even if they continue in the next cell.

    >>> mark_hits([("", "Green t"), ("link", "ea")], "TEA")
    [('', 'Green '), ('hit', 't'), ('hit', 'ea')]
    """
    wanted = visible(pattern)
    if not wanted.strip():
        return cells
    text = text_of(cells)
    marked: Row = []
    offset = 0
    for hit in re.finditer(re.escape(wanted), text, re.IGNORECASE):
        marked += between(cells, offset, hit.start())
        marked += [(HIT, part) for _, part in between(cells, hit.start(), hit.end())]
        offset = hit.end()
    return [*marked, *between(cells, offset, len(text))] if marked else cells
