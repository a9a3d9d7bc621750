"""The blocks of a page on the screen: scroll to the cursor, and draw the visible blocks.

urwid's ListBox takes 14 ms per key on a page of 50,000 blocks; this takes about 1 ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_letters, digits, punctuation

from victorpy.annotation.session import Session, State
from victorpy.annotation.tui.layout import SECTION_END, PageLayout
from victorpy.annotation.tui.text import Cell, Row, cut, fit, text_of, text_style, width_of

_SIGNS = {State.CHANGED: "*", State.CONFIRMED: "✓"}
_JUMP_LETTERS = ascii_letters + digits + punctuation
_MARGIN = 3  # minimum number of visible lines above and below the cursor's block


class BlockPane:
    """Shows as many blocks around the cursor as fit, with their labels."""

    def __init__(self, session: Session, mark_keys: str = "123456789", pack: bool = True) -> None:
        self.session = session
        self.pack = pack  # whether short blocks share lines if the model is sure that they are noise
        self.marks: dict[int, str] = {}  # keys that lead to doubtful blocks
        self.letters: dict[int, str] = {}
        """Letters that lead to the blocks on the screen.

        If there are more blocks than letters, the last blocks have none.
        """
        self.shows_letters = False  # whether letters are shown instead of numbers
        self._mark_keys = mark_keys
        self._digits = len(str(max(len(session), 1)))
        self.gutter = 2 + self._digits + 1 + 2 + (4 if session.choices else 3) + 2  # columns before the text
        self.layout = PageLayout(session, self.gutter)
        self._width = 0
        self._height = 1
        self._top = 0
        self._skip = 0  # lines of the topmost block that are above the screen
        self._paged_to: int | None = None  # the cursor's block after the last scroll by a page
        self._row_blocks: list[list[tuple[int, int]]] = []  # the column and the number of each block, by row

    @property
    def shown(self) -> range:
        """The blocks that are on the screen, in whole or in part."""
        if not len(self.session):
            return range(0)
        *_, (_, last) = self._lines()
        return range(self._top, self.layout.line_of(last).stop)

    def rows(self, width: int, height: int) -> list[Row]:
        is_same = self.layout.prepare(width, self.pack) and height == self._height
        self._width, self._height = width, height
        if not is_same:
            self._paged_to = None
        if not len(self.session):
            return [[("content", fit(" This page has no text.", width))]]
        self._scroll_to_cursor()
        *_, (start, last) = self._lines()
        last_height = self.layout.height_of(last)
        if start + last_height < height and self.layout.line_of(last).stop == len(self.session):
            self._put(last, height - last_height)  # fill the screen at the end of the page
        shown = self.shown
        self.letters = dict(zip(shown, _JUMP_LETTERS, strict=False))
        if not self.session.choices:
            self._assign_marks(shown)
        selected = set(self.session.selection.numbers) if self.session.has_selection else set()
        rows: list[Row] = []
        self._row_blocks = []
        for start, number in self._lines():
            line_rows, columns = self._draw_line(number, selected)
            visible_rows = line_rows[max(-start, 0) :]
            rows += visible_rows
            self._row_blocks += [columns] * len(visible_rows)
        return rows[:height]

    def _assign_marks(self, shown: range) -> None:
        """Assign keys to doubtful blocks. A block keeps its key while it is visible, so that you can type ahead."""
        given = self.session.given
        doubtful = self.session.most_doubtful(shown, len(self._mark_keys))
        kept = {
            number: key
            for number, key in self.marks.items()
            if number in shown and (given[number] is not None or number in doubtful)
        }
        free_keys = (key for key in self._mark_keys if key not in kept.values())
        unmarked = (number for number in doubtful if number not in kept)
        self.marks = {**kept, **dict(zip(unmarked, free_keys, strict=False))}

    # Finding blocks on the screen

    def number_at(self, row: int, column: int) -> int | None:
        """Return the block at a position on the screen."""
        if not 0 <= row < len(self._row_blocks):
            return None
        return next(number for start, number in reversed(self._row_blocks[row]) if start <= column)

    def number_of_key(self, key: str) -> int | None:
        keys = self.letters if self.shows_letters else self.marks
        return next((number for number, shown in keys.items() if shown == key), None)

    # Scrolling

    def scroll_inside(self, step: int) -> bool:
        """Scroll within the cursor's block if it is larger than the screen. Return whether anything moved."""
        session = self.session
        if not len(session) or session.cursor != self._top:
            return False
        last_skip = self.layout.height_of(session.cursor) - self._height
        if last_skip <= 0:
            return False
        previous = self._skip
        self._skip = max(0, min(self._skip + step * max(self._height - 2, 1), last_skip))
        return self._skip != previous

    def scroll_page(self, step: int) -> int:
        """Scroll by a screen, except for a few lines. Return the new block of the cursor."""
        self._paged_to = None
        if not len(self.session):
            return 0
        shown, last = self.shown, len(self.session) - 1
        if (step > 0 and shown[-1] == last) or (step < 0 and shown[0] == 0 == self._skip):
            return last if step > 0 else 0
        lowest = self.layout.line_of(shown[-1])[0]
        if step > 0 and self.layout.height_of(lowest) > self._height and lowest != self._top:
            self._top, self._skip = lowest, 0  # show a block that fills the screen from its beginning
            self._paged_to = lowest
        else:
            self._scroll_lines(step * max(self._height - _MARGIN - 1, 1))
            starts = [line for line in self._lines() if line[0] >= 0][::step]
            row = _MARGIN if step > 0 else self._height - 1 - _MARGIN
            beyond = (number for start, number in starts if (start - row) * step >= 0)
            self._paged_to = next(beyond, starts[-1][1] if starts else self._top)
        return self._paged_to

    def _scroll_lines(self, count: int) -> None:
        """Scroll down, or up if `count` is negative."""
        line = self._skip + count
        number = self._top
        while line < 0 and number > 0:
            number = self.layout.line_of(number - 1)[0]
            line += self.layout.height_of(number)
        while line >= self.layout.height_of(number) and self.layout.line_of(number).stop < len(self.session):
            line -= self.layout.height_of(number)
            number = self.layout.line_of(number).stop
        self._top, self._skip = number, max(line, 0)

    def _lines(self) -> Iterator[tuple[int, int]]:
        """Yield the first row and the first block of every visible line of blocks.

        The row is negative if the topmost line begins above the screen.
        """
        row, number = -self._skip, self._top
        while row < self._height and number < len(self.session):
            yield row, number
            row += self.layout.height_of(number)
            number = self.layout.line_of(number).stop

    def _scroll_to_cursor(self) -> None:
        """Choose the topmost block so that the cursor's block is visible, with some lines above and below it."""
        if self._paged_to == self.session.cursor:  # the screen stays as `scroll_page` left it
            return
        self._paged_to = None
        layout = self.layout
        cursor = layout.line_of(self.session.cursor)[0]
        self._top = layout.line_of(self._top)[0]
        free = self._height - layout.height_of(cursor)  # lines for other blocks
        margin = min(_MARGIN, free // 2)

        if free <= 0:  # the block fills the screen: keep its scroll position, or show its beginning
            is_inside = self._top == cursor and 0 <= self._skip <= -free
            self._top, self._skip = cursor, self._skip if is_inside else 0
            return
        if cursor < self._top or (cursor == self._top and self._skip) or cursor - self._top > self._height:
            is_step = 0 <= self._top - cursor <= 2
            self._put(cursor, margin if is_step else free // 3)  # show more lines above after a jump
            return
        lines_above = sum(map(layout.height_of, range(self._top, cursor))) - self._skip
        lines_below, number = 0, layout.line_of(cursor).stop
        while lines_below < margin and number < len(self.session):
            lines_below = min(lines_below + layout.height_of(number), margin)
            number = layout.line_of(number).stop
        if lines_above < margin:
            self._put(cursor, margin)
        elif lines_above > free - lines_below:
            self._put(cursor, free - lines_below)

    def _put(self, number: int, lines_above: int) -> None:
        """Scroll so that `lines_above` lines are above a block."""
        self._top, self._skip = self.layout.line_of(number)[0], 0
        self._scroll_lines(-lines_above)

    # Drawing

    def _draw_line(self, number: int, selected: set[int]) -> tuple[list[Row], list[tuple[int, int]]]:
        """Return the rows of a line of blocks, and the first column of each block."""
        block = self.layout.block(number)
        label = self.session.label(number)
        rows: list[Row] = []
        if block.rule:
            before = " " * (self.gutter - 2)
            corner = "└─" if block.rule == SECTION_END else f"┌─ {block.rule} "
            line = cut(before + corner, self._width - 1)
            rows.append([("rule", line + "─" * (self._width - 1 - width_of(line)))])
        for index, cells in enumerate(block.lines):
            mark = block.mark if index == 0 else " " * width_of(block.mark)
            row = self._gutter_cells(number, selected, is_first=index == 0)
            row.append((text_style(label, "mark"), " " * block.indent + mark))
            rows.append(row + [(text_style(label, style), text) for style, text in cells])
        columns = [(0, number)]
        for neighbour in self.layout.line_of(number)[1:]:
            columns.append((width_of(text_of(rows[-1])), neighbour))
            block, label = self.layout.block(neighbour), self.session.label(neighbour)
            mark_cell = self._mark_cell(neighbour, selected)
            if self.shows_letters and neighbour in self.letters:
                mark_cell = ("gutter selected", self.letters[neighbour])
            # a corner shows where a list begins or ends
            separator = "┊" if not block.rule else "└" if block.rule == SECTION_END else "┌"
            rows[-1] += [("rule", f" {separator}"), mark_cell, *self._label_cells(neighbour)]
            rows[-1] += [(text_style(label, "mark"), block.inline_mark)]
            rows[-1] += [(text_style(label, style), text) for style, text in block.lines[0]]
        return rows, columns

    def _gutter_cells(self, number: int, selected: set[int], is_first: bool) -> Row:
        """Draw the columns before the text: number, label, state, and the probability or both annotators' labels."""
        session = self.session
        style, mark = self._mark_cell(number, selected)
        bar: Row = [(style if number == session.cursor else "gutter", "│"), ("gutter", " ")]
        if not is_first:
            return [(style, " "), ("gutter", " " * (self.gutter - 3)), *bar]
        number_cells: Row = [
            ("uncertain" if mark == self.marks.get(number) else style, mark),
            (style, f" {number + 1:>{self._digits}} "),
        ]
        if self.shows_letters and number in self.letters:
            number_cells = [("gutter selected", self.letters[number].center(self._digits + 3))]
        probability = session.predicted.probabilities[number]
        is_striking, certainty = session.is_uncertain(number), "   "
        if session.choices:
            letters = []
            for choice in session.choices:
                label = choice.labels[number]
                letter = "?" if label is None else label[0]
                # a small letter is an unconfirmed label of the model
                letters.append(letter.upper() if choice.decided[number] else letter)
            is_striking, certainty = session.differs(number), f"{'/'.join(letters)} "
        elif probability is not None and session.given[number] is None:
            certainty = f"{min(int(probability * 100), 99):>2} "
        return [*number_cells, *self._label_cells(number), ("uncertain" if is_striking else "gutter", certainty), *bar]

    def _mark_cell(self, number: int, selected: set[int]) -> Cell:
        """Return the cursor, a plus for a selected block, or the key that leads to the block."""
        if number == self.session.cursor:
            return "gutter current", "►"
        return ("gutter selected", "+") if number in selected else ("gutter", self.marks.get(number, " "))

    def _label_cells(self, number: int) -> Row:
        label, state = self.session.label(number), self.session.state(number)
        letter = label[0].upper() if label else "?"
        return [(f"label {label or 'none'}", letter), (state if state in _SIGNS else "gutter", _SIGNS.get(state, " "))]
