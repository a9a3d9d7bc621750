"""The page as its blocks: rows are made for what is visible and for nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

from victorpy.annotate.colours import label_look, text_look
from victorpy.annotate.events import Choice, State
from victorpy.annotate.session import Session
from victorpy.annotate.show import Span, cut, fit, lines_of, mark_hits, show_block, visible, width_of
from victorpy.document import Label

Cell = tuple[str, str]
"""A look and a text."""
Row = list[Cell]

_SECTIONS = frozenset("nav header footer aside main article section form table ul ol dl dialog figure".split())
_SIGNS = {State.EMPTY: " ", State.PREDICTED: " ", State.CHANGED: "*", State.CONFIRMED: "✓"}
_END = "end"
_JUMPS = ascii_lowercase + ascii_uppercase
_DIGITS = "123456789"
_AHEAD = 3
"""So many lines are kept visible around the cursor's block, where there are so many."""
_MOST_KEPT = 2_000
"""So many blocks' lines are kept ready."""


class _Lines(NamedTuple):
    rule: str
    mark: str
    indent: int
    lines: list[list[Span]]

    @property
    def height(self) -> int:
        return len(self.lines) + bool(self.rule)


class BlockPane:
    """The blocks around the cursor, as many as fit, with their labels."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._top = 0
        self._skip = 0
        """How many lines of the topmost block are above the screen."""
        self._width = 0
        self._height = 1
        self._pattern = ""
        """What was searched for when the lines were made ready."""
        self._ready: dict[int, _Lines] = {}
        self._numbers: list[int] = []
        self._marks: dict[int, str] = {}
        """The digits that stand before blocks on the screen."""
        self._digits = len(str(max(len(session), 1)))
        self.shows_letters = False
        """Whether letters stand in the place of numbers, to go to a block by one of them."""

    @property
    def gutter(self) -> int:
        """How many columns stand before the text."""
        return 1 + self._digits + 1 + 2 + (4 if self.session.choices else 3) + 2

    # What is seen

    def rows(self, width: int, height: int) -> list[Row]:
        """Draw the blocks around the cursor."""
        if (width, self.session.pattern) != (self._width, self._pattern):
            self._ready.clear()
            self._width, self._pattern = width, self.session.pattern
        self._height = height
        if not len(self.session):
            return [[("content", fit(" This page has no text.", width))]]
        self._bring_into_view()
        visible = self._visible()
        doubtful = () if self.session.choices else self.session.most_doubtful(visible, len(_DIGITS))
        self._marks = {number: digit for digit, number in zip(_DIGITS, doubtful, strict=False)}
        selected = set(self.session.selection.numbers) if self.session.has_selection else set()
        rows: list[Row] = []
        self._numbers = []
        for number in visible:
            letter = _JUMPS[number - self._top] if self.shows_letters and number - self._top < len(_JUMPS) else ""
            drawn = self._draw(number, selected, letter)[self._skip if number == self._top else 0 :]
            rows += drawn
            self._numbers += [number] * len(drawn)
        return rows[:height]

    def _visible(self) -> range:
        """The blocks that are on the screen, in part or whole."""
        stop, room = self._top, self._height + self._skip
        while room > 0 and stop < len(self.session):
            room -= self._lines(stop).height
            stop += 1
        return range(self._top, stop)

    def number_at(self, row: int) -> int | None:
        """Which block stands in a row of what was drawn last."""
        return self._numbers[row] if 0 <= row < len(self._numbers) else None

    def number_of_digit(self, digit: str) -> int | None:
        """Which block on the screen has a digit, because the model is not sure of it."""
        return next((number for number, mark in self._marks.items() if mark == digit), None)

    def number_of(self, letter: str) -> int | None:
        """Which block on the screen has a letter."""
        visible = list(dict.fromkeys(self._numbers))
        at = _JUMPS.find(letter)
        return visible[at] if 0 <= at < len(visible) else None

    # Moving by screens

    def scroll_inside(self, step: int) -> bool:
        """Where the cursor's block goes on beyond the screen, show what is next of it instead of moving on."""
        session = self.session
        if not len(session) or session.cursor != self._top or self._lines(session.cursor).height <= self._height:
            return False
        last = self._lines(session.cursor).height - self._height
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
        above = _AHEAD if step > 0 else self._height - self._lines(number).height - _AHEAD
        self._top, self._skip = self._above(number, above)
        return number

    def _bring_into_view(self) -> None:
        """Choose what is topmost, so that the cursor's block is seen with something around it."""
        self._choose_top()
        last = len(self.session) - 1
        shown = self._lines(self._top).height - self._skip
        if shown + self._height_after(self._top, self._height) < self._height:  # nothing is left empty at the end
            self._top, self._skip = self._above(last, self._height - self._lines(last).height)

    def _choose_top(self) -> None:
        cursor, height = self.session.cursor, self._height
        tall = self._lines(cursor).height
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
        while number > 0 and lines > 0:
            number -= 1
            lines -= self._lines(number).height
        return number, max(-lines, 0)

    def _height_between(self, first: int, stop: int) -> int:
        return sum(self._lines(number).height for number in range(first, stop))

    def _height_after(self, number: int, most: int) -> int:
        height = 0
        while height < most and number + 1 < len(self.session):
            number += 1
            height += self._lines(number).height
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
            lines = lines_of(mark_hits(shown.spans, self._pattern), max(room, 8))
            ready = self._ready[number] = _Lines(self._rules.get(number, ""), shown.mark, 2 * shown.indent, lines)
        return ready

    def _draw(self, number: int, selected: set[int], letter: str) -> list[Row]:
        ready = self._lines(number)
        label = self.session.label(number)
        rows: list[Row] = []
        if ready.rule:
            rows.append(self._rule(ready.rule))
        for line, spans in enumerate(ready.lines):
            row = self._gutter(number, label, selected, first=line == 0)
            if letter and line == 0:
                row[:2] = [("gutter selected", letter.center(self._digits + 2))]
            mark = ready.mark if line == 0 else " " * width_of(ready.mark)
            row.append((text_look(label, "mark"), " " * ready.indent + mark))
            row += [(text_look(label, span.look), span.text) for span in spans]
            rows.append(row)
        return rows

    def _rule(self, name: str) -> Row:
        before = " " * (self.gutter - 2)
        line = cut(f"{before}└─" if name == _END else f"{before}┌─ {name} ", self._width - 1)
        return [("rule", line + "─" * (self._width - 1 - width_of(line)))]

    def _gutter(self, number: int, label: Label | None, selected: set[int], first: bool) -> Row:
        """Number, label, what stands behind it, how sure the model is."""
        here = number == self.session.cursor
        look = "gutter current" if here else "gutter selected" if number in selected else "gutter"
        mark = "►" if here else "+" if number in selected else self._marks.get(number, " ")
        if not first:
            blank = " " * (self.gutter - 3)
            return [(look, " "), ("gutter", blank), (look if here else "gutter", "│"), ("gutter", " ")]
        state = self.session.state(number)
        return [
            ("uncertain" if mark.isdigit() else look, mark),
            (look, f"{number + 1:>{self._digits}} "),
            (label_look(label), label[0].upper() if label else "?"),
            (state if state.is_decided else "gutter", _SIGNS[state]),
            self._choices(number) if self.session.choices else self._probability(number, state),
            (look if here else "gutter", "│"),
            ("gutter", " "),
        ]

    def _probability(self, number: int, state: State) -> Cell:
        probability = self.session.predicted.probabilities[number]
        if state.is_decided or probability is None:
            return ("gutter", "   ")
        percent = f"{min(int(probability * 100), 99):>2} "
        return ("uncertain" if self.session.is_uncertain(number) else "gutter", percent)

    def _choices(self, number: int) -> Cell:
        text = "/".join(_choice_letter(choice, number) for choice in self.session.choices)
        return ("uncertain" if self.session.differs(number) else "gutter", f"{text} ")

    @cached_property
    def _rules(self) -> dict[int, str]:
        """Before which blocks a section begins or ends, and its name."""
        elements = self.session.document.elements
        rules: dict[int, str] = {}
        ends: set[int] = set()
        for number, tag in enumerate(elements.tag):
            if tag in _SECTIONS and elements.stop_block[number] > elements.first_block[number]:
                first = elements.first_block[number]
                name = _section_name(tag, elements.attributes[number])
                rules[first] = f"{rules[first]} › {name}" if first in rules else name
                ends.add(elements.stop_block[number])
        for end in ends - rules.keys():
            rules[end] = _END
        return rules


def _choice_letter(choice: Choice, number: int) -> str:
    """A person's label as a capital letter; a small one is the model's, on which nobody has decided."""
    label = choice.labels[number]
    letter = "?" if label is None else label[0]
    return letter.upper() if choice.decided[number] else letter


def _section_name(tag: str, attributes: dict[str, str]) -> str:
    names = attributes.get("id", "").split() or attributes.get("class", "").split()
    sign = "#" if attributes.get("id", "").split() else "."
    return visible(f"{tag}{sign}{names[0][:24]}" if names else tag)


def text_of(row: Sequence[Cell]) -> str:
    """A row without its looks."""
    return "".join(text for _, text in row)
