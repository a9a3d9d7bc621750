"""The terminal: urwid takes keys and clicks to the view on top and draws the rows that it gives."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Hashable
from types import FrameType
from typing import Any, Literal

import urwid

from victorpy.annotate.blocks import Row
from victorpy.annotate.colours import palette
from victorpy.annotate.keys import Keys
from victorpy.annotate.opening import Opened, open_page
from victorpy.annotate.page_list import PageListView
from victorpy.annotate.pages import Entry, Pages
from victorpy.annotate.predictor import Predictor
from victorpy.annotate.retrain import FEWEST, Learned, Trainer
from victorpy.annotate.show import cut, fit, visible, width_of
from victorpy.annotate.views import COMFORT, SMALLEST, PageView, View
from victorpy.cleaner import Cleaner
from victorpy.config import Config
from victorpy.errors import VictorError

_TICK = 0.1
_ENDING = (signal.SIGTERM, signal.SIGHUP)
_LEFT_BUTTON, _WHEEL_UP, _WHEEL_DOWN = 1, 4, 5


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
    """The program: views on top of each other, a message, a line being typed."""

    def __init__(
        self,
        keys: Keys,
        config: Config,
        predictor: Predictor | None = None,
        read_only: bool = False,
        retrain: bool = False,
    ) -> None:
        self.keys = keys
        self.failures: list[str] = []
        """What went wrong and must not be missed."""
        self.signalled = 0
        """The signal that ended the program, if one did."""
        self._config = config
        self._predictor = predictor
        self._has_learned = False
        self._read_only = read_only
        self._retrain = retrain
        self._trainer = Trainer(predictor.name if predictor is not None else "")
        self._views: list[View] = []
        self._message = ""
        self._prompt: _Prompt | None = None
        self._list: PageListView | None = None
        self._surface = _Surface(self)
        self._loop: urwid.MainLoop | None = None
        self._status: tuple[str, str] = ("", "")

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
        self._close_top()
        if not self._views:
            raise urwid.ExitMainLoop

    def _close_top(self) -> None:
        view = self._views.pop()
        view.close()
        if isinstance(view, PageView) and self._list is not None:
            self._list.pages.look_again(self._list.entry)
            if self._retrain:
                self._start_training(asked=False)

    # Pages

    def show_page(self, opened: Opened, place: str = "") -> None:
        """Put a page on the screen."""
        predictor = self._predictor
        self.open_view(PageView(self, opened, predictor.features if predictor is not None else None, place))
        if opened.messages:
            self.say("; ".join(map(visible, opened.messages)))

    def show_list(self, pages: Pages, order: str) -> None:
        """Put a directory's pages on the screen."""
        self._list = PageListView(self, pages, order, self._open_entry)
        self.open_view(self._list)

    def _open_entry(self, entry: Entry) -> None:
        assert self._list is not None
        self._list.go_to(entry)
        try:
            opened = open_page(entry.page, entry.anno, self._config, self._predictor, self._read_only)
        except (VictorError, OSError) as error:
            self.say(visible(str(error)))
            return
        opened.name = entry.name
        if self._has_learned and self._predictor is not None and not self._read_only:
            opened.session.refresh(self._predictor(opened.session.document))
        self.show_page(opened, f"{self._list.at + 1}/{len(self._list.pages.entries)}")

    def step_page(self, step: int) -> None:
        """Go to the next page that is not finished, or to the one before."""
        if self._list is None:
            self.say("There is only this page; annotate.py DIR goes through many")
            return
        if isinstance(self._views[-1], PageView):
            self._close_top()
        entry = self._list.next_entry(step)
        if entry is None:
            self.say("All pages are finished" if step >= 0 else "This is the first page")
        else:
            self._open_entry(entry)

    # Learning

    def retrain(self) -> None:
        """Learn from what is finished, because somebody asked for it."""
        self._start_training(asked=True)

    def _start_training(self, asked: bool) -> None:
        entries = self._list.pages.entries if self._list is not None else []
        finished = [entry.anno for entry in entries if entry.is_finished]
        if self._trainer.wants(len(finished)):
            try:
                self._trainer.start(finished)
                self.say(f"Learning from {len(finished):,} finished pages, in the background")
            except OSError as error:
                self.say(f"Nothing can be learned: {error}")
        elif asked:
            busy = "It is learning already" if self._trainer.is_busy else "Nothing new is finished since"
            few = f"There is too little to learn from: {FEWEST} pages of a directory have to be finished"
            self.say(few if len(finished) < FEWEST else busy)

    def _see_training(self) -> None:
        came = self._trainer.poll()
        if came is None:
            return
        if isinstance(came, str):
            self.say(f"Nothing was learned: {visible(came)}")
            return
        refreshed = self._take_model(came) if came.is_better else ""
        self.say(f"{str(came).capitalize()}{refreshed}")

    def _take_model(self, learned: Learned) -> str:
        try:
            self._predictor = Predictor(Cleaner.load(learned.model), f"learned from {learned.pages} pages")
        except VictorError as error:
            return f"; {visible(str(error))}"
        self._trainer.model = str(learned.model)
        self._has_learned = True
        if self._list is not None:
            self._list.pages.use(self._predictor)
        changed = 0
        for view in self._views:
            if isinstance(view, PageView) and not view.opened.store.is_read_only:
                changed += view.session.refresh(self._predictor(view.session.document))
        return f"; {changed:,} labels of this page changed" if changed else ""

    # Input

    def key(self, key: str) -> None:
        """Take a key."""
        self._message = ""
        if self._prompt is not None:
            prompt = self._prompt
            if prompt.key(key):
                self._prompt = None if self._prompt is prompt else self._prompt
            return
        if self._views[-1].take_key(key):
            return
        action = self.keys.action_of.get(key)
        if action == "redraw" and self._loop is not None:
            self._loop.screen.clear()
        elif action is None or not self._views[-1].act(action):
            self._unknown(key)

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
        error = view.opened.store.error if isinstance(view, PageView) else ""
        if error:
            return [
                ("error", fit(f" Nothing can be saved: {visible(error)}. Do not leave; it is tried again.", width))
            ], None
        if self._message:
            return [("message", fit(f" {self._message}", width))], None
        small = width < COMFORT[0] or height < COMFORT[1]
        size = f"{width}×{height}, better with {COMFORT[0]}×{COMFORT[1]} │ " if small else ""
        return [("bar", fit(f" {size}{view.hints()}", width))], None

    def _too_small(self, width: int, height: int) -> list[Row]:
        lines = ["Too small:", f"{width}×{height}.", "At least", f"{SMALLEST[0]}×{SMALLEST[1]}.", "All is saved."]
        rows: list[Row] = [[("content", cut(line, width))] for line in lines[:height]]
        return rows + [[] for _ in range(height - len(rows))]

    # Running

    def run(self) -> None:
        """Show the views until the last is closed; whatever happens, all is saved."""
        urwid.set_encoding("utf-8")
        screen = urwid.display.raw.Screen()
        screen.set_terminal_properties(colors=_colours())
        self._loop = urwid.MainLoop(self._surface, palette(), screen, handle_mouse=True)
        self._loop.set_alarm_in(_TICK, self._tick)
        ending = self._loop.watch_pipe(self._end)
        before = {number: signal.signal(number, self._signalled(ending)) for number in _ENDING}
        try:
            self._loop.run()
        except OSError:
            if not self.signalled:  # a terminal that is gone cannot be drawn on; that is no error
                raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self.close()

    def close(self) -> None:
        """Save everything."""
        self._trainer.stop()
        while self._views:
            self._views.pop().close()

    def _signalled(self, pipe: int) -> Callable[[int, FrameType | None], None]:
        def handle(number: int, frame: FrameType | None) -> None:
            self.signalled = number
            with contextlib.suppress(OSError):
                os.write(pipe, b".")

        return handle

    def _end(self, content: bytes) -> bool:
        self.close()
        raise urwid.ExitMainLoop

    def _tick(self, loop: urwid.MainLoop, data: Any) -> None:
        try:
            if self._views:
                for view in self._views:
                    view.tick(on_top=view is self._views[-1])
                self._see_training()
                status = (self._views[-1].top(120), self._message)
                if status != self._status:
                    self._status = status
                    self._surface.redraw()
        finally:
            loop.set_alarm_in(_TICK, self._tick)


def _colours() -> Literal[1, 16, 256]:
    """How many colours the terminal is said to have, and the person wants."""
    if os.environ.get("NO_COLOR"):
        return 1
    many = "256color" in os.environ.get("TERM", "") or os.environ.get("COLORTERM", "") in {"truecolor", "24bit"}
    return 256 if many else 16


class _Surface(urwid.Widget):
    """All of the screen."""

    _sizing = frozenset([urwid.BOX])
    _selectable = True
    ignore_focus = True

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app

    def redraw(self) -> None:
        """Something has changed."""
        self._invalidate()

    def render(self, size: Any, focus: bool = False) -> urwid.Canvas:
        """Draw all rows."""
        width, height = size
        rows, cursor = self._app.draw(width, height)
        return canvas_of(rows, width, cursor)

    def keypress(self, size: Any, key: str) -> str | None:
        """Take a key."""
        self._app.key(key)
        self._invalidate()
        return None

    def mouse_event(self, size: Any, event: str, button: int, col: int, row: int, focus: bool) -> bool | None:
        """Take a click."""
        self._app.mouse(event, button, col, row)
        self._invalidate()
        return True


def canvas_of(rows: list[Row], width: int, cursor: tuple[int, int] | None = None) -> urwid.TextCanvas:
    """Make rows what urwid draws; what is too wide is cut."""
    texts, looks = [], []
    for row in rows:
        text, look = _encode(row, width)
        texts.append(text)
        looks.append(look)
    return urwid.TextCanvas(texts, looks, cursor=cursor, maxcol=width)


def _encode(row: Row, width: int) -> tuple[bytes, list[tuple[Hashable, int]]]:
    parts: list[bytes] = []
    looks: list[tuple[Hashable, int]] = []
    whole = cut("".join(text for _, text in row), width)
    left = len(whole)
    at = 0
    for look, text in row:
        part = whole[at : at + len(text)].encode("utf-8", "replace")
        at += len(text)
        if part:
            parts.append(part)
            looks.append((look, len(part)))
        if at >= left:
            break
    return b"".join(parts), looks
