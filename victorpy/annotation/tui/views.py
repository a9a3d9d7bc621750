"""Views that fill the screen: their base class, the help, and the list of a directory's pages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

from victorpy.annotation import ORDERS
from victorpy.annotation.pages import Entry, Pages
from victorpy.annotation.store import is_locked, lock_of
from victorpy.annotation.tui.keys import GROUPS
from victorpy.annotation.tui.text import Row, fit, visible, wrap_after

if TYPE_CHECKING:
    from victorpy.annotation.tui.app import App

COMFORT = (80, 24)  # columns and lines of the smallest terminal in which everything fits
WHEEL = 3  # number of blocks or lines per turn of the mouse wheel
_KEY_COLUMNS = 18  # width of the keys in the help
_FAR = 1_000_000  # more than the number of lines in any list
_NOTES = (
    "Each block has its number and its label in front of it. Then comes ✓ if a person confirmed the label, * if a "
    "person changed it, or a number if nobody has decided: 97 means that the model is 97 % sure.",
    "The model chooses the blocks of the whole page together, not one by one at 50 %. So P 13 is possible: the block "
    "is kept, although the model is only 13 % sure that it is a paragraph.",
    "The blocks on the screen that the model is least sure of have a digit or an unused letter in front of them: type "
    "it to go there.",
    "Short blocks that the model is sure are noise, such as the entries of a menu, share lines: O Home ┊ O News. A "
    "corner between them, ┌ or └, shows where a list begins or ends.",
    "A record is something that repeats: an item of a list, a row of a table, a post, a product. Paths of blocks at "
    "the same place in their records differ in one number only; classes do not matter.",
    "Selections that the program makes (the rest of an element, the same path, the same text, all the rest) leave out "
    "decided blocks, except the one under the cursor. A range that you mark is taken whole.",
    "You can also use the mouse: click on a block, or turn the wheel. Pasted text is ignored.",
    "Ctrl-C leaves at once; everything is saved then, too.",
)

_BAR = 10  # width of the progress bar
_WORK_SECONDS = 0.05  # seconds per tick for reading pages

Actions = dict[str, Callable[[], str | None]]  # functions by action, which may return a message


class View(ABC):
    """Something that fills the screen. Views need no terminal."""

    trouble = ""  # a lasting problem, shown in the bottom line
    is_ready = False  # whether background work is done, so that everything can be drawn

    def __init__(self, app: App) -> None:
        self.app = app
        self.actions: Actions = {}

    @abstractmethod
    def top(self, width: int) -> str:
        """Return the top line."""

    @abstractmethod
    def body(self, width: int, height: int) -> list[Row]:
        """Draw everything between the top and the bottom line."""

    @abstractmethod
    def hints(self, width: int) -> str:
        """Return the bottom line, which is shown if there is no message."""

    def act(self, action: str) -> bool:
        """Perform an action. Return whether this view has such an action."""
        if action in self.actions:
            self.app.say(self.actions[action]() or "", also=True)
        return action in self.actions

    def take_key(self, key: str) -> bool:
        """Handle a key if it currently has a special meaning. Return whether it has one."""
        return False

    def click(self, column: int, row: int) -> None:  # noqa: B027  (most views ignore it)
        """Handle a click in the body."""

    def wheel(self, step: int) -> None:
        for _ in range(WHEEL):
            self.act("down" if step > 0 else "up")

    def tick(self, on_top: bool) -> None:  # noqa: B027  (most views ignore it)
        """Do periodic work. Called several times per second, even while another view is on top."""

    def close(self) -> None:  # noqa: B027  (most views ignore it)
        """Clean up when the view is left."""


class ListView(View):
    """A list that can be scrolled."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self.cursor = 0
        self._height = COMFORT[1]  # number of visible lines
        self.actions = {
            "down": lambda: self._move(1),
            "up": lambda: self._move(-1),
            "page-down": lambda: self._move(self._height),
            "page-up": lambda: self._move(-self._height),
            "first": lambda: self._move(-_FAR),
            "last": lambda: self._move(_FAR),
        }

    def _move(self, step: int) -> None:
        self.cursor = max(0, self.cursor + step)


class HelpView(ListView):
    """Every key and what it does. The cursor is the first visible line."""

    def top(self, width: int) -> str:
        return " All keys"

    def hints(self, width: int) -> str:
        is_wide = width > 3 * _KEY_COLUMNS
        return "↑↓ PgUp PgDn Home End   any other key goes back" if is_wide else "↑↓ PgDn, others: back"

    def body(self, width: int, height: int) -> list[Row]:
        rows: list[Row] = []
        for group, bindings in GROUPS.items():
            rows.append([("pane head", f" {group}")])
            for binding in bindings:
                keys = f"  {self.app.keys.shown(binding.action):<{_KEY_COLUMNS - 2}} "
                rows += wrap_after(("key", keys), binding.help, width)
            rows.append([])
        rows.append([("pane head", " Good to know")])
        for note in _NOTES:
            rows += wrap_after(("key", "   "), note, width)
        self._height = height
        self.cursor = max(0, min(self.cursor, len(rows) - height))
        return rows[self.cursor : self.cursor + height]

    def take_key(self, key: str) -> bool:
        if not self.act(self.app.keys.action_of.get(key, "")):
            self.app.close_view()
        return True


class PageListView(ListView):
    """All pages of a directory with their progress."""

    def __init__(self, app: App, pages: Pages, order: str) -> None:
        super().__init__(app)
        self.pages = pages
        self.order = order
        self._top = 0
        pages.sort(order)
        self.actions |= {
            "open": lambda: app.open_entry(self.entry),
            "next-page": lambda: app.turn_page(forward=True),
            "order": self._change_order,
            "retrain": app.retrain,
            "help": lambda: app.views.append(HelpView(app)),
            "quit": app.close_view,
            "cancel": lambda: None,
        }

    @property
    def entry(self) -> Entry:
        return self.pages.entries[self.cursor]

    def top(self, width: int) -> str:
        entries = self.pages.entries
        problems = sum(bool(entry.status.problem) for entry in entries)
        parts = [
            f"{sum(entry.is_finished for entry in entries):,} of {len(entries):,} pages finished",
            f"sorted by {self.order}",
            f"{len(self.pages.unread):,} not read yet" if self.pages.unread else "",
            f"{problems:,} cannot be opened" if problems else "",
            visible(str(self.pages.directory)),
        ]
        return " " + " │ ".join(filter(None, parts))

    def hints(self, width: int) -> str:
        words = {"help": "help", "quit": "leave", "open": "open", "next-page": "next unfinished"}
        words |= {"order": "sort", "retrain": "train"}
        return self.app.keys.hints([([action], word) for action, word in words.items()], width)

    def body(self, width: int, height: int) -> list[Row]:
        head = f"   {'progress':<{_BAR + 6}}{'blocks':>7}  {'uncertain':>9}  page"
        self._height = max(height - 1, 1)
        self._top = max(min(self._top, self.cursor), self.cursor - self._height + 1)
        rows: list[Row] = [[("pane head", fit(head, width - 1))]]
        for entry in self.pages.entries[self._top : self._top + self._height]:
            status, is_here = entry.status, entry is self.entry
            blocks, percent = "?", "    ?"
            if status.stamp and not status.problem:
                blocks, percent = str(status.blocks), f"{int(100 * entry.progress):>3} %"
            uncertainty = "" if status.uncertainty is None else f"{status.uncertainty:.3f}"
            full = int(_BAR * entry.progress)
            name = f"{entry.name}  {status.problem}" if status.problem else entry.name
            name += "  (open)" if is_locked(lock_of(entry.anno)) else ""
            rows.append(
                [
                    ("gutter current", " ► ") if is_here else ("gutter", "   "),
                    ("confirmed" if entry.is_finished else "pane", "█" * full + "░" * (_BAR - full) + f" {percent}"),
                    ("pane", f"{blocks:>7}  {uncertainty:>9}  "),
                    ("pane here" if is_here else "pane", fit(visible(name), max(width - 40, 8))),
                ]
            )
        return rows

    def _move(self, step: int) -> None:
        self.cursor = max(0, min(self.cursor + step, len(self.pages.entries) - 1))

    def _change_order(self) -> None:
        self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
        self.sort(follow=False)

    def sort(self, follow: bool) -> None:
        """Sort the pages again. The cursor follows its page, or goes to the first one."""
        entry = self.entry
        self.pages.sort(self.order)
        self.cursor = self.pages.entries.index(entry) if follow else 0

    def click(self, column: int, row: int) -> None:
        """Move the cursor to a page, or open it if the cursor is there already."""
        number = self._top + row - 1
        if row > 0 and number < len(self.pages.entries):
            if number == self.cursor:
                self.act("open")
            self.cursor = number

    def tick(self, on_top: bool) -> None:
        """Read more pages while the list is visible."""
        has_moved = self.cursor > 0
        if on_top and self.pages.work(_WORK_SECONDS) and self.order != "name":
            self.sort(follow=has_moved)

    def close(self) -> None:
        self.pages.save()
