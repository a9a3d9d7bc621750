"""The blocks of a page on the screen: scroll to the cursor, and draw what is visible.

urwid's ListBox is not used, since it takes 14 ms per key on a page of 50,000 blocks. This takes about 1 ms.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_letters, digits, punctuation

from victorpy.annotation.session import Session, State
from victorpy.annotation.tui.layout import SECTION_END, PageLayout
from victorpy.annotation.tui.text import Cell, Row, cut, fit, text_look, text_of, width_of

_SIGNS = {State.EMPTY: " ", State.PREDICTED: " ", State.CHANGED: "*", State.CONFIRMED: "✓"}
_JUMP_LETTERS = ascii_letters + digits + punctuation
_MARGIN = 3
"""Lines that are kept visible above and below the cursor's block, if there are that many."""


class BlockPane:
    """The blocks around the cursor, as many as fit, with their labels."""

    def __init__(self, session: Session, mark_keys: str = "123456789", pack: bool = True) -> None:
        self.session = session
        self.pack = pack
        """Whether short blocks that the model is sure are noise share lines."""
        self.shown = range(0)
        """The blocks that are on the screen, in whole or in part."""
        self.marks: dict[int, str] = {}
        """The keys shown before doubtful blocks, to go there."""
        self.letters: dict[int, str] = {}
        """A letter for each block on the screen. If there are too many blocks, the last ones have none."""
        self.shows_letters = False
        """Whether blocks show letters instead of numbers, to go there."""
        self._mark_keys = mark_keys
        self._digits = len(str(max(len(session), 1)))
        self.gutter = 2 + self._digits + 1 + 2 + (4 if session.choices else 3) + 2
        """Columns before the text."""
        self.layout = PageLayout(session, self.gutter)
        self._width = 0
        self._height = 1
        self._top = 0
        self._skip = 0
        """Lines of the topmost block that are above the screen."""
        self._paged_to: int | None = None
        """The block that the cursor moved to when the screen was last scrolled by a page."""
        self._row_blocks: list[list[tuple[int, int]]] = []
        """For every row the column and the number of each block in it."""

    def rows(self, width: int, height: int) -> list[Row]:
        """Draw the blocks around the cursor."""
        is_same = self.layout.prepare(width, self.pack) and height == self._height
        self._width, self._height = width, height
        if not is_same:
            self._paged_to = None
        if not len(self.session):
            return [[("content", fit(" This page has no text.", width))]]
        self._scroll_to_cursor()
        self._fill_screen()
        self.shown = self._find_shown()
        self.letters = dict(zip(self.shown, _JUMP_LETTERS, strict=False))
        if not self.session.choices:
            self._assign_marks()
        selected = set(self.session.selection.numbers) if self.session.has_selection else set()
        rows: list[Row] = []
        self._row_blocks = []
        for start, number in self._lines():
            line_rows, columns = self._draw_line(number, selected)
            visible_rows = line_rows[max(-start, 0) :]
            rows += visible_rows
            self._row_blocks += [columns] * len(visible_rows)
        return rows[:height]

    def _assign_marks(self) -> None:
        """Assign keys to doubtful blocks. A block keeps its key while it is visible, so that one can type ahead."""
        given = self.session.given
        doubtful = self.session.most_doubtful(self.shown, len(self._mark_keys))
        kept = {
            number: key
            for number, key in self.marks.items()
            if number in self.shown and (given[number] is not None or number in doubtful)
        }
        free_keys = (key for key in self._mark_keys if key not in kept.values())
        unmarked = (number for number in doubtful if number not in kept)
        self.marks = {**kept, **dict(zip(unmarked, free_keys, strict=False))}

    # Finding blocks on the screen

    def number_at(self, row: int, column: int = 0) -> int | None:
        """Return the block at a place of what was drawn last."""
        if not 0 <= row < len(self._row_blocks):
            return None
        blocks = self._row_blocks[row]
        return next((number for start, number in reversed(blocks) if start <= column), blocks[0][1])

    def number_of_key(self, key: str) -> int | None:
        """Return the block on the screen that shows a key."""
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
        skip = max(0, min(self._skip + step * max(self._height - 2, 1), last_skip))
        has_moved = skip != self._skip
        self._skip = skip
        return has_moved

    def scroll_page(self, step: int) -> int:
        """Scroll by a screen, of which a few lines stay visible. Return the block to move the cursor to."""
        self._paged_to = None
        if not len(self.session):
            return 0
        shown = self._find_shown()
        last = len(self.session) - 1
        if (step > 0 and shown[-1] == last) or (step < 0 and shown[0] == 0 == self._skip):
            return last if step > 0 else 0
        lowest = self.layout.line_of(shown[-1])[0]
        if step > 0 and self.layout.height_of(lowest) > self._height and lowest != self._top:
            self._top, self._skip = lowest, 0  # a block that fills the screen by itself is shown from its beginning
            number = lowest
        else:
            self._scroll_lines(step * max(self._height - _MARGIN - 1, 1))
            number = self._find_start(_MARGIN if step > 0 else self._height - 1 - _MARGIN, step)
        self._paged_to = number
        return number

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

    def _find_start(self, row: int, step: int) -> int:
        """Return the first block that begins at a row of the screen or below it; if `step` is -1, at it or above."""
        starts = [line for line in self._lines() if line[0] >= 0]
        if step < 0:
            starts.reverse()
        wanted = (number for start, number in starts if (start - row) * step >= 0)
        return next(wanted, starts[-1][1] if starts else self._top)

    def _lines(self) -> Iterator[tuple[int, int]]:
        """Yield the visible lines of blocks: the row where each begins, and its first block.

        The first row is negative if the beginning of the topmost line is above the screen.
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

        if free <= 0:  # the block fills the screen: stay where it was scrolled to, or show its beginning
            is_inside = self._top == cursor and 0 <= self._skip <= -free
            self._top, self._skip = cursor, self._skip if is_inside else 0
            return
        if cursor < self._top or (cursor == self._top and self._skip) or cursor - self._top > self._height:
            is_step = 0 <= self._top - cursor <= 2
            self._put(cursor, margin if is_step else free // 3)  # after a jump more of what precedes it is shown
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

    def _fill_screen(self) -> None:
        """Scroll back if the end of the page would leave part of the screen empty."""
        *_, (row, number) = self._lines()
        is_last = self.layout.line_of(number).stop == len(self.session)
        if is_last and row + self.layout.height_of(number) < self._height:
            self._put(number, self._height - self.layout.height_of(number))

    def _put(self, number: int, lines_above: int) -> None:
        """Scroll so that a number of lines is above a block."""
        self._top, self._skip = self.layout.line_of(number)[0], 0
        self._scroll_lines(-lines_above)

    def _find_shown(self) -> range:
        *_, (_, number) = self._lines()
        return range(self._top, self.layout.line_of(number).stop)

    # Drawing

    def _draw_line(self, number: int, selected: set[int]) -> tuple[list[Row], list[tuple[int, int]]]:
        """Return the rows of a block and of those that share its line, and the column where each of them begins."""
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
            row.append((text_look(label, "mark"), " " * block.indent + mark))
            row += [(text_look(label, look), text) for look, text in cells]
            rows.append(row)
        columns = [(0, number)]
        for neighbour in self.layout.line_of(number)[1:]:
            columns.append((width_of(text_of(rows[-1])), neighbour))
            rows[-1] += self._draw_neighbour(neighbour, selected)
        return rows, columns

    def _draw_neighbour(self, number: int, selected: set[int]) -> Row:
        """Draw a block after another one on the same line. A corner shows where a list begins or ends."""
        block = self.layout.block(number)
        label = self.session.label(number)
        mark, look = self._mark(number, selected)
        if self.shows_letters and number in self.letters:
            mark, look = self.letters[number], "gutter selected"
        separator = "┊" if not block.rule else "└" if block.rule == SECTION_END else "┌"
        return [
            ("rule", f" {separator}"),
            (look, mark),
            *self._label_cells(number),
            (text_look(label, "mark"), block.inline_mark),
            *((text_look(label, look), text) for look, text in block.lines[0]),
        ]

    def _gutter_cells(self, number: int, selected: set[int], is_first: bool) -> Row:
        """Draw what precedes the text: number, label, its state, how sure the model is."""
        mark, look = self._mark(number, selected)
        bar: Row = [(look if number == self.session.cursor else "gutter", "│"), ("gutter", " ")]
        if not is_first:
            return [(look, " "), ("gutter", " " * (self.gutter - 3)), *bar]
        number_cells: Row = [
            ("uncertain" if mark == self.marks.get(number) else look, mark),
            (look, f" {number + 1:>{self._digits}} "),
        ]
        if self.shows_letters and number in self.letters:
            number_cells = [("gutter selected", self.letters[number].center(self._digits + 3))]
        return [*number_cells, *self._label_cells(number), self._certainty(number), *bar]

    def _mark(self, number: int, selected: set[int]) -> tuple[str, str]:
        """Return the sign before a block and its look: cursor, selection, or the key that leads there."""
        if number == self.session.cursor:
            return "►", "gutter current"
        return ("+", "gutter selected") if number in selected else (self.marks.get(number, " "), "gutter")

    def _label_cells(self, number: int) -> Row:
        label, state = self.session.label(number), self.session.state(number)
        letter = label[0].upper() if label else "?"
        return [(f"label {label or 'none'}", letter), (state if state.is_decided else "gutter", _SIGNS[state])]

    def _certainty(self, number: int) -> Cell:
        """Return the labels of two people to decide between, or the probability of the model's label."""
        session = self.session
        if session.choices:
            letters = []
            for choice in session.choices:
                label = choice.labels[number]
                letter = "?" if label is None else label[0]
                # a small letter is a label of the model that nobody has decided on
                letters.append(letter.upper() if choice.decided[number] else letter)
            return ("uncertain" if session.differs(number) else "gutter", f"{'/'.join(letters)} ")
        probability = session.predicted.probabilities[number]
        if session.state(number).is_decided or probability is None:
            return ("gutter", "   ")
        percent = f"{min(int(probability * 100), 99):>2} "
        return ("uncertain" if session.is_uncertain(number) else "gutter", percent)
