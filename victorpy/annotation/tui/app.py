"""The application: views on top of each other, messages, prompts, and pages one after another."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from victorpy.annotation.learning import Learning
from victorpy.annotation.opening import open_page
from victorpy.annotation.pages import Entry, Pages
from victorpy.annotation.predictor import Predictor
from victorpy.annotation.store import OpenPage
from victorpy.annotation.tui.keys import Keys
from victorpy.annotation.tui.page_view import PageView
from victorpy.annotation.tui.text import Row, cut, fit, visible, width_of
from victorpy.annotation.tui.views import COMFORT, PageListView, View
from victorpy.config import Config
from victorpy.errors import VictorError, plural

_LEFT_BUTTON, _WHEEL_UP, _WHEEL_DOWN = 1, 4, 5
_BEGIN_PASTE, _END_PASTE = "begin paste", "end paste"
_LONGEST_GAP = 1.0
"""Seconds between two characters of a paste. After that a paste whose end was not reported is over."""
_SMALLEST = (40, 8)
_ROOM_FOR_ADVICE = 48
"""Minimum columns for the advice that a larger terminal would be better."""


@dataclass
class _Prompt:
    """A line that is being typed."""

    question: str
    answer: Callable[[str], None]
    text: str = ""

    def take_key(self, key: str) -> bool:
        """Take a key. Return whether the line is finished."""
        if key == "enter":
            self.answer(self.text)
        elif key == "backspace":
            if not self.text:
                return True
            self.text = self.text[:-1]
        elif key == "ctrl u":
            self.text = ""
        elif len(key) == 1 and key.isprintable():
            self.text += key
        return key in {"enter", "esc"}


class App:
    """Everything on the screen, and what happens when a key is pressed."""

    def __init__(
        self,
        keys: Keys,
        config: Config,
        predictor: Predictor | None = None,
        read_only: bool = False,
        retrain: bool = False,
    ) -> None:
        self.keys = keys
        self.pack = True
        """Whether short blocks that the model is sure are noise share lines."""
        self.failures: list[str] = []
        """Errors that are shown again after the program has ended."""
        self.redraw: Callable[[], None] = lambda: None
        """Redraws the whole screen. The terminal sets it."""
        self._config = config
        self._learning = Learning(predictor, self.say)
        self._read_only = read_only
        self._retrain = retrain
        self._views: list[View] = []
        self._list: PageListView | None = None
        self._message = ""
        self._prompt: _Prompt | None = None
        self._pasted_at: float | None = None
        """When the last character of a paste arrived. None if nothing is being pasted."""

    @property
    def view(self) -> View:
        """The view on the screen."""
        return self._views[-1]

    @property
    def is_over(self) -> bool:
        """Whether the last view was closed."""
        return not self._views

    # What views ask for

    def say(self, message: str) -> None:
        """Show a message until the next key."""
        self._message = message

    def report(self, failure: str) -> None:
        """Show an error, now and after the program has ended."""
        self.failures.append(failure)
        self.say(visible(failure))

    def ask(self, question: str, answer: Callable[[str], None]) -> None:
        """Let the user type a line."""
        self._prompt = _Prompt(question, answer)

    def open_view(self, view: View) -> None:
        """Show a view on top."""
        self._views.append(view)

    def close_view(self) -> None:
        """Go back to the previous view. The program ends with the last view."""
        view = self._views.pop()
        view.close()
        if isinstance(view, PageView) and self._list is not None:
            self._list.pages.update(self._list.entry)
            self._list.sort()
            if self._retrain:
                self._learning.begin(self._list.pages.entries, asked=False)

    # Pages

    def show_page(self, opened: OpenPage, place: str = "") -> None:
        """Show a page."""
        predictor = self._learning.predictor
        self.open_view(PageView(self, opened, predictor.features if predictor is not None else None, place))
        if opened.messages:
            self.say("; ".join(map(visible, opened.messages)))

    def show_list(self, pages: Pages, order: str) -> None:
        """Show the pages of a directory."""
        self._list = PageListView(self, pages, order)
        self.open_view(self._list)

    def open_entry(self, entry: Entry) -> None:
        """Open a page of the list, or show why it cannot be opened."""
        problem = self._try_to_open(entry)
        if problem:
            self.say(problem)

    def turn_page(self, forward: bool) -> None:
        """Open the next page that is not finished, or the previous page. Skip pages that cannot be opened."""
        if self._list is None:
            self.say("There is only this page; start with a directory to go through many")
            return
        entries, cursor = self._list.pages.entries, self._list.cursor
        is_on_page = isinstance(self.view, PageView)
        if forward:
            first = cursor + is_on_page  # the page that is open comes last
            candidates = [*entries[first:], *entries[:first]]
        else:
            candidates = entries[:cursor][::-1]
        if is_on_page:
            self.close_view()
        problems: list[str] = []
        for entry in [entry for entry in candidates if not (forward and entry.is_finished)]:
            problem = self._try_to_open(entry)
            if not problem:
                break
            problems.append(problem)
        else:
            self.say("All pages are finished" if forward else "This is the first page")
        if problems:
            message = f"{self._message}; " if self._message else ""
            self.say(f"{message}{plural(len(problems), 'page')} skipped: {problems[0]}")

    def _try_to_open(self, entry: Entry) -> str:
        """Open a page of the list. Return the reason if it cannot be opened."""
        assert self._list is not None
        entries = self._list.pages.entries
        self._list.cursor = entries.index(entry)
        try:
            opened = open_page(entry.page, entry.anno, self._config, self._learning.predictor, self._read_only)
        except (VictorError, OSError) as error:
            return visible(str(error))
        opened.name = entry.name
        self.show_page(opened, f"{self._list.cursor + 1}/{len(entries)}")
        return ""

    # Learning

    def retrain(self) -> None:
        """Learn from the finished pages, because the user asked for it."""
        self._learning.begin(self._list.pages.entries if self._list is not None else [], asked=True)

    def _use_new_model(self) -> None:
        """Give undecided blocks the labels of the model that is in use now."""
        predictor = self._learning.predictor
        if predictor is None:
            return
        if self._list is not None:
            self._list.pages.use(predictor)
        changed = sum(
            view.session.refresh(predictor(view.session.document))
            for view in self._views
            if isinstance(view, PageView) and not view.opened.is_read_only
        )
        if changed:
            self.say(f"{self._message}; {changed:,} labels of this page changed")

    # Input

    def key(self, key: str) -> None:
        """Take a key."""
        if self._is_pasted(key):
            return
        self._message = ""
        if self._prompt is not None:
            prompt = self._prompt
            if prompt.take_key(key) and self._prompt is prompt:  # the answer may have asked the next question
                self._prompt = None
            return
        if self.view.take_key(key):
            return
        action = self.keys.action_of.get(key)
        if action == "redraw":
            self.redraw()
        elif (action is None or not self.view.act(action)) and not self.view.act("other key"):
            self.say(f"{visible(key)!r} does nothing here; press {self.keys.first('help')} for help")

    def _is_pasted(self, key: str) -> bool:
        """Return whether a key is part of a paste. Pasted text goes into the prompt, and nowhere else."""
        now = time.monotonic()
        if key == _BEGIN_PASTE:
            self._pasted_at = now
        elif key == _END_PASTE:
            self._pasted_at = None
            if self._prompt is None:
                self.say("Pasted text is ignored here")
        elif self._pasted_at is None or now - self._pasted_at > _LONGEST_GAP:
            self._pasted_at = None
            return False
        else:
            self._pasted_at = now
            if self._prompt is not None and len(key) == 1:
                self._prompt.take_key(key)
        return True

    def mouse(self, event: str, button: int, column: int, row: int) -> None:
        """Take a click or a turn of the wheel."""
        if "press" not in event or self._prompt is not None:
            return
        self._message = ""
        if button == _LEFT_BUTTON:
            self.view.click(column, row - 1)  # the body begins below the top line
        elif button in {_WHEEL_UP, _WHEEL_DOWN}:
            self.view.wheel(1 if button == _WHEEL_DOWN else -1)

    # Drawing

    def draw(self, width: int, height: int) -> tuple[list[Row], tuple[int, int] | None]:
        """Return the rows of the whole screen, and the place of the terminal's cursor if a line is being typed."""
        if width < _SMALLEST[0] or height < _SMALLEST[1]:
            smallest = f"{_SMALLEST[0]}×{_SMALLEST[1]}."
            lines = ["Too small:", f"{width}×{height}.", "At least", smallest, "Everything is saved."]
            rows: list[Row] = [[("content", cut(line, width))] for line in lines[:height]]
            return rows + [[] for _ in range(height - len(rows))], None
        top: Row = [("bar", fit(self.view.top(width), width))]
        body = self.view.body(width, height - 2)[: height - 2]
        body += [[] for _ in range(height - 2 - len(body))]
        if self._prompt is not None:
            text = cut(self._prompt.question + visible(self._prompt.text), width - 2)
            return [top, *body, [("prompt", text)]], (width_of(text), height - 1)
        return [top, *body, self._bottom(width, height)], None

    def _bottom(self, width: int, height: int) -> Row:
        if self._message:
            return [("message", fit(f" {self._message}", width))]
        if self.view.trouble:
            return [("error", fit(f" {self.view.trouble}", width))]
        size = ""
        if width < COMFORT[0] or height < COMFORT[1]:
            advice = f", better with {COMFORT[0]}×{COMFORT[1]}" if width >= _ROOM_FOR_ADVICE else " is small"
            size = f" │ {width}×{height}{advice}"
        return [("bar", fit(f" {self.view.hints(width - 1 - len(size))}{size}", width))]

    # Time

    def tick(self) -> tuple[str, str, bool]:
        """Do what is due, several times a second. The screen has to be drawn again if the return value changes."""
        for view in self._views:
            view.tick(on_top=view is self.view)
        if self._learning.see():
            self._use_new_model()
        return (self.view.top(120), self._message, self.view.is_ready) if self._views else ("", "", False)

    def close(self) -> None:
        """Save everything."""
        self._learning.stop()
        while self._views:
            self._views.pop().close()
