"""A page being annotated: its blocks, what stands beside them, and what every key does to them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from string import ascii_letters

from victorpy.annotate.blocks import BlockPane, Row
from victorpy.annotate.desk import COMFORT, WHEEL, Desk, View
from victorpy.annotate.events import Scope
from victorpy.annotate.help_view import HelpView
from victorpy.annotate.keys import ALIKE, LABEL, PLACE
from victorpy.annotate.opening import Opened
from victorpy.annotate.panes import FORMATS, FactsPane, Features, Pane, ResultPane, beside
from victorpy.annotate.session import Session
from victorpy.annotate.show import fit, visible, width_of
from victorpy.document import Label

_TAKING = frozenset(["take-first", "take-second"])
"""What digits do where there are two annotations."""
_MARKS = "1234567890" + ascii_letters
"""Keys that may lead to a block."""
_LEAVING = frozenset(["quit", "next-page", "previous-page"])


class PageView(View):
    """A page being annotated."""

    def __init__(self, desk: Desk, opened: Opened, features: Features | None = None, place: str = "") -> None:
        super().__init__(desk)
        self.opened = opened
        self.session: Session = opened.session
        self.blocks = BlockPane(self.session, self._free_keys(), desk.packs)
        self._place = place
        results = [ResultPane(self.session, format) for format in FORMATS]
        self._facts = FactsPane(self.session, features)
        self._panes: list[Pane | None] = [None, *results, self._facts]
        self._pane: Pane | None = None
        self._was_finished = self.session.is_finished
        self._left = 0
        """Columns of the blocks, where a pane stands beside them; 0 where none does."""
        self._small = False
        self._is_warned = False
        """Whether the person was told just now that what is left is lost."""
        self._actions = self._make_actions()

    def _free_keys(self) -> str:
        """Keys that stand for nothing else here, to go to a block by: digits first, then letters."""
        bound = self.desk.keys.action_of
        return "".join(key for key in _MARKS if bound.get(key) is None or bound[key] in _TAKING)

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

    @property
    def trouble(self) -> str:
        """Why nothing can be saved, if that is so."""
        error = self.opened.store.error
        return f"Nothing can be saved: {visible(error)}. Do not leave; it is tried again." if error else ""

    @property
    def is_waiting(self) -> bool:
        """Whether the facts of the block are not all there yet."""
        return self._facts.is_waiting

    def hints(self, width: int) -> str:
        """The most important keys, as many as fit."""
        keys = self.desk.keys
        labels = [f"{LABEL}{label}" for label in Label]
        if self.session.has_selection:
            selected = f"{len(self.session.selection.numbers):,} blocks selected: "
            shown = [(labels, "label them"), (["confirm"], "confirm them"), (["cancel"], "none")]
            return selected + keys.hints(shown, width - len(selected))
        shown = [(["help"], "help"), (["quit"], "leave")]
        if self.session.choices:
            names = [fit(visible(choice.name), 16).rstrip() for choice in self.session.choices]
            shown += [(["take-first"], names[0]), (["take-second"], names[1]), (["next-undecided"], "next")]
            shown += [(labels, "label"), (["undo"], "undo")]
        else:
            shown += [(labels, "label"), (["confirm"], "ok"), (["confirm-rest"], "rest ok")]
            shown += [(["next-uncertain"], "unsure"), (["undo"], "undo")]
        return keys.hints([*shown, (["pane"], "result")], width)

    def body(self, width: int, height: int) -> list[Row]:
        """The blocks, and a pane beside them where one is wanted and there is room."""
        self._small = width < COMFORT[0]
        if self._pane is None or self._small:
            self._left = 0
            return self.blocks.rows(width, height)
        self._left = left = max(width * 55 // 100, self.blocks.gutter + 20)
        pane: list[Row] = [[("pane head", self._pane.title)], *self._pane.rows(width - left - 2, height - 1)]
        return beside(self.blocks.rows(left, height), pane, left, height)

    # Acting

    def act(self, action: str) -> bool:
        """Do what a key stands for."""
        act = self._actions.get(action)
        if act is None:
            return False
        if action in _LEAVING and not self._may_leave():
            return True
        self._is_warned = False
        act()
        if self.session.is_finished and not self._was_finished:
            more = f" {self.desk.keys.first('next-page')} goes to the next page" if self._place else ""
            self.desk.say(f"All {len(self.session):,} blocks are decided.{more}")
        self._was_finished = self.session.is_finished
        return True

    def _may_leave(self) -> bool:
        """Whether all is saved, or the person was told that it is not and wants to leave all the same."""
        error = self.opened.store.error
        if not error or self._is_warned:
            return True
        self._is_warned = True
        leave = self.desk.keys.first("quit")
        self.desk.say(f"The last changes are not saved: {visible(error)}. {leave} once more leaves all the same")
        return False

    def _make_actions(self) -> dict[str, Callable[[], None]]:
        session, keys = self.session, self.desk.keys
        actions: dict[str, Callable[[], None]] = {
            "confirm": self._confirm,
            "confirm-rest": lambda: self._tell(session.confirm_rest(), "confirmed", self._nothing_to_confirm()),
            "repeat": lambda: self._tell(
                session.repeat(), "", "There is nothing to repeat" if not session.last else ""
            ),
            "clear": lambda: self._tell(session.clear(), "undecided again", "Nobody has decided on this block"),
            "select-range": session.toggle_mark,
            "extend-down": lambda: session.extend(1),
            "extend-up": lambda: session.extend(-1),
            "select-container": lambda: self._selected(session.select_container),
            "select-path": lambda: self._selected(lambda: session.select(Scope.PATH)),
            "select-place": lambda: self._selected(lambda: session.select(Scope.PLACE)),
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
            "next-uncertain": lambda: self._jump(session.is_uncertain, 1, self._nothing_uncertain()),
            "previous-uncertain": lambda: self._jump(session.is_uncertain, -1, self._nothing_uncertain()),
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
            "pack": self._toggle_packing,
            "pane": lambda: self._next_pane(1),
            "pane-back": lambda: self._next_pane(-1),
            "facts": self._toggle_facts,
            "take-first": lambda: self._take(0),
            "take-second": lambda: self._take(1),
            "next-page": self.desk.next_page,
            "previous-page": self.desk.previous_page,
            "retrain": self.desk.retrain,
            "help": lambda: self.desk.open_view(HelpView(self.desk)),
            "save": self._save,
            "quit": self.desk.close_view,
        }
        for label in Label:
            actions[f"{LABEL}{label}"] = self._giver(label, session.give)
            actions[f"{ALIKE}{label}"] = self._giver(label, session.give_alike)
            actions[f"{PLACE}{label}"] = self._giver(label, partial(session.give_alike, scope=Scope.PLACE))
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

    def _nothing_to_confirm(self) -> str:
        left = len(self.session) - self.session.decided
        if not left:
            return "There is nothing left to confirm: all blocks are decided"
        blocks = "1 block has" if left == 1 else f"{left:,} blocks have"
        return f"{blocks} no label to confirm; {self.desk.keys.first('next-undecided')} goes to the next"

    def _nothing_uncertain(self) -> str:
        if all(label is None for label in self.session.predicted.labels):
            return f"There is no model to be unsure; {self.desk.keys.first('next-undecided')} goes to what is undecided"
        return "The model is sure of all that is undecided"

    def _save(self) -> None:
        if self.opened.store.is_read_only:
            self.desk.say("This is to look at only: no change is kept")
        else:
            self.opened.store.save()
            self.desk.say("Saved; everything is saved as it is typed")

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
        if not self.blocks.scroll_inside(step):
            self.session.move(self.session.cursor + step)

    def _page(self, step: int) -> None:
        if not self.blocks.scroll_inside(step):
            self.session.move(self.blocks.page(step))

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

    def _toggle_packing(self) -> None:
        self.desk.packs = self.blocks.packs = not self.blocks.packs
        together = "Short blocks that the model is sure are noise share lines"
        self.desk.say(together if self.blocks.packs else "Every block has a line of its own")

    def _show_letters(self) -> None:
        self.blocks.shows_letters = True
        self.desk.say("Type the letter of the block to go to")

    def take_key(self, key: str) -> bool:
        """Go to the block that has a key before it; while letters are shown, to that of a letter."""
        if not self.blocks.shows_letters:
            return self._take_mark(key)
        self.blocks.shows_letters = False
        number = self.blocks.number_of(key) if len(key) == 1 else None
        if number is not None:
            self.session.move(number)
        return True

    def _take_mark(self, key: str) -> bool:
        """Keys that stand for nothing else stand for blocks, where they are shown before one."""
        number = self.blocks.number_of_mark(key)
        if number is None:
            return False
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
        wanted, count = number.strip(), len(self.session)
        if wanted.isdecimal():
            self.session.move(int(wanted) - 1)
            if not 1 <= int(wanted) <= count:
                self.desk.say(f"There is no block {int(wanted):,}: they are numbered from 1 to {count:,}")
        elif wanted:
            self.desk.say(f"{visible(wanted)} is no number")

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
        session = self.session
        if not session.choices:
            self.desk.say("No block here has this digit; with --adjudicate it takes one of two labels")
        elif not session.has_selection and len(session) and session.choices[choice].labels[session.cursor] is None:
            self.desk.say(f"{visible(session.choices[choice].name)} has no label for this block: give it one")
        else:
            session.take(choice)

    def click(self, column: int, row: int) -> None:
        """Go to the block that was clicked on; the pane beside the blocks is only to be read."""
        number = self.blocks.number_at(row, column) if not self._left or column < self._left else None
        if number is not None:
            self.session.move(number)

    def wheel(self, step: int) -> None:
        """Move on by some blocks."""
        if not self.blocks.scroll_inside(step):
            self.session.move(self.session.cursor + step * WHEEL)

    def tick(self, on_top: bool) -> None:
        """Save what is due."""
        self.opened.store.tick()
        self._report_notices()

    def close(self) -> None:
        """Save all, and let others have the page."""
        error = self.opened.store.close()
        self._report_notices()
        if error:
            self.desk.report(f"{self.opened.store.anno}: the last changes could not be saved: {error}")

    def _report_notices(self) -> None:
        for notice in self.opened.store.take_notices():
            self.desk.report(notice)
