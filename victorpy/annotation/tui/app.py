"""The application: a stack of views, messages, prompts, and the order of pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from victorpy.annotation.learning import Learning, Predictor
from victorpy.annotation.opening import open_page
from victorpy.annotation.pages import Entry, Pages
from victorpy.annotation.store import OpenPage
from victorpy.annotation.tui.keys import Keys
from victorpy.annotation.tui.page_view import Others, PageView
from victorpy.annotation.tui.text import Row, cut, fit, visible, width_of
from victorpy.annotation.tui.views import COMFORT, PageListView, View
from victorpy.config import Config
from victorpy.errors import VictorError, plural

_LEFT_BUTTON, _WHEEL_UP, _WHEEL_DOWN = 1, 4, 5
_BEGIN_PASTE, _END_PASTE = "begin paste", "end paste"
_LONGEST_GAP = 1.0  # seconds without a character that end a paste, if the terminal does not report the end
_SMALLEST = (40, 8)
_ROOM_FOR_ADVICE = 48  # minimum number of columns for showing the advice to use a larger terminal


@dataclass
class _Prompt:
    """A line that the user is typing."""

    question: str
    answer: Callable[[str], str | None]
    text: str = ""

    def take_key(self, key: str) -> bool:
        """Handle a key. Return whether the line is finished."""
        is_over = key in {"enter", "esc"} or (key == "backspace" and not self.text)
        if key == "backspace":
            self.text = self.text[:-1]
        elif key == "ctrl u":
            self.text = ""
        elif len(key) == 1 and key.isprintable():
            self.text += key
        return is_over


class App:
    """Draws the screen and handles keys."""

    def __init__(
        self,
        keys: Keys,
        config: Config,
        predictor: Predictor | None,
        read_only: bool,
        retrain: bool,
    ) -> None:
        self.keys = keys
        self.pack = True  # whether short blocks share lines if the model is sure that they are noise
        self.failures: list[str] = []  # errors that are shown again after the program has ended
        self.redraw: Callable[[], None] = lambda: None
        """Redraws the whole screen. The terminal sets it."""
        self._config = config
        self._learning = Learning(predictor, self.say)
        self._read_only = read_only
        self._retrain = retrain
        self.views: list[View] = []
        """The stack of views. The program ends when it is empty."""
        self._list: PageListView | None = None
        self._message = ""
        self._prompt: _Prompt | None = None
        self._pasted_at: float | None = None
        """When the last character of a paste arrived. None if nothing is being pasted."""

    @property
    def view(self) -> View:
        return self.views[-1]

    # Called by views

    def say(self, message: str, also: bool = False) -> None:
        """Show a message until the next key. With `also`, append it to the current message."""
        parts = [self._message, visible(message)] if also else [visible(message)]
        self._message = "; ".join(filter(None, parts))

    def report(self, failure: str) -> None:
        """Show an error now and after the program has ended."""
        self.failures.append(failure)
        self.say(failure)

    def ask(self, question: str, answer: Callable[[str], str | None]) -> None:
        """Let the user type a line. `answer` may return a message."""
        self._prompt = _Prompt(question, answer)

    def close_view(self) -> None:
        view = self.views.pop()
        view.close()
        if isinstance(view, PageView) and self._list is not None:
            self._list.pages.update(self._list.entry)
            self._list.sort(follow=True)
            if self._retrain:
                self._learning.begin(self._list.pages.finished, asked=False)

    # Pages

    def show_page(self, opened: OpenPage, others: Others | None = None) -> None:
        predictor = self._learning.predictor
        features = predictor.cleaner.labeller.features if predictor is not None else None
        self.views.append(PageView(self, opened, features, others))
        self.say("; ".join(opened.messages), also=True)

    def show_list(self, pages: Pages, order: str) -> None:
        self._list = PageListView(self, pages, order)
        self.views.append(self._list)

    def open_entry(self, entry: Entry) -> str:
        """Open a page of the list. Return the reason if it cannot be opened."""
        assert self._list is not None
        entries = self._list.pages.entries
        self._list.cursor = entries.index(entry)
        try:
            opened = open_page(entry.page, entry.anno, self._config, self._learning.predictor, self._read_only)
        except (VictorError, OSError) as error:
            return str(error)
        opened.name = entry.name
        others = [each for each in entries if each is not entry]
        self.show_page(opened, Others(sum(each.is_finished for each in others), len(others)))
        return ""

    def turn_page(self, forward: bool) -> None:
        """Open the next page that is not finished, or the previous page. Skip pages that cannot be opened."""
        if self._list is None:
            self.say("There is only this page; start with a directory to go through many")
            return
        entries, cursor = self._list.pages.entries, self._list.cursor
        is_on_page = isinstance(self.view, PageView)
        if forward:
            first = cursor + is_on_page  # try the open page last
            candidates = [*entries[first:], *entries[:first]]
        else:
            candidates = entries[:cursor][::-1]
        if is_on_page:
            self.close_view()
        problems: list[str] = []
        for entry in [entry for entry in candidates if not (forward and entry.is_finished)]:
            problem = self.open_entry(entry)
            if not problem:
                break
            problems.append(problem)
        else:
            self.say("All pages are finished" if forward else "This is the first page")
        if problems:
            self.say(f"{plural(len(problems), 'page')} skipped: {problems[0]}", also=True)

    # Learning

    def retrain(self) -> None:
        """Train on the finished pages, at the user's request."""
        self._learning.begin(self._list.pages.finished if self._list is not None else [], asked=True)

    # Input

    def key(self, key: str) -> None:
        if self._is_pasted(key):
            return
        self._message = ""
        if self._prompt is not None:
            prompt = self._prompt
            if prompt.take_key(key):
                self._prompt = None
                if key == "enter":
                    self.say(prompt.answer(prompt.text) or "")
            return
        action = self.keys.action_of.get(key, "")
        if action == "redraw":
            self.redraw()
        elif not self.view.take_key(key) and not self.view.act(action):
            self.say(f"{visible(key)!r} does nothing here; press {self.keys.first('help')} for help")

    def _is_pasted(self, key: str) -> bool:
        """Return whether a key is part of a paste. Pasted text is ignored, except in a prompt."""
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
        if "press" not in event or self._prompt is not None:
            return
        self._message = ""
        if button == _LEFT_BUTTON:
            self.view.click(column, row - 1)  # the body is below the top line
        elif button in {_WHEEL_UP, _WHEEL_DOWN}:
            self.view.wheel(1 if button == _WHEEL_DOWN else -1)

    # Drawing

    def draw(self, width: int, height: int) -> tuple[list[Row], tuple[int, int] | None]:
        """Return the rows of the screen, and the position of the terminal's cursor in a prompt."""
        cursor = None
        if width < _SMALLEST[0] or height < _SMALLEST[1]:
            smallest = f"{_SMALLEST[0]}×{_SMALLEST[1]}."
            lines = ["Too small:", f"{width}×{height}.", "At least", smallest, "Everything is saved."]
            rows: list[Row] = [[("content", cut(line, width))] for line in lines[:height]]
            return rows + [[] for _ in range(height - len(rows))], cursor
        body = self.view.body(width, height - 2)[: height - 2]
        body += [[] for _ in range(height - 2 - len(body))]
        size = ""
        if width < COMFORT[0] or height < COMFORT[1]:
            advice = f", better with {COMFORT[0]}×{COMFORT[1]}" if width >= _ROOM_FOR_ADVICE else " is small"
            size = f" │ {width}×{height}{advice}"
        bottom = ("bar", f"{self.view.hints(width - 1 - len(size))}{size}")
        if self._prompt is not None:
            text = cut(self._prompt.question + visible(self._prompt.text), width - 2)
            bottom, cursor = ("prompt", text), (width_of(text), height - 1)
        elif self._message:
            bottom = ("message", self._message)
        elif self.view.trouble:
            bottom = ("error", self.view.trouble)
        style, line = bottom
        last: Row = [(style, line if style == "prompt" else fit(f" {line}", width))]
        return [[("bar", fit(self.view.top(width), width))], *body, last], cursor

    # Time

    def tick(self) -> tuple[str, str, bool]:
        """Do periodic work. The screen must be redrawn if the return value changes."""
        for view in self.views:
            view.tick(on_top=view is self.view)
        predictor = self._learning.predictor if self._learning.see() else None
        if predictor is not None:
            if self._list is not None:
                self._list.pages.use(predictor)
            changed = sum(
                view.session.refresh(predictor(view.session.document))
                for view in self.views
                if isinstance(view, PageView) and view.opened.journal is not None
            )
            if changed:
                self.say(f"{changed:,} labels of this page changed", also=True)
        return (self.view.top(120), self._message, self.view.is_ready) if self.views else ("", "", False)

    def close(self) -> None:
        self._learning.stop()
        while self.views:
            self.views.pop().close()
