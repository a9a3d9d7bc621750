"""Screens as plain rows: each takes keys and clicks and draws itself, and needs no terminal to do so."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from victorpy.annotate.blocks import BlockPane, Row
from victorpy.annotate.keys import ALIKE, LABEL, Keys
from victorpy.annotate.opening import Opened
from victorpy.annotate.panes import FORMATS, FactsPane, Features, Pane, ResultPane
from victorpy.annotate.session import Scope, Session
from victorpy.annotate.show import cut, fit, visible, width_of
from victorpy.document import Label

COMFORT = (80, 24)
SMALLEST = (40, 8)
_WHEEL = 3
# Keeps a terminal that turns right-to-left text around from mixing two panes.
_LEFT_TO_RIGHT = "\u200e"
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")


class Desk(Protocol):
    """What a view may ask of the program around it."""

    keys: Keys

    def say(self, message: str) -> None:
        """Show a message until the next key."""

    def report(self, failure: str) -> None:
        """Say what went wrong, also after the program has ended."""

    def ask(self, question: str, answer: Callable[[str], None], start: str = "") -> None:
        """Let the person type a line."""

    def close_view(self) -> None:
        """Go back to where this view was opened."""

    def open_view(self, view: View) -> None:
        """Show another view on top."""

    def step_page(self, step: int) -> None:
        """Go to another page of the list."""

    def retrain(self) -> None:
        """Learn from what is finished."""


class View(ABC):
    """Something that fills the screen."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @abstractmethod
    def top(self, width: int) -> str:
        """The line above."""

    @abstractmethod
    def body(self, width: int, height: int) -> list[Row]:
        """What is between the lines."""

    @abstractmethod
    def hints(self) -> str:
        """The line below, as long as there is nothing to say."""

    @abstractmethod
    def act(self, action: str) -> bool:
        """Do something; the answer is whether it is something that can be done here."""

    def take_key(self, key: str) -> bool:
        """Take a key that stands for itself; the answer is whether it does."""
        return False

    def click(self, column: int, row: int) -> None:  # noqa: B027  (most views have nothing to do)
        """Take a click into the body."""

    def wheel(self, step: int) -> None:
        """Take a turn of the wheel."""
        for _ in range(_WHEEL):
            self.act("down" if step > 0 else "up")

    def tick(self, on_top: bool) -> None:  # noqa: B027  (most views have nothing to do)
        """Called a few times a second, also while another view is on top."""

    def close(self) -> None:  # noqa: B027  (most views have nothing to do)
        """The view goes away."""


class HelpView(View):
    """Every key and what it does."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._at = 0
        self._most = 0
        self._page = 1

    def top(self, width: int) -> str:
        """The line above."""
        return " All keys"

    def hints(self) -> str:
        """The line below."""
        return "↑↓ PgUp PgDn scroll   any other key goes back"

    def body(self, width: int, height: int) -> list[Row]:
        """Two columns of keys where there is room."""
        lines = self._lines()
        self._page, self._most = height, max(len(lines) - height, 0)
        self._at = min(self._at, self._most)
        return lines[self._at : self._at + height]

    def _lines(self) -> list[Row]:
        lines: list[Row] = []
        for group, bindings in self.desk.keys.help():
            lines += [[("pane head", f" {group}")]]
            lines += [[("key", f"  {keys:<16}"), ("pane", f" {does}")] for keys, does in bindings]
            lines.append([])
        lines += [
            [("pane head", " What is shown before a block")],
            [
                (
                    "pane",
                    "  number, label, then ✓: a person confirmed it, *: a person changed it, 97: the model is sure by",
                )
            ],
            [("pane", "  97 of 100 and nobody has decided. The mouse works too: click on a block, turn the wheel.")],
        ]
        return lines

    def act(self, action: str) -> bool:
        """Scroll, or go back."""
        steps = {"down": 1, "up": -1, "page-down": self._page, "page-up": -self._page}
        if action in steps:
            self._at = max(0, min(self._at + steps[action], self._most))
        else:
            self.desk.close_view()
        return True


class PageView(View):
    """A page being annotated."""

    def __init__(self, desk: Desk, opened: Opened, features: Features | None = None, place: str = "") -> None:
        super().__init__(desk)
        self.opened = opened
        self.session: Session = opened.session
        self._blocks = BlockPane(self.session)
        self._place = place
        results = [ResultPane(self.session, format) for format in FORMATS]
        self._facts = FactsPane(self.session, features)
        self._panes: list[Pane | None] = [None, *results, self._facts]
        self._pane: Pane | None = None
        self._was_finished = self.session.is_finished
        self._small = False
        self._actions = self._make_actions()

    # Drawing

    def top(self, width: int) -> str:
        """Page, position, progress, and whether all is saved."""
        session = self.session
        count = len(session)
        share = 100 * session.decided // count if count else 100
        at = min(session.cursor + 1, count)
        right = f"block {at:,} of {count:,} │ {session.decided:,} decided {share} % │ {self._kept()} "
        place = f" {self._place}" if self._place else ""
        room = max(width - width_of(right) - width_of(place) - 2, 4)
        name = visible(self.opened.name)
        while width_of(name) > room:
            name = "…" + name[2:]  # its end tells more than its beginning
        return f"{place} {fit(name, room)} {right}"

    def _kept(self) -> str:
        store = self.opened.store
        if store.is_read_only:
            return "read only"
        if store.error:
            return "NOT SAVED"
        return "saved" if store.is_saved else "saving"

    def hints(self) -> str:
        """The most important keys."""
        keys = self.desk.keys
        labels = [f"{LABEL}{label}" for label in Label]
        if self.session.has_selection:
            selected = len(self.session.selection.numbers)
            return f"{selected:,} blocks selected: " + keys.hints(
                [(labels, "label them"), (["confirm"], "confirm them"), (["cancel"], "none")]
            )
        shown = [(labels, "label"), (["confirm"], "confirm"), (["confirm-rest"], "the rest")]
        if self.session.choices:
            shown = [
                (["take-first"], "first"),
                (["take-second"], "second"),
                (["next-undecided"], "next"),
                (labels, "label"),
            ]
        shown += [(["next-uncertain"], "uncertain"), (["undo"], "undo"), (["pane"], "result")]
        return keys.hints([*shown, (["help"], "keys"), (["quit"], "quit")])

    def body(self, width: int, height: int) -> list[Row]:
        """The blocks, and a pane beside them where one is wanted and there is room."""
        self._small = width < COMFORT[0]
        if self._pane is None or self._small:
            return self._blocks.rows(width, height)
        left = max(width * 55 // 100, self._blocks.gutter + 20)
        blocks = self._blocks.rows(left, height)
        beside: list[Row] = [[("pane head", self._pane.title)], *self._pane.rows(width - left - 2, height - 1)]
        return [_beside(_nth(blocks, number), _nth(beside, number), left) for number in range(height)]

    # Acting

    def act(self, action: str) -> bool:
        """Do what a key stands for."""
        act = self._actions.get(action)
        if act is None:
            return False
        act()
        if self.session.is_finished and not self._was_finished:
            more = f" {self.desk.keys.first('next-page')} goes to the next page" if self._place else ""
            self.desk.say(f"All {len(self.session):,} blocks are decided.{more}")
        self._was_finished = self.session.is_finished
        return True

    def _make_actions(self) -> dict[str, Callable[[], None]]:
        session, keys = self.session, self.desk.keys
        actions: dict[str, Callable[[], None]] = {
            "confirm": self._confirm,
            "confirm-rest": lambda: self._tell(session.confirm_rest(), "confirmed", "There is nothing left to confirm"),
            "repeat": lambda: self._tell(
                session.repeat(), "", "There is nothing to repeat" if not session.last else ""
            ),
            "clear": lambda: self._tell(session.clear(), "undecided again", "Nobody has decided on this block"),
            "select-range": session.toggle_mark,
            "extend-down": lambda: session.extend(1),
            "extend-up": lambda: session.extend(-1),
            "select-container": lambda: self._selected(session.select_container),
            "select-path": lambda: self._selected(lambda: session.select(Scope.PATH)),
            "select-text": lambda: self._selected(lambda: session.select(Scope.TEXT)),
            "cancel": session.unselect,
            "undo": lambda: self._undo(back=True),
            "redo": lambda: self._undo(back=False),
            "down": lambda: self._step(1),
            "up": lambda: self._step(-1),
            "page-down": lambda: self._page(1),
            "page-up": lambda: self._page(-1),
            "first": lambda: session.move(0),
            "last": lambda: session.move(len(session) - 1),
            "jump": self._show_letters,
            "next-uncertain": lambda: self._jump(session.is_uncertain, 1, "The model is sure of all that is undecided"),
            "previous-uncertain": lambda: self._jump(session.is_uncertain, -1, "The model is sure of all that is left"),
            "next-undecided": lambda: self._jump(session.is_undecided, 1, "All blocks are decided"),
            "previous-undecided": lambda: self._jump(session.is_undecided, -1, "All blocks are decided"),
            "next-different": lambda: self._jump(session.differs, 1, "There is no difference"),
            "previous-different": lambda: self._jump(session.differs, -1, "There is no difference"),
            "next-label": lambda: self._go(session.find_other_label(1), 1, "All labels are the same"),
            "previous-label": lambda: self._go(session.find_other_label(-1), -1, "All labels are the same"),
            "search": lambda: self.desk.ask("/", self._search, ""),
            "search-next": lambda: self._find(1),
            "search-previous": lambda: self._find(-1),
            "go-to": lambda: self.desk.ask("go to block number ", self._go_to),
            "pane": lambda: self._next_pane(1),
            "pane-back": lambda: self._next_pane(-1),
            "facts": self._toggle_facts,
            "take-first": lambda: self._take(0),
            "take-second": lambda: self._take(1),
            "next-page": lambda: self.desk.step_page(1),
            "previous-page": lambda: self.desk.step_page(-1),
            "retrain": self.desk.retrain,
            "help": lambda: self.desk.open_view(HelpView(self.desk)),
            "quit": self.desk.close_view,
        }
        for label in Label:
            actions[f"{LABEL}{label}"] = self._giver(label, session.give)
            actions[f"{ALIKE}{label}"] = self._giver(label, session.give_alike)
        unknown = [action for action in actions if not keys.has(action)]
        assert not unknown, unknown
        return actions

    def _giver(self, label: Label, give: Callable[[Label], int]) -> Callable[[], None]:
        def act() -> None:
            count = give(label)
            if count > 1:
                self.desk.say(f"{count:,} blocks: {label}")

        return act

    def _confirm(self) -> None:
        here = self.session.label(self.session.cursor) if len(self.session) else None
        if here is None and not self.session.has_selection:
            self.desk.say("This block has no label to confirm: give it one")
        else:
            self.session.confirm()

    def _tell(self, count: int, done: str, nothing: str) -> None:
        if count > 1 and done:
            self.desk.say(f"{count:,} blocks {done}")
        elif not count and nothing:
            self.desk.say(nothing)

    def _selected(self, select: Callable[[], object]) -> None:
        select()
        if len(self.session.selection.numbers) == 1:
            self.desk.say("There is no other such block that is undecided")

    def _undo(self, back: bool) -> None:
        change = self.session.undo() if back else self.session.redo()
        word = "undo" if back else "redo"
        if change is None:
            self.desk.say(f"There is nothing to {word}")
        else:
            count = sum(run.stop - run.start for run in change.runs)
            left = len(self.session.history[0 if back else 1])
            blocks = "1 block" if count == 1 else f"{count:,} blocks"
            self.desk.say(f"{word}: {blocks}; {left:,} more to {word}")

    def _step(self, step: int) -> None:
        if not self._blocks.scroll_inside(step):
            self.session.move(self.session.cursor + step)

    def _page(self, step: int) -> None:
        if not self._blocks.scroll_inside(step):
            self.session.move(self._blocks.page(step))

    def _jump(self, wanted: Callable[[int], bool], step: int, nothing: str) -> None:
        self._go(self.session.find(wanted, step), step, nothing)

    def _go(self, number: int | None, step: int, nothing: str) -> None:
        if number is None:
            self.desk.say(nothing)
            return
        before = self.session.cursor
        self.session.move(number)
        if number == before:
            self.desk.say("This is the only one")
        elif (number - before) * step < 0:
            self.desk.say("On from the top" if step > 0 else "On from the end")

    def _show_letters(self) -> None:
        self._blocks.shows_letters = True
        self.desk.say("Type the letter of the block to go to")

    def take_key(self, key: str) -> bool:
        """While letters are shown, go to the block of one."""
        if not self._blocks.shows_letters:
            return False
        self._blocks.shows_letters = False
        number = self._blocks.number_of(key) if len(key) == 1 else None
        if number is not None:
            self.session.move(number)
        return True

    def _search(self, pattern: str) -> None:
        self.session.pattern = pattern or self.session.pattern
        self._find(1)

    def _find(self, step: int) -> None:
        pattern = self.session.pattern
        if not pattern:
            self.desk.say(f"Nothing was searched for yet: {self.desk.keys.first('search')}")
        else:
            self._go(self.session.find_text(step), step, f"Nowhere on this page: {visible(pattern)}")

    def _go_to(self, number: str) -> None:
        if number.strip().isdecimal():
            self.session.move(int(number) - 1)
        elif number.strip():
            self.desk.say(f"{visible(number)} is no number")

    def _next_pane(self, step: int) -> None:
        at = self._panes.index(self._pane)
        self._pane = self._panes[(at + step) % len(self._panes)]
        self._warn_of_size()

    def _toggle_facts(self) -> None:
        self._pane = None if self._pane is self._facts else self._facts
        self._warn_of_size()

    def _warn_of_size(self) -> None:
        if self._pane is not None and self._small:
            self.desk.say(f"For two panes the terminal has to have {COMFORT[0]} columns")

    def _take(self, choice: int) -> None:
        if not self.session.choices:
            self.desk.say("There are not two annotations to choose from: annotate.py --adjudicate")
        else:
            self.session.take(choice)

    def click(self, column: int, row: int) -> None:
        """Go to the block that was clicked on."""
        number = self._blocks.number_at(row)
        if number is not None:
            self.session.move(number)

    def wheel(self, step: int) -> None:
        """Move on by some blocks."""
        if not self._blocks.scroll_inside(step):
            self.session.move(self.session.cursor + step * _WHEEL)

    def tick(self, on_top: bool) -> None:
        """Save what is due."""
        self.opened.store.tick()

    def close(self) -> None:
        """Save all, and let others have the page."""
        error = self.opened.store.close()
        if error:
            self.desk.report(f"{self.opened.store.anno}: the last changes could not be saved: {error}")


def _nth(rows: list[Row], number: int) -> Row:
    return rows[number] if number < len(rows) else []


def _beside(first: Row, second: Row, width: int) -> Row:
    """Two rows with a line between them."""
    turned = any(_RIGHT_TO_LEFT.search(text) for _, text in first)
    return [*_filled(first, width), ("rule", f"{_LEFT_TO_RIGHT if turned else ''}│ "), *second]


def _filled(row: Row, width: int) -> Row:
    """A row with spaces up to a width, cut where it is wider."""
    filled: Row = []
    room = width
    for look, text in row:
        shown = cut(text, room)
        filled.append((look, shown))
        room -= width_of(shown)
    return [*filled, ("content", " " * room)]
