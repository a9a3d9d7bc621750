"""A page being annotated: its blocks, the pane beside them, and what every key does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from string import ascii_letters
from typing import TYPE_CHECKING

from victorpy.annotation.events import CLEAR, CONFIRM, TAKE_FIRST, TAKE_SECOND, Scope
from victorpy.annotation.store import READ_ONLY, OpenPage
from victorpy.annotation.tui.block_pane import BlockPane
from victorpy.annotation.tui.keys import LABEL, LABEL_PATH, LABEL_PLACE
from victorpy.annotation.tui.side_panes import FORMATS, FactsPane, Features, Pane, ResultPane, join_panes
from victorpy.annotation.tui.text import Row, fit, visible, width_of
from victorpy.annotation.tui.views import COMFORT, WHEEL, HelpView, View
from victorpy.document import Label
from victorpy.errors import plural

if TYPE_CHECKING:
    from victorpy.annotation.tui.app import App

_MARK_KEYS = "1234567890" + ascii_letters
"""Keys that may lead to a block, unless they have an action."""
_LEAVING = frozenset(["quit", "next-page", "previous-page"])


class PageView(View):
    """A page being annotated."""

    def __init__(self, app: App, opened: OpenPage, features: Features | None = None, place: str = "") -> None:
        super().__init__(app)
        self.opened = opened
        self.session = opened.session
        bound = app.keys.action_of
        free_keys = [key for key in _MARK_KEYS if bound.get(key) in {None, "take-first", "take-second"}]
        self.blocks = BlockPane(self.session, "".join(free_keys), app.pack)
        self._place = place
        """Position in the list of pages, such as 2/40."""
        self._facts = FactsPane(self.session, features)
        results = (ResultPane(self.session, format) for format in FORMATS)
        self._panes: list[Pane | None] = [None, *results, self._facts]
        self._pane: Pane | None = None
        self._blocks_width: int | None = None
        """Columns of the blocks if a pane is shown beside them."""
        self._is_narrow = False
        self._was_finished = self.session.is_finished
        self._is_warned = False
        """Whether the last key caused a warning that leaving loses changes."""
        self._actions = self._make_actions()

    # Drawing

    def top(self, width: int) -> str:
        session, opened = self.session, self.opened
        count = len(session)
        percent = 100 * session.decided // count if count else 100
        saved = "saved" if opened.is_saved else "saving"
        status = "read only" if opened.is_read_only else "NOT SAVED" if opened.error else saved
        position = f"block {min(session.cursor + 1, count):,} of {count:,}"
        right = f"{position} │ {session.decided:,} decided {percent} % │ {status} "
        place = f" {self._place}" if self._place else ""
        room = max(width - width_of(right) - width_of(place) - 2, 4)
        name = visible(opened.name)
        while width_of(name) > room:
            name = "…" + name[2:]  # the end says more than the beginning
        return f"{place} {fit(name, room)} {right}"

    @property
    def trouble(self) -> str:
        error = self.opened.error
        return f"Cannot save: {visible(error)}. Do not leave yet; saving is retried." if error else ""

    @property
    def is_ready(self) -> bool:
        return self._facts.is_ready

    def hints(self, width: int) -> str:
        keys, session = self.app.keys, self.session
        labels = [f"{LABEL}{label}" for label in Label]
        if session.has_selection:
            selected = f"{len(session.selection.numbers):,} blocks selected: "
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
        if self._pane is None or self._is_narrow:
            return self.blocks.rows(width, height)
        left = self._blocks_width = max(width * 55 // 100, self.blocks.gutter + 20)
        pane: list[Row] = [[("pane head", self._pane.title)], *self._pane.rows(width - left - 2, height - 1)]
        return join_panes(self.blocks.rows(left, height), pane, left, height)

    # Input

    def act(self, action: str) -> bool:
        if action not in self._actions:
            return False
        error = self.opened.error
        if action in _LEAVING and error and not self._is_warned:
            self._is_warned = True
            leave = self.app.keys.first("quit")
            self.app.say(f"The last changes are not saved: {visible(error)}. Press {leave} again to leave anyway")
            return True
        self._is_warned = False
        self._actions[action]()
        if self.session.is_finished and not self._was_finished:
            next_page, leave = (self.app.keys.first(action) for action in ("next-page", "quit"))
            next_step = f"Press {next_page} for the next page" if self._place else f"Press {leave} to leave"
            self.app.say(f"All {len(self.session):,} blocks are decided. {next_step}")
        self._was_finished = self.session.is_finished
        return True

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
        """Save if it is due."""
        self.opened.tick()
        self._report_notices()

    def close(self) -> None:
        """Save everything and unlock the page."""
        error = self.opened.close()
        self._report_notices()
        if error:
            self.app.report(f"{self.opened.anno}: the last changes could not be saved: {error}")

    def _report_notices(self) -> None:
        for notice in self.opened.take_notices():
            self.app.report(notice)

    # Actions

    def _make_actions(self) -> dict[str, Callable[[], object]]:
        session, app = self.session, self.app
        actions: dict[str, Callable[[], object]] = {
            "confirm": self._confirm,
            "confirm-rest": self._confirm_rest,
            "repeat": self._repeat,
            "clear": self._clear,
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
            "search-next": lambda: self._find_pattern(1),
            "search-previous": lambda: self._find_pattern(-1),
            "go-to": lambda: app.ask("go to block number ", self._go_to),
            "pack": self._toggle_packing,
            "pane": lambda: self._next_pane(1),
            "pane-back": lambda: self._next_pane(-1),
            "facts": lambda: self._show_pane(None if self._pane is self._facts else self._facts),
            "take-first": lambda: self._take(TAKE_FIRST),
            "take-second": lambda: self._take(TAKE_SECOND),
            "next-page": lambda: app.turn_page(forward=True),
            "previous-page": lambda: app.turn_page(forward=False),
            "retrain": app.retrain,
            "help": lambda: app.open_view(HelpView(app)),
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
                actions[f"{prefix}{label}"] = partial(self._give, label, scope_of_label)
        return actions

    def _give(self, label: Label, scope: Scope | None) -> None:
        count = self.session.act(label, scope)
        if count > 1:
            self.app.say(f"{count:,} blocks: {label}")

    def _confirm(self) -> None:
        label = self.session.label(self.session.cursor) if len(self.session) else None
        if label is None and not self.session.has_selection:
            self.app.say("This block has no label to confirm; give it one")
        else:
            self.session.act(CONFIRM)

    def _confirm_rest(self) -> None:
        count = self.session.act(CONFIRM, Scope.REST)
        left = len(self.session) - self.session.decided
        if count > 1:
            self.app.say(f"{count:,} blocks confirmed")
        elif not count and not left:
            self.app.say("Nothing left to confirm: all blocks are decided")
        elif not count:
            blocks = "1 block has" if left == 1 else f"{left:,} blocks have"
            next_key = self.app.keys.first("next-undecided")
            self.app.say(f"{blocks} no label to confirm; press {next_key} to go to the next one")

    def _clear(self) -> None:
        count = self.session.act(CLEAR)
        if count > 1:
            self.app.say(f"{count:,} blocks are undecided again")
        elif not count:
            self.app.say("This block is undecided already")

    def _repeat(self) -> None:
        if not self.session.repeat() and not self.session.last:
            self.app.say("Nothing to repeat")

    def _take(self, which: str) -> None:
        session = self.session
        if not session.choices:
            self.app.say("This digit takes a label only if you decide between two annotations")
            return
        choice = session.choices[which == TAKE_SECOND]
        if not session.has_selection and len(session) and choice.labels[session.cursor] is None:
            self.app.say(f"{visible(choice.name)} has no label for this block; give it one")
        else:
            session.act(which)

    def _select(self, scope: Scope) -> None:
        if len(self.session.select(scope).numbers) == 1:
            self.app.say("No other undecided block matches")

    def _undo(self, back: bool) -> None:
        change = self.session.undo() if back else self.session.redo()
        word = "undo" if back else "redo"
        if change is None:
            self.app.say(f"Nothing to {word}")
        else:
            left = len(self.session.done if back else self.session.undone)
            self.app.say(f"{word}: {plural(change.size, 'block')}; {left:,} more to {word}")

    def _move(self, step: int, count: int = 1, by_page: bool = False) -> None:
        """Move the cursor. Scroll instead if the current block continues beyond the screen."""
        if not self.blocks.scroll_inside(step):
            self.session.move(self.blocks.scroll_page(step) if by_page else self.session.cursor + step * count)

    def _go_to_kept(self, numbers: Iterable[int]) -> None:
        """Go to the first of some blocks that will be kept when the page is cleaned."""
        labels = ((number, self.session.label(number)) for number in numbers)
        kept = next((number for number, label in labels if label is not None and label.is_content), None)
        if kept is None:
            self.app.say("No block is kept")
        else:
            self.session.move(kept)

    def _find(self, is_wanted: Callable[[int], bool], step: int, nothing: str) -> None:
        """Go to the next matching block. Show a message if the search wraps around."""
        previous = self.session.cursor
        number = self.session.find(is_wanted, step)
        if number is None:
            self.app.say(nothing)
            return
        self.session.move(number)
        if number == previous:
            self.app.say("This is the only one")
        elif (number - previous) * step < 0:
            self.app.say("Continued from the top" if step > 0 else "Continued from the end")

    def _find_uncertain(self, step: int) -> None:
        nothing = "The model is sure of all undecided blocks"
        if all(label is None for label in self.session.predicted.labels):
            next_key = self.app.keys.first("next-undecided")
            nothing = f"There is no model; press {next_key} to go to the next undecided block"
        self._find(self.session.is_uncertain, step, nothing)

    def _search(self, pattern: str) -> None:
        self.session.pattern = pattern or self.session.pattern
        self._find_pattern(1)

    def _find_pattern(self, step: int) -> None:
        pattern = self.session.pattern
        if pattern:
            self._find(self.session.has_pattern, step, f"Not found: {visible(pattern)}")
        else:
            self.app.say(f"No search yet; press {self.app.keys.first('search')} to search")

    def _go_to(self, answer: str) -> None:
        text, count = answer.strip(), len(self.session)
        if text.isdecimal():
            self.session.move(int(text) - 1)
            if not 1 <= int(text) <= count:
                self.app.say(f"There is no block {int(text):,}; blocks are numbered from 1 to {count:,}")
        elif text:
            self.app.say(f"{visible(text)} is not a number")

    def _show_letters(self) -> None:
        self.blocks.shows_letters = True
        self.app.say("Type the letter of a block to go there")

    def _toggle_packing(self) -> None:
        self.app.pack = self.blocks.pack = not self.blocks.pack
        together = "Short blocks that are surely noise share lines"
        self.app.say(together if self.blocks.pack else "Every block has its own line")

    def _next_pane(self, step: int) -> None:
        self._show_pane(self._panes[(self._panes.index(self._pane) + step) % len(self._panes)])

    def _show_pane(self, pane: Pane | None) -> None:
        self._pane = pane
        if pane is not None and self._is_narrow:
            self.app.say(f"Side panes need a terminal with at least {COMFORT[0]} columns")

    def _save(self) -> None:
        self.opened.save()
        is_kept = not self.opened.is_read_only
        self.app.say("Saved; every change is saved automatically, too" if is_kept else READ_ONLY)
