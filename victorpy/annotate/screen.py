"""The terminal: urwid takes keys and clicks to the program and draws the rows that it gives."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import termios
from collections.abc import Callable, Hashable
from types import FrameType
from typing import Any, Literal

import urwid

from victorpy.annotate.app import App
from victorpy.annotate.blocks import Row
from victorpy.annotate.colours import palette
from victorpy.annotate.show import cut

_TICK = 0.1
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Screen(urwid.display.raw.Screen):
    """A terminal whose keys all come through, and that always has a size."""

    def __init__(self) -> None:
        super().__init__(bracketed_paste_mode=True)
        self.set_terminal_properties(colors=_colours())

    def start(self, *arguments: Any, **options: Any) -> Any:
        """Begin to draw; Ctrl-S would stop the terminal until Ctrl-Q, as long as it steers the flow of text."""
        started = super().start(*arguments, **options)
        attributes = termios.tcgetattr(sys.stdin)
        attributes[0] &= ~termios.IXON
        termios.tcsetattr(sys.stdin, termios.TCSANOW, attributes)
        return started

    def get_cols_rows(self) -> tuple[int, int]:
        """The terminal's size; some know none and say 0."""
        columns, rows = super().get_cols_rows()
        if columns <= 0 or rows <= 0:
            columns, rows = shutil.get_terminal_size()
            self.maxrow = rows
        return columns, rows


def run(app: App) -> int:
    """Show the program's views until the last is closed; the answer is the signal that ended it, if one did.

    Whatever happens, all is saved.
    """
    urwid.set_encoding("utf-8")
    return _Run(app).run()


class _Run:
    def __init__(self, app: App) -> None:
        self._app = app
        self._signalled = 0
        self._status: tuple[str, str, bool] = ("", "", False)
        self._surface = _Surface(app)
        self._loop = urwid.MainLoop(self._surface, palette(), Screen(), handle_mouse=True)
        app.redraw = self._loop.screen.clear

    def run(self) -> int:
        self._loop.set_alarm_in(_TICK, self._tick)
        ending = self._loop.watch_pipe(self._end)
        before = {number: signal.signal(number, self._handler(ending)) for number in _ENDING}
        try:
            self._loop.run()
        except OSError:
            if not self._signalled:  # a terminal that is gone cannot be drawn on; that is no error
                raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self._app.close()
        return self._signalled

    def _handler(self, pipe: int) -> Callable[[int, FrameType | None], None]:
        def handle(number: int, frame: FrameType | None) -> None:
            self._signalled = number
            with contextlib.suppress(OSError):
                os.write(pipe, b".")

        return handle

    def _end(self, content: bytes) -> bool:
        self._app.close()
        raise urwid.ExitMainLoop

    def _tick(self, loop: urwid.MainLoop, data: Any) -> None:
        try:
            status = self._app.tick()
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
        self._show()
        return None

    def mouse_event(self, size: Any, event: str, button: int, col: int, row: int, focus: bool) -> bool | None:
        """Take a click."""
        self._app.mouse(event, button, col, row)
        self._show()
        return True

    def _show(self) -> None:
        if self._app.is_over:
            raise urwid.ExitMainLoop
        self._invalidate()


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
