"""The list of a directory's pages."""

from __future__ import annotations

from collections.abc import Callable

from victorpy.annotate import ORDERS
from victorpy.annotate.blocks import Row
from victorpy.annotate.desk import Desk, View
from victorpy.annotate.help_view import HelpView
from victorpy.annotate.pages import Entry, Pages
from victorpy.annotate.show import fit, visible

_BAR = 10
_AT_ONCE = 0.05
"""Seconds that may pass, each time that there is nothing else to do, with looking at pages."""


class PageListView(View):
    """All pages with their progress, from which one is chosen."""

    def __init__(self, desk: Desk, pages: Pages, order: str, open_entry: Callable[[Entry], None]) -> None:
        super().__init__(desk)
        self.pages = pages
        self.order = order
        self._open = open_entry
        self._top = 0
        self._height = 1
        self.at = 0
        pages.sort(order)

    @property
    def entry(self) -> Entry:
        """The page that the cursor is on."""
        return self.pages.entries[self.at]

    def top(self, width: int) -> str:
        """How many pages there are and how far they are."""
        entries = self.pages.entries
        finished = sum(entry.is_finished for entry in entries)
        left = f" │ {self.pages.left:,} not looked at yet" if self.pages.left else ""
        done = f"{finished:,} of {len(entries):,} pages finished"
        problems = sum(bool(entry.known.problem) for entry in entries)
        wrong = f" │ {problems:,} cannot be opened" if problems else ""
        return f" {done} │ by {self.order}{left}{wrong} │ {visible(str(self.pages.directory))}"

    def hints(self, width: int) -> str:
        """The keys."""
        shown = [(["help"], "help"), (["quit"], "leave"), (["open"], "open"), (["next-page"], "next unfinished")]
        return self.desk.keys.hints([*shown, (["order"], "order"), (["retrain"], "learn")], width)

    def body(self, width: int, height: int) -> list[Row]:
        """The pages around the cursor."""
        head = f"   {'progress':<{_BAR + 6}}{'blocks':>7}  {'uncertain':>9}  page"
        self._height = max(height - 1, 1)
        self._top = max(min(self._top, self.at), self.at - self._height + 1)
        shown = self.pages.entries[self._top : self._top + self._height]
        return [[("pane head", fit(head, width - 1))], *(self._row(entry, width) for entry in shown)]

    def _row(self, entry: Entry, width: int) -> Row:
        known = entry.known
        here = entry is self.entry
        full = int(_BAR * entry.progress)
        share = f"{int(100 * entry.progress):>3} %" if known.is_counted else "    ?"
        uncertain = "" if known.uncertainty is None else f"{known.uncertainty:.3f}"
        name = visible(entry.name) + (f"  {visible(known.problem)}" if known.problem else "")
        name += "  (open)" if entry.is_open else ""
        look = "gutter current" if here else "gutter"
        bar = ("confirmed" if entry.is_finished else "pane", "█" * full + "░" * (_BAR - full) + f" {share}")
        text = f"{known.blocks if known.is_counted else '?':>7}  {uncertain:>9}  "
        return [
            (look, " ► " if here else "   "),
            bar,
            ("pane", text),
            ("pane here" if here else "pane", fit(name, max(width - 40, 8))),
        ]

    def act(self, action: str) -> bool:
        """Move, open, or order anew."""
        steps = {"down": 1, "up": -1, "page-down": self._height, "page-up": -self._height}
        last = len(self.pages.entries) - 1
        if action in steps:
            self.at = max(0, min(self.at + steps[action], last))
        elif action in {"first", "last"}:
            self.at = 0 if action == "first" else last
        elif action == "open":
            self._open(self.entry)
        elif action == "next-page":
            self.desk.next_page()
        elif action == "order":
            self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
            self.sort(follow=False)
        elif action == "retrain":
            self.desk.retrain()
        elif action == "help":
            self.desk.open_view(HelpView(self.desk))
        elif action == "quit":
            self.desk.close_view()
        else:
            return action == "cancel"  # there is nothing to give up, and no harm in trying
        return True

    def sort(self, follow: bool = True) -> None:
        """Bring the pages into order again; the cursor stays on its page, or goes to the first."""
        here = self.entry
        self.pages.sort(self.order)
        self.at = self.pages.entries.index(here) if follow else 0

    def click(self, column: int, row: int) -> None:
        """Go to the page, and open it if the cursor is there already."""
        number = self._top + row - 1
        if row > 0 and number < len(self.pages.entries):
            if number == self.at:
                self._open(self.entry)
            self.at = number

    def from_here(self) -> list[Entry]:
        """The pages from the cursor's on, all around the list."""
        return [*self.pages.entries[self.at :], *self.pages.entries[: self.at]]

    def before_here(self) -> list[Entry]:
        """The pages before the cursor's, the nearest first."""
        return self.pages.entries[: self.at][::-1]

    def go_to(self, entry: Entry) -> None:
        """Put the cursor on a page."""
        self.at = self.pages.entries.index(entry)

    def tick(self, on_top: bool) -> None:
        """Look at some more pages, as long as nobody is waiting for something else."""
        touched = self.at > 0
        if on_top and self.pages.work(_AT_ONCE) and self.order != "name":
            self.sort(follow=touched)

    def close(self) -> None:
        """Keep what was found out."""
        self.pages.save()
