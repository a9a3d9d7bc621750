"""A page being annotated: its blocks, the pane beside them, and what every key does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from string import ascii_letters
from typing import TYPE_CHECKING, NamedTuple

from victorpy.annotation.session import CLEAR, CONFIRM, TAKE_FIRST, TAKE_SECOND, Scope
from victorpy.annotation.store import READ_ONLY, OpenPage
from victorpy.annotation.tui.block_pane import BlockPane
from victorpy.annotation.tui.keys import LABEL, LABEL_PATH, LABEL_PLACE
from victorpy.annotation.tui.side_panes import FORMATS, FactsPane, Features, draw_result, join_panes
from victorpy.annotation.tui.text import Row, fit, visible, width_of
from victorpy.annotation.tui.views import COMFORT, WHEEL, Actions, HelpView, View
from victorpy.document import Label
from victorpy.errors import plural

if TYPE_CHECKING:
    from victorpy.annotation.tui.app import App

_MARK_KEYS = "1234567890" + ascii_letters  # keys that lead to doubtful blocks, except those that have an action


class Others(NamedTuple):
    """The other pages of the list."""

    finished: int
    total: int


class PageView(View):
    """A page being annotated."""

    def __init__(self, app: App, opened: OpenPage, features: Features | None, others: Others | None) -> None:
        super().__init__(app)
        self.opened = opened
        self.session = opened.session
        bound = app.keys.action_of
        free_keys = [key for key in _MARK_KEYS if bound.get(key) in {None, "take-first", "take-second"}]
        self.blocks = BlockPane(self.session, "".join(free_keys), app.pack)
        self._others = others
        self._facts = FactsPane(self.session, features)
        self._panes: list[tuple[str, Callable[[int, int], list[Row]]]] = [
            *((f"cleaned: {format}", partial(draw_result, self.session, format)) for format in FORMATS),
            ("this block", self._facts.draw),
        ]
        """The title of each side pane, and how it is drawn."""
        self._pane = 0  # which pane is shown: 1 for the first, 0 for none
        self._blocks_width: int | None = None  # columns of the blocks if there is a side pane
        self._is_narrow = False
        self._was_finished = self.session.is_finished
        self._is_warned = False  # whether the last key caused a warning about unsaved changes
        self.actions = self._make_actions()

    # Drawing

    def top(self, width: int) -> str:
        session, opened = self.session, self.opened
        count = len(session)
        percent = 100 * session.decided // count if count else 100
        saved = "saved" if opened.is_saved else "saving"
        status = "read only" if opened.journal is None else "NOT SAVED" if opened.error else saved
        position = f"block {min(session.cursor + 1, count):,} of {count:,}"
        right = f"{position} │ {session.decided:,} decided {percent} % │ {status} "
        place = ""
        if self._others:
            place = f" {self._others.finished + session.is_finished}/{self._others.total + 1} done"
        room = max(width - width_of(right) - width_of(place) - 2, 4)
        name = visible(opened.name)
        while width_of(name) > room:
            name = "…" + name[2:]  # keep the end, which is more informative
        return f"{place} {fit(name, room)} {right}"

    def hints(self, width: int) -> str:
        keys, session = self.app.keys, self.session
        labels = [f"{LABEL}{label}" for label in Label]
        if session.has_selection:
            selected = f"{plural(len(session.selection.numbers), 'block')} selected: "
            hints = [(labels, "label them"), (["confirm"], "confirm them"), (["cancel"], "none")]
            return selected + keys.hints(hints, width - len(selected))
        hints = [(["help"], "help"), (["quit"], "leave")]
        if session.choices:
            first, second = (fit(visible(choice.name), 16).rstrip() for choice in session.choices)
            hints += [(["take-first"], first), (["take-second"], second), (["next-undecided"], "next")]
            hints += [(labels, "label"), (["undo"], "undo")]
        else:
            hints += [(labels, "label"), (["confirm"], "ok"), (["confirm-rest"], "rest ok")]
            hints += [(["next-uncertain"], "unsure"), (["undo"], "undo")]
        return keys.hints([*hints, (["pane"], "result")], width)

    def body(self, width: int, height: int) -> list[Row]:
        self._is_narrow = width < COMFORT[0]
        self._blocks_width = None
        if self._pane == 0 or self._is_narrow:
            return self.blocks.rows(width, height)
        left = self._blocks_width = max(width * 55 // 100, self.blocks.gutter + 20)
        title, draw = self._panes[self._pane - 1]
        pane: list[Row] = [[("pane head", title)], *draw(width - left - 2, height - 1)]
        return join_panes(self.blocks.rows(left, height), pane, left, height)

    # Input

    def act(self, action: str) -> bool:
        keys, session, error = self.app.keys, self.session, self.opened.error
        if action in {"quit", "next-page", "previous-page"} and error and not self._is_warned:
            self._is_warned = True
            self.app.say(f"The last changes are not saved: {error}. Press {keys.first('quit')} again to leave anyway")
            return True
        self._is_warned = False
        has_acted = super().act(action)
        if session.is_finished and not self._was_finished:
            next_page, leave = keys.first("next-page"), keys.first("quit")
            next_step = f"Press {next_page} for the next page" if self._others else f"Press {leave} to leave"
            self.app.say(f"All {len(session):,} blocks are decided. {next_step}")
        self._was_finished = session.is_finished
        return has_acted

    def take_key(self, key: str) -> bool:
        """Go to the block that shows a key. While letters are shown, any other key only hides them."""
        number = self.blocks.number_of_key(key)
        if number is not None:
            self.session.move(number)
        showed_letters = self.blocks.shows_letters
        self.blocks.shows_letters = False
        return showed_letters or number is not None

    def click(self, column: int, row: int) -> None:
        """Go to the block under the mouse. The pane beside the blocks ignores clicks."""
        is_on_blocks = self._blocks_width is None or column < self._blocks_width
        number = self.blocks.number_at(row, column) if is_on_blocks else None
        if number is not None:
            self.session.move(number)

    def wheel(self, step: int) -> None:
        self._move(step, count=WHEEL)

    def tick(self, on_top: bool) -> None:
        self.opened.tick()
        error = visible(self.opened.error)
        self.trouble = f"Cannot save: {error}. Do not leave yet; saving is retried." if error else ""
        self.is_ready = self._facts.is_ready
        while self.opened.notices:
            self.app.report(self.opened.notices.pop(0))

    def close(self) -> None:
        error = self.opened.close()
        for notice in self.opened.notices:
            self.app.report(notice)
        if error:
            self.app.report(f"{self.opened.anno}: the last changes could not be saved: {error}")

    # Actions, which may return a message

    def _make_actions(self) -> Actions:
        session, app = self.session, self.app
        actions: Actions = {
            "confirm": self._confirm,
            "confirm-rest": self._confirm_rest,
            "repeat": lambda: None if session.repeat() or session.last else "Nothing to repeat",
            "clear": lambda: self._label(CLEAR, None, " are undecided again", "This block is undecided already"),
            "select-range": session.toggle_mark,
            "extend-down": lambda: session.extend(1),
            "extend-up": lambda: session.extend(-1),
            "cancel": session.unselect,
            "undo": lambda: self._undo(back=True),
            "redo": lambda: self._undo(back=False),
            "down": lambda: self._move(1),
            "up": lambda: self._move(-1),
            "page-down": lambda: self._move(1, by_page=True),
            "page-up": lambda: self._move(-1, by_page=True),
            "first": lambda: session.move(0),
            "last": lambda: session.move(len(session) - 1),
            "first-kept": lambda: self._go_to_kept(range(len(session))),
            "last-kept": lambda: self._go_to_kept(range(len(session))[::-1]),
            "jump": self._show_letters,
            "search": lambda: app.ask("/", self._search),
            "search-next": lambda: self._search(""),
            "search-previous": lambda: self._search("", -1),
            "go-to": lambda: app.ask("go to block number ", self._go_to),
            "pack": self._toggle_packing,
            "pane": lambda: self._show_pane(self._pane + 1),
            "pane-back": lambda: self._show_pane(self._pane - 1),
            "facts": lambda: self._show_pane(0 if self._pane == len(self._panes) else -1),
            "take-first": lambda: self._take(TAKE_FIRST),
            "take-second": lambda: self._take(TAKE_SECOND),
            "next-page": lambda: app.turn_page(forward=True),
            "previous-page": lambda: app.turn_page(forward=False),
            "retrain": app.retrain,
            "help": lambda: app.views.append(HelpView(app)),
            "save": self._save,
            "quit": app.close_view,
        }
        for scope in (Scope.CONTAINER, Scope.PATH, Scope.PLACE, Scope.TEXT):
            actions[f"select-{scope}"] = partial(self._select, scope)
        for direction, step in (("next", 1), ("previous", -1)):
            actions |= {
                f"{direction}-uncertain": partial(self._find_uncertain, step),
                f"{direction}-undecided": partial(self._find, session.is_undecided, step, "All blocks are decided"),
                f"{direction}-different": partial(self._find, session.differs, step, "There are no differences"),
                f"{direction}-label": partial(self._find, session.has_other_label, step, "All labels are the same"),
            }
        for label in Label:
            for prefix, scope_of_label in ((LABEL, None), (LABEL_PATH, Scope.PATH), (LABEL_PLACE, Scope.PLACE)):
                actions[f"{prefix}{label}"] = partial(self._label, label, scope_of_label, f": {label}")
        return actions

    def _label(self, what: str, scope: Scope | None, done: str, nothing: str = "") -> str | None:
        """Label blocks. Return a message if several blocks changed, or `nothing` if none did."""
        count = self.session.act(what, scope)
        return f"{count:,} blocks{done}" if count > 1 else None if count else nothing

    def _confirm(self) -> str | None:
        label = self.session.label(self.session.cursor) if len(self.session) else None
        if label is None and not self.session.has_selection:
            return "This block has no label to confirm; give it one"
        self.session.act(CONFIRM)
        return None

    def _confirm_rest(self) -> str | None:
        left = len(self.session) - self.session.decided
        blocks = "1 block has" if left == 1 else f"{left:,} blocks have"
        next_key = self.app.keys.first("next-undecided")
        nothing = f"{blocks} no label to confirm; press {next_key} to go to the next one"
        if not left:
            nothing = "Nothing left to confirm: all blocks are decided"
        return self._label(CONFIRM, Scope.REST, " confirmed", nothing)

    def _take(self, which: str) -> str | None:
        session = self.session
        if not session.choices:
            return "There are no two annotations to choose from; start with --adjudicate"
        choice = session.choices[which == TAKE_SECOND]
        if not session.has_selection and len(session) and choice.labels[session.cursor] is None:
            return f"{choice.name} has no label for this block; give it one"
        session.act(which)
        return None

    def _select(self, scope: Scope) -> str | None:
        is_alone = len(self.session.select(scope).numbers) == 1
        return "No other undecided block matches" if is_alone else None

    def _undo(self, back: bool) -> str:
        change = self.session.undo() if back else self.session.redo()
        word = "undo" if back else "redo"
        if change is None:
            return f"Nothing to {word}"
        left = len(self.session.done if back else self.session.undone)
        return f"{word}: {plural(change.size, 'block')}; {left:,} more to {word}"

    def _move(self, step: int, count: int = 1, by_page: bool = False) -> None:
        """Move the cursor. Scroll instead if the current block continues beyond the screen."""
        if not self.blocks.scroll_inside(step):
            self.session.move(self.blocks.scroll_page(step) if by_page else self.session.cursor + step * count)

    def _go_to_kept(self, numbers: Iterable[int]) -> str | None:
        """Go to the first of these blocks that is kept when the page is cleaned."""
        labels = ((number, self.session.label(number)) for number in numbers)
        kept = next((number for number, label in labels if label is not None and label.is_content), None)
        if kept is None:
            return "No block is kept"
        self.session.move(kept)
        return None

    def _find(self, is_wanted: Callable[[int], bool], step: int, nothing: str) -> str | None:
        previous = self.session.cursor
        number = self.session.find(is_wanted, step)
        if number is None:
            return nothing
        self.session.move(number)
        if number == previous:
            return "This is the only one"
        has_wrapped = (number - previous) * step < 0
        return f"Continued from the {'top' if step > 0 else 'end'}" if has_wrapped else None

    def _find_uncertain(self, step: int) -> str | None:
        nothing = "The model is sure of all undecided blocks"
        if all(label is None for label in self.session.predicted.labels):
            next_key = self.app.keys.first("next-undecided")
            nothing = f"There is no model; press {next_key} to go to the next undecided block"
        return self._find(self.session.is_uncertain, step, nothing)

    def _search(self, pattern: str, step: int = 1) -> str | None:
        """Search for a text, or for the previous one if it is empty."""
        self.session.pattern = pattern or self.session.pattern
        if not self.session.pattern:
            return f"No search yet; press {self.app.keys.first('search')} to search"
        return self._find(self.session.has_pattern, step, f"Not found: {self.session.pattern}")

    def _go_to(self, answer: str) -> str | None:
        text, count = answer.strip(), len(self.session)
        if not text.isdecimal():
            return f"{text} is not a number" if text else None
        self.session.move(int(text) - 1)
        if 1 <= int(text) <= count:
            return None
        return f"There is no block {int(text):,}; blocks are numbered from 1 to {count:,}"

    def _show_letters(self) -> str:
        self.blocks.shows_letters = True
        return "Type the letter of a block to go there"

    def _toggle_packing(self) -> str:
        self.app.pack = self.blocks.pack = not self.blocks.pack
        together = "Short blocks that are surely noise share lines"
        return together if self.blocks.pack else "Every block has its own line"

    def _show_pane(self, number: int) -> str | None:
        self._pane = number % (len(self._panes) + 1)
        needs_room = self._pane > 0 and self._is_narrow
        return f"Side panes need a terminal with at least {COMFORT[0]} columns" if needs_room else None

    def _save(self) -> str:
        self.opened.save()
        return READ_ONLY if self.opened.journal is None else "Saved; every change is saved automatically, too"
