"""The program around the screens: views on top of each other, messages, lines being typed, pages one after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from victorpy.annotate.blocks import Row
from victorpy.annotate.desk import COMFORT, SMALLEST, View
from victorpy.annotate.keys import Keys
from victorpy.annotate.learning import Learning
from victorpy.annotate.opening import Opened, open_page
from victorpy.annotate.page_list import PageListView
from victorpy.annotate.page_view import PageView
from victorpy.annotate.pages import Entry, Pages
from victorpy.annotate.predictor import Predictor
from victorpy.annotate.show import cut, fit, visible, width_of
from victorpy.config import Config
from victorpy.errors import VictorError

_LEFT_BUTTON, _WHEEL_UP, _WHEEL_DOWN = 1, 4, 5
_BEGIN_PASTE, _END_PASTE = "begin paste", "end paste"
_ROOMY = 48
"""Columns from which on a small terminal is told what would be better."""
_LONGEST_GAP = 1.0
"""Seconds between two characters of a paste; a terminal that does not say where it ends is not waited for."""


class _Prompt:
    """A line that the person types."""

    def __init__(self, question: str, answer: Callable[[str], None], start: str) -> None:
        self.question = question
        self.text = start
        self._answer = answer

    def key(self, key: str) -> bool:
        """Take a key; the answer is whether the line is finished."""
        if key == "enter":
            self._answer(self.text)
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
    """All that is on the screen, and what happens with a key."""

    def __init__(
        self,
        keys: Keys,
        config: Config,
        predictor: Predictor | None = None,
        read_only: bool = False,
        retrain: bool = False,
    ) -> None:
        self.keys = keys
        self.packs = True
        self.failures: list[str] = []
        """What went wrong and must not be missed."""
        self.redraw: Callable[[], None] = lambda: None
        """Draws the whole screen anew, where there is one."""
        self._config = config
        self._learning = Learning(predictor, self.say)
        self._read_only = read_only
        self._retrain = retrain
        self._views: list[View] = []
        self._message = ""
        self._prompt: _Prompt | None = None
        self._list: PageListView | None = None
        self._pasted_at: float | None = None
        """When the last character of a paste came, as long as it goes on."""

    @property
    def view(self) -> View:
        """What is on the screen."""
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
        """Say what went wrong, also after the program has ended."""
        self.failures.append(failure)
        self.say(visible(failure))

    def ask(self, question: str, answer: Callable[[str], None], start: str = "") -> None:
        """Let the person type a line."""
        self._prompt = _Prompt(question, answer, start)

    def open_view(self, view: View) -> None:
        """Show a view on top."""
        self._views.append(view)

    def close_view(self) -> None:
        """Go back; from the last view, out of the program."""
        view = self._views.pop()
        view.close()
        if isinstance(view, PageView) and self._list is not None:
            self._list.pages.look_again(self._list.entry)
            self._list.sort()
            if self._retrain:
                self._learning.begin(self._list.pages.entries, asked=False)

    # Pages

    def show_page(self, opened: Opened, place: str = "") -> None:
        """Put a page on the screen."""
        predictor = self._learning.predictor
        self.open_view(PageView(self, opened, predictor.features if predictor is not None else None, place))
        if opened.messages:
            self.say("; ".join(map(visible, opened.messages)))

    def show_list(self, pages: Pages, order: str) -> None:
        """Put a directory's pages on the screen."""
        self._list = PageListView(self, pages, order, self._open_entry)
        self.open_view(self._list)

    def _open_entry(self, entry: Entry) -> None:
        problem = self._try_to_open(entry)
        if problem:
            self.say(problem)

    def _try_to_open(self, entry: Entry) -> str:
        """Open a page of the list; the answer is why it cannot be opened."""
        assert self._list is not None
        self._list.go_to(entry)
        try:
            opened = open_page(entry.page, entry.anno, self._config, self._learning.predictor, self._read_only)
        except (VictorError, OSError) as error:
            return visible(str(error))
        opened.name = entry.name
        self.show_page(opened, f"{self._list.at + 1}/{len(self._list.pages.entries)}")
        return ""

    def next_page(self) -> None:
        """Go to the next page that is not finished and can be opened."""
        if self._is_alone() or self._list is None:
            return
        ahead = self._list.from_here()
        if self._is_on_page:  # the page that is open comes last
            ahead = [*ahead[1:], ahead[0]]
            self.close_view()
        self._open_first([entry for entry in ahead if not entry.is_finished], "All pages are finished")

    def previous_page(self) -> None:
        """Go to the nearest page before this one that can be opened."""
        if self._is_alone() or self._list is None:
            return
        before = self._list.before_here()
        if self._is_on_page:
            self.close_view()
        self._open_first(before, "This is the first page")

    @property
    def _is_on_page(self) -> bool:
        return isinstance(self._views[-1], PageView)

    def _is_alone(self) -> bool:
        if self._list is None:
            self.say("There is only this page; annotate.py DIR goes through many")
        return self._list is None

    def _open_first(self, entries: Sequence[Entry], nothing: str) -> None:
        """Open the first page that can be opened, and say which were passed over."""
        problems: list[str] = []
        for entry in entries:
            problem = self._try_to_open(entry)
            if not problem:
                break
            problems.append(problem)
        else:
            self.say(nothing)
        if problems:
            pages = "1 page that cannot be opened was" if len(problems) == 1 else f"{len(problems):,} pages were"
            told = f"{self._message}; " if self._message else ""
            self.say(f"{told}{pages} passed over: {problems[0]}")

    # Learning

    def retrain(self) -> None:
        """Learn from what is finished, because somebody asked for it."""
        self._learning.begin(self._list.pages.entries if self._list is not None else [], asked=True)

    def _use_other_model(self) -> None:
        """Give blocks that nobody has touched the labels of the model that is in use now."""
        predictor = self._learning.predictor
        if predictor is None:
            return
        if self._list is not None:
            self._list.pages.use(predictor)
        changed = sum(
            view.session.refresh(predictor(view.session.document))
            for view in self._views
            if isinstance(view, PageView) and not view.opened.store.is_read_only
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
            if prompt.key(key):
                self._prompt = None if self._prompt is prompt else self._prompt
            return
        if self._views[-1].take_key(key):
            return
        action = self.keys.action_of.get(key)
        if action == "redraw":
            self.redraw()
        elif action is None or not self._views[-1].act(action):
            self._unknown(key)

    def _is_pasted(self, key: str) -> bool:
        """Whether a key is of a paste: text goes into the line that is being typed, and nowhere else."""
        now = time.monotonic()
        if key == _BEGIN_PASTE:
            self._pasted_at = now
        elif key == _END_PASTE:
            self._pasted_at = None
            if self._prompt is None:
                self.say("What was pasted is not taken for keys")
        elif self._pasted_at is None or now - self._pasted_at > _LONGEST_GAP:
            self._pasted_at = None
            return False
        else:
            self._pasted_at = now
            if self._prompt is not None and len(key) == 1:
                self._prompt.key(key)
        return True

    def _unknown(self, key: str) -> None:
        if not self._views[-1].act("other key"):
            self.say(f"{visible(key)!r} does nothing here: {self.keys.first('help')} shows all keys")

    def mouse(self, event: str, button: int, column: int, row: int) -> None:
        """Take a click or a turn of the wheel; the body begins below the top line."""
        if "press" not in event or self._prompt is not None:
            return
        self._message = ""
        if button == _LEFT_BUTTON:
            self._views[-1].click(column, row - 1)
        elif button in {_WHEEL_UP, _WHEEL_DOWN}:
            self._views[-1].wheel(1 if button == _WHEEL_DOWN else -1)

    # Drawing

    def draw(self, width: int, height: int) -> tuple[list[Row], tuple[int, int] | None]:
        """The whole screen, and where the terminal's cursor is if a line is being typed."""
        if width < SMALLEST[0] or height < SMALLEST[1]:
            return self._too_small(width, height), None
        view = self._views[-1]
        top: Row = [("bar", fit(view.top(width), width))]
        body = view.body(width, height - 2)[: height - 2]
        body += [[] for _ in range(height - 2 - len(body))]
        bottom, cursor = self._bottom(view, width, height)
        return [top, *body, bottom], cursor

    def _bottom(self, view: View, width: int, height: int) -> tuple[Row, tuple[int, int] | None]:
        if self._prompt is not None:
            text = cut(self._prompt.question + visible(self._prompt.text), width - 2)
            return [("prompt", text)], (width_of(text), height - 1)
        if self._message:
            return [("message", fit(f" {self._message}", width))], None
        if view.trouble:
            return [("error", fit(f" {view.trouble}", width))], None
        size = ""
        if width < COMFORT[0] or height < COMFORT[1]:
            better = f", better with {COMFORT[0]}×{COMFORT[1]}" if width >= _ROOMY else " is small"
            size = f" │ {width}×{height}{better}"
        return [("bar", fit(f" {view.hints(width - 1 - len(size))}{size}", width))], None

    def _too_small(self, width: int, height: int) -> list[Row]:
        lines = ["Too small:", f"{width}×{height}.", "At least", f"{SMALLEST[0]}×{SMALLEST[1]}.", "All is saved."]
        rows: list[Row] = [[("content", cut(line, width))] for line in lines[:height]]
        return rows + [[] for _ in range(height - len(rows))]

    # Time

    def tick(self) -> tuple[str, str, bool]:
        """Called a few times a second; the answer differs from the last one where something has to be drawn."""
        for view in self._views:
            view.tick(on_top=view is self._views[-1])
        if self._learning.see():
            self._use_other_model()
        return (self.view.top(120), self._message, self.view.is_waiting) if self._views else ("", "", False)

    def close(self) -> None:
        """Save everything."""
        self._learning.stop()
        while self._views:
            self._views.pop().close()
