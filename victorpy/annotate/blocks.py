"""The page as its blocks: rows are made for what is visible and for nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters, digits, punctuation
from typing import NamedTuple

from victorpy.annotate.colours import label_look, text_look
from victorpy.annotate.events import Choice, State
from victorpy.annotate.sections import END, find_breaks, find_rules
from victorpy.annotate.session import Session
from victorpy.annotate.show import (
    RIGHT_TO_LEFT,
    Shown,
    Span,
    cut,
    fit,
    lines_of,
    mark_hits,
    show_block,
    width_of,
)
from victorpy.annotate.strips import SHORT, Strips
from victorpy.document import Label

Cell = tuple[str, str]
"""A look and a text."""
Row = list[Cell]

_SIGNS = {State.EMPTY: " ", State.PREDICTED: " ", State.CHANGED: "*", State.CONFIRMED: "✓"}
_SHARED = 5
"""Columns before a block that stands behind another one in a line."""
_JUMPS = ascii_letters + digits + punctuation
_AHEAD = 3
"""So many lines are kept visible around the cursor's block, where there are so many."""
_MOST_KEPT = 2_000
"""So many blocks' lines are kept ready."""


class _Lines(NamedTuple):
    rule: str
    mark: str
    indent: int
    lines: list[list[Span]]
    columns: int | None
    """What it takes on a line that it shares with others; None where it stands alone."""

    @property
    def height(self) -> int:
        return len(self.lines) + bool(self.rule)


class BlockPane:
    """The blocks around the cursor, as many as fit, with their labels."""

    def __init__(self, session: Session, marks: str = "123456789", packs: bool = True) -> None:
        self.session = session
        self.packs = packs
        """Whether short blocks that the model is sure are noise share lines."""
        self._mark_keys = marks
        """What stands before blocks that the model is not sure of, to go there by."""
        self._top = 0
        self._skip = 0
        """How many lines of the topmost block are above the screen."""
        self._width = 0
        self._height = 1
        self._made_for: tuple[object, ...] = ()
        """What the lines that are ready were made for."""
        self._ready: dict[int, _Lines] = {}
        self._rules = find_rules(session.document)
        """Before which blocks a section begins or ends, and its name."""
        self._strips = Strips(session, find_breaks(session.document), lambda number: self._lines(number).columns)
        self._places: list[list[tuple[int, int]]] = []
        """Of every row the blocks in it, each behind the column that it begins at."""
        self.shown = range(0)
        """The blocks that are on the screen, in part or whole."""
        self.marks: dict[int, str] = {}
        """The keys that stand before blocks on the screen."""
        self._digits = len(str(max(len(session), 1)))
        self.shows_letters = False
        """Whether letters stand in the place of numbers, to go to a block by one of them."""

    @property
    def gutter(self) -> int:
        """How many columns stand before the text."""
        return 2 + self._digits + 1 + 2 + (4 if self.session.choices else 3) + 2

    # What is seen

    def rows(self, width: int, height: int) -> list[Row]:
        """Draw the blocks around the cursor."""
        self._make_ready(width)
        self._height = height
        if not len(self.session):
            return [[("content", fit(" This page has no text.", width))]]
        self._bring_into_view()
        self.shown = self._visible()
        if not self.session.choices:
            self._give_marks()
        selected = set(self.session.selection.numbers) if self.session.has_selection else set()
        rows: list[Row] = []
        self._places = []
        for number in self.shown:
            if self._line_of(number)[0] == number:
                drawn, places = self._draw(number, selected)
                skip = self._skip if number == self._top else 0
                rows += drawn[skip:]
                self._places += [places] * len(drawn[skip:])
        return rows[:height]

    def _give_marks(self) -> None:
        """Put keys before doubtful blocks; a block keeps its key while it is seen, so that one can type ahead."""
        given = self.session.given
        doubtful = self.session.most_doubtful(self.shown, len(self._mark_keys))
        kept = {
            number: key
            for number, key in self.marks.items()
            if number in self.shown and (given[number] is not None or number in doubtful)
        }
        free = (key for key in self._mark_keys if key not in kept.values())
        new = (number for number in doubtful if number not in kept)
        self.marks = {**kept, **dict(zip(new, free, strict=False))}

    def _make_ready(self, width: int) -> None:
        """Forget what was made for another width, another search, another model."""
        wanted = (width, self.session.pattern, self.session.predicted, self.packs)
        if self._made_for != wanted:
            self._made_for = wanted
            self._width = width
            self._ready.clear()
            self._strips.forget(width - self.gutter - 1)

    def _line_of(self, number: int) -> range:
        """The blocks that stand in a line with a block, itself among them."""
        return self._strips.around(number) if self.packs else range(number, number + 1)

    def _height_of(self, number: int) -> int:
        """How many rows a block takes; none where it stands behind another one."""
        return self._lines(number).height if self._line_of(number)[0] == number else 0

    def _visible(self) -> range:
        """The blocks that are on the screen, in part or whole."""
        stop, room = self._top, self._height + self._skip
        while room > 0 and stop < len(self.session):
            room -= self._height_of(stop)
            stop = self._line_of(stop).stop
        return range(self._top, stop)

    def number_at(self, row: int, column: int = 0) -> int | None:
        """Which block stands at a place of what was drawn last."""
        if not 0 <= row < len(self._places):
            return None
        begun = [number for start, number in self._places[row] if start <= column]
        return begun[-1] if begun else self._places[row][0][1]

    def number_of_mark(self, key: str) -> int | None:
        """Which block on the screen has a key before it, because the model is not sure of it."""
        return next((number for number, mark in self.marks.items() if mark == key), None)

    def number_of(self, letter: str) -> int | None:
        """Which block on the screen has a letter."""
        at = _JUMPS.find(letter)
        return self.shown[at] if 0 <= at < len(self.shown) else None

    def letter_of(self, number: int) -> str:
        """What leads to a block on the screen while letters are shown; nothing where there are too many."""
        at = number - self.shown.start
        return _JUMPS[at] if at < len(_JUMPS) else ""

    def _letter(self, number: int) -> str:
        return self.letter_of(number) if self.shows_letters else ""

    # Moving by screens

    def scroll_inside(self, step: int) -> bool:
        """Where the cursor's block goes on beyond the screen, show what is next of it instead of moving on."""
        session = self.session
        if not len(session) or session.cursor != self._top or self._height_of(session.cursor) <= self._height:
            return False
        last = self._height_of(session.cursor) - self._height
        skip = max(0, min(self._skip + step * max(self._height - 2, 1), last))
        moved = skip != self._skip
        self._skip = skip
        return moved

    def page(self, step: int) -> int:
        """Scroll by a screen; the answer is the block that the cursor goes to, the first or last that was seen."""
        visible = self._visible()
        last = len(self.session) - 1
        if not visible or (step > 0 and visible[-1] == last) or (step < 0 and visible[0] == 0):
            return last if step > 0 else 0
        number = visible[-1 if step > 0 else 0]
        number += step if number == self.session.cursor else 0  # a block may fill the screen by itself
        above = _AHEAD if step > 0 else self._height - self._height_of(number) - _AHEAD
        self._top, self._skip = self._above(number, above)
        return number

    def _bring_into_view(self) -> None:
        """Choose what is topmost, so that the cursor's block is seen with something around it."""
        self._choose_top()
        last = self._line_of(len(self.session) - 1)[0]
        shown = self._height_of(self._top) - self._skip
        if shown + self._height_after(self._top, self._height) < self._height:  # nothing is left empty at the end
            self._top, self._skip = self._above(last, self._height - self._height_of(last))

    def _choose_top(self) -> None:
        cursor, height = self._line_of(self.session.cursor)[0], self._height
        self._top = self._line_of(self._top)[0]
        tall = self._height_of(cursor)
        if tall >= height:
            inside = self._top == cursor and 0 <= self._skip <= tall - height
            self._top, self._skip = cursor, self._skip if inside else 0
            return
        ahead = min(_AHEAD, (height - tall) // 2)
        if cursor < self._top or (cursor == self._top and self._skip) or cursor - self._top > height:
            near = 0 <= self._top - cursor <= 2
            self._top, self._skip = self._above(cursor, ahead if near else (height - tall) // 3)
            return
        above = self._height_between(self._top, cursor) - self._skip
        if above < ahead:
            self._top, self._skip = self._above(cursor, ahead)
        elif above + tall + ahead > height:
            below = min(ahead, self._height_after(cursor, ahead))
            if above + tall + below > height:
                self._top, self._skip = self._above(cursor, height - tall - below)

    def _above(self, number: int, lines: int) -> tuple[int, int]:
        """What is topmost if just so many lines stand above a block."""
        number = self._line_of(number)[0]
        while number > 0 and lines > 0:
            number = self._line_of(number - 1)[0]
            lines -= self._height_of(number)
        return number, max(-lines, 0)

    def _height_between(self, first: int, stop: int) -> int:
        return sum(self._height_of(number) for number in range(first, stop))

    def _height_after(self, number: int, most: int) -> int:
        height = 0
        while height < most and number + 1 < len(self.session):
            number += 1
            height += self._height_of(number)
        return height

    # One block

    def _lines(self, number: int) -> _Lines:
        """A block's text in lines, ready to be drawn."""
        ready = self._ready.get(number)
        if ready is None:
            if len(self._ready) > _MOST_KEPT:
                self._ready.clear()
            shown = show_block(self.session.document.blocks[number], self.session.document)
            # one column stays free: terminals do not agree on the width of every character
            room = self._width - self.gutter - 2 * shown.indent - width_of(shown.mark) - 1
            lines = lines_of(mark_hits(shown.spans, self.session.pattern), max(room, 8))
            columns = None if self.session.choices else _columns_of(shown, lines)
            rule = self._rules.get(number, "")
            ready = self._ready[number] = _Lines(rule, shown.mark, 2 * shown.indent, lines, columns)
        return ready

    def _draw(self, number: int, selected: set[int]) -> tuple[list[Row], list[tuple[int, int]]]:
        """The rows of a block and of those in its line, and at which column each begins."""
        ready = self._lines(number)
        label = self.session.label(number)
        rows: list[Row] = []
        if ready.rule:
            rows.append(self._rule(ready.rule))
        for line, spans in enumerate(ready.lines):
            row = self._gutter(number, label, selected, first=line == 0)
            if self._letter(number) and line == 0:
                row[:2] = [("gutter selected", self._letter(number).center(self._digits + 3))]
            mark = ready.mark if line == 0 else " " * width_of(ready.mark)
            row.append((text_look(label, "mark"), " " * ready.indent + mark))
            row += [(text_look(label, span.look), span.text) for span in spans]
            rows.append(row)
        places = [(0, number)]
        for behind in self._line_of(number)[1:]:
            places.append((sum(width_of(text) for _, text in rows[-1]), behind))
            rows[-1] += self._draw_behind(behind, selected)
        return rows, places

    def _draw_behind(self, number: int, selected: set[int]) -> Row:
        """A block that stands behind another one in a line; a corner shows where a list begins or ends."""
        ready = self._lines(number)
        label, state = self.session.label(number), self.session.state(number)
        mark, look = self._mark(number, selected)
        if self._letter(number):
            mark, look = self._letter(number), "gutter selected"
        between = "┊" if not ready.rule else "└" if ready.rule == END else "┌"
        return [
            ("rule", f" {between}"),
            (look, mark),
            (label_look(label), label[0].upper() if label else "?"),
            (state if state.is_decided else "gutter", _SIGNS[state]),
            (text_look(label, "mark"), _own_mark(ready.mark)),
            *((text_look(label, span.look), span.text) for span in ready.lines[0]),
        ]

    def _rule(self, name: str) -> Row:
        before = " " * (self.gutter - 2)
        line = cut(f"{before}└─" if name == END else f"{before}┌─ {name} ", self._width - 1)
        return [("rule", line + "─" * (self._width - 1 - width_of(line)))]

    def _gutter(self, number: int, label: Label | None, selected: set[int], first: bool) -> Row:
        """Number, label, what stands behind it, how sure the model is."""
        here = number == self.session.cursor
        mark, look = self._mark(number, selected)
        if not first:
            blank = " " * (self.gutter - 3)
            return [(look, " "), ("gutter", blank), (look if here else "gutter", "│"), ("gutter", " ")]
        state = self.session.state(number)
        return [
            ("uncertain" if number in self.marks and mark == self.marks[number] else look, mark),
            (look, f" {number + 1:>{self._digits}} "),
            (label_look(label), label[0].upper() if label else "?"),
            (state if state.is_decided else "gutter", _SIGNS[state]),
            self._choices(number) if self.session.choices else self._probability(number, state),
            (look if here else "gutter", "│"),
            ("gutter", " "),
        ]

    def _mark(self, number: int, selected: set[int]) -> Cell:
        """What stands before a block's number: the cursor, a sign of the selection, a key to go there by."""
        if number == self.session.cursor:
            return "►", "gutter current"
        return ("+", "gutter selected") if number in selected else (self.marks.get(number, " "), "gutter")

    def _probability(self, number: int, state: State) -> Cell:
        probability = self.session.predicted.probabilities[number]
        if state.is_decided or probability is None:
            return ("gutter", "   ")
        percent = f"{min(int(probability * 100), 99):>2} "
        return ("uncertain" if self.session.is_uncertain(number) else "gutter", percent)

    def _choices(self, number: int) -> Cell:
        text = "/".join(_choice_letter(choice, number) for choice in self.session.choices)
        return ("uncertain" if self.session.differs(number) else "gutter", f"{text} ")


def _columns_of(shown: Shown, lines: list[list[Span]]) -> int | None:
    """How many columns a block takes at most in a shared line; None where it is long, or turns the line around."""
    text = "".join(span.text for span in shown.spans)
    if len(lines) > 1 or width_of(text) > SHORT or RIGHT_TO_LEFT.search(text):
        return None
    first, behind = 2 * shown.indent + width_of(shown.mark), _SHARED + width_of(_own_mark(shown.mark))
    return max(first, behind) + width_of(text)


def _own_mark(mark: str) -> str:
    """What stands before a text within a line: no bullet, because there is a line before each."""
    return mark.replace("• ", "")


def _choice_letter(choice: Choice, number: int) -> str:
    """A person's label as a capital letter; a small one is the model's, on which nobody has decided."""
    label = choice.labels[number]
    letter = "?" if label is None else label[0]
    return letter.upper() if choice.decided[number] else letter


def text_of(row: Sequence[Cell]) -> str:
    """A row without its looks."""
    return "".join(text for _, text in row)
