"""What can fill the screen: the base of all views, the help, and the list of a directory's pages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from victorpy.annotation import ORDERS
from victorpy.annotation.pages import Entry, Pages
from victorpy.annotation.tui.keys import GROUPS
from victorpy.annotation.tui.text import Row, fit, visible, wrap_after

if TYPE_CHECKING:
    from victorpy.annotation.tui.app import App

COMFORT = (80, 24)
"""The smallest terminal in which everything fits: columns and lines."""
WHEEL = 3
"""Blocks or lines that a turn of the wheel moves by."""

_KEY_COLUMNS = 18
"""Columns of the keys in the help."""
_FAR = 1_000_000
"""More lines than a list has."""
_NOTES = (
    "Each block has its number and its label in front of it. Then comes ✓ if a person confirmed the label, * if a "
    "person changed it, or a number if nobody has decided: 97 means that the model is 97 % sure.",
    "The blocks on the screen that the model is least sure of have a digit or an unused letter in front of them: type "
    "it to go there.",
    "Short blocks that the model is sure are noise, such as the entries of a menu, share lines: O Home ┊ O News. A "
    "corner between them, ┌ or └, shows where a list begins or ends.",
    "A record is something that repeats: an item of a list, a row of a table, a post, a product. Paths of blocks at "
    "the same place of their records differ in one number only; classes do not matter.",
    "Selections that the program makes (the rest of an element, the same path, the same text, all the rest) leave out "
    "decided blocks, except the one under the cursor. A range that you mark is taken whole.",
    "You can also use the mouse: click on a block, or turn the wheel. Pasted text is ignored.",
    "Ctrl-C leaves at once; everything is saved then, too.",
)

_BAR = 10
"""Columns of the progress bar."""
_WORK_SECONDS = 0.05
"""Seconds spent on reading pages at a time, while there is nothing else to do."""


class View(ABC):
    """Something that fills the screen. Views need no terminal."""

    def __init__(self, app: App) -> None:
        self.app = app

    @abstractmethod
    def top(self, width: int) -> str:
        """Return the top line."""

    @abstractmethod
    def body(self, width: int, height: int) -> list[Row]:
        """Draw everything between the top and the bottom line."""

    @abstractmethod
    def hints(self, width: int) -> str:
        """Return the bottom line, which is shown if there is no message."""

    @abstractmethod
    def act(self, action: str) -> bool:
        """Perform an action. Return whether this view has such an action."""

    @property
    def trouble(self) -> str:
        """A lasting problem, shown in the bottom line."""
        return ""

    @property
    def is_ready(self) -> bool:
        """Whether work in the background is done, so that everything can be drawn."""
        return False

    def take_key(self, key: str) -> bool:
        """Take a key that has a special meaning now. Return whether it has one."""
        return False

    def click(self, column: int, row: int) -> None:  # noqa: B027  (most views ignore it)
        """Take a click into the body."""

    def wheel(self, step: int) -> None:
        """Take a turn of the wheel."""
        for _ in range(WHEEL):
            self.act("down" if step > 0 else "up")

    def tick(self, on_top: bool) -> None:  # noqa: B027  (most views ignore it)
        """Do what is due. Called several times a second, also while another view is on top."""

    def close(self) -> None:  # noqa: B027  (most views ignore it)
        """Clean up when the view is left."""


def _steps(page: int) -> dict[str, int]:
    """Return by how many lines each action moves in a list of which `page` lines are visible."""
    return {"down": 1, "up": -1, "page-down": page, "page-up": -page, "first": -_FAR, "last": _FAR}


class HelpView(View):
    """Every key and what it does."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._top = 0
        self._height = COMFORT[1]

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
        self._top = max(0, min(self._top, len(rows) - height))
        return rows[self._top : self._top + height]

    def act(self, action: str) -> bool:
        steps = _steps(self._height)
        if action in steps:
            self._top = max(0, self._top + steps[action])
        else:
            self.app.close_view()
        return True


class PageListView(View):
    """All pages of a directory with their progress."""

    def __init__(self, app: App, pages: Pages, order: str) -> None:
        super().__init__(app)
        self.pages = pages
        self.order = order
        self.cursor = 0
        self._top = 0
        self._height = 1
        pages.sort(order)

    @property
    def entry(self) -> Entry:
        """The page under the cursor."""
        return self.pages.entries[self.cursor]

    def top(self, width: int) -> str:
        entries = self.pages.entries
        problems = sum(bool(entry.status.problem) for entry in entries)
        parts = [
            f"{sum(entry.is_finished for entry in entries):,} of {len(entries):,} pages finished",
            f"sorted by {self.order}",
            f"{self.pages.left:,} not read yet" if self.pages.left else "",
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
        entries = self.pages.entries[self._top : self._top + self._height]
        return [[("pane head", fit(head, width - 1))], *(self._row(entry, width) for entry in entries)]

    def _row(self, entry: Entry, width: int) -> Row:
        status = entry.status
        is_here = entry is self.entry
        blocks, percent = ("?", "    ?")
        if status.is_counted:
            blocks, percent = str(status.blocks), f"{int(100 * entry.progress):>3} %"
        uncertainty = "" if status.uncertainty is None else f"{status.uncertainty:.3f}"
        full = int(_BAR * entry.progress)
        name = visible(entry.name) + (f"  {visible(status.problem)}" if status.problem else "")
        name += "  (open)" if entry.is_open else ""
        return [
            ("gutter current", " ► ") if is_here else ("gutter", "   "),
            ("confirmed" if entry.is_finished else "pane", "█" * full + "░" * (_BAR - full) + f" {percent}"),
            ("pane", f"{blocks:>7}  {uncertainty:>9}  "),
            ("pane here" if is_here else "pane", fit(name, max(width - 40, 8))),
        ]

    def act(self, action: str) -> bool:
        steps = _steps(self._height)
        if action in steps:
            self.cursor = max(0, min(self.cursor + steps[action], len(self.pages.entries) - 1))
        elif action == "open":
            self.app.open_entry(self.entry)
        elif action == "next-page":
            self.app.turn_page(forward=True)
        elif action == "order":
            self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
            self.sort(follow=False)
        elif action == "retrain":
            self.app.retrain()
        elif action == "help":
            self.app.open_view(HelpView(self.app))
        elif action == "quit":
            self.app.close_view()
        else:
            return action == "cancel"  # there is nothing to cancel here
        return True

    def sort(self, follow: bool = True) -> None:
        """Sort the pages again. The cursor follows its page, or goes to the first one."""
        entry = self.entry
        self.pages.sort(self.order)
        self.cursor = self.pages.entries.index(entry) if follow else 0

    def click(self, column: int, row: int) -> None:
        """Move the cursor to a page, or open it if the cursor is there already."""
        number = self._top + row - 1
        if row > 0 and number < len(self.pages.entries):
            if number == self.cursor:
                self.app.open_entry(self.entry)
            self.cursor = number

    def tick(self, on_top: bool) -> None:
        """Read more pages, as long as nobody is waiting for something else."""
        has_moved = self.cursor > 0
        if on_top and self.pages.work(_WORK_SECONDS) and self.order != "name":
            self.sort(follow=has_moved)

    def close(self) -> None:
        self.pages.save()
