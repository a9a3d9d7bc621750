"""The terminal: urwid passes keys and clicks to the application, and draws its rows."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import termios
from collections.abc import Hashable
from types import FrameType
from typing import Any, Literal

import urwid

from victorpy.annotation.tui.app import App
from victorpy.annotation.tui.text import Row, cut_row, palette

_TICK = 0.1
_ENDING = (signal.SIGTERM, signal.SIGHUP)


def run(app: App) -> int:
    """Show the application until its last view is closed. Return the signal that ended it, or 0.

    Everything is saved, however the program ends.
    """
    urwid.set_encoding("utf-8")
    surface = _Surface(app)
    loop = urwid.MainLoop(surface, palette(), _Screen(), handle_mouse=True)
    app.redraw = loop.screen.clear
    received = 0
    status = ("", "", False)

    def tick(loop: urwid.MainLoop, data: Any) -> None:
        nonlocal status
        try:
            new_status = app.tick()
            if new_status != status:
                status = new_status
                surface.redraw()
        finally:
            loop.set_alarm_in(_TICK, tick)

    def end(content: bytes) -> bool:
        app.close()
        raise urwid.ExitMainLoop

    def handle_signal(number: int, frame: FrameType | None) -> None:
        nonlocal received
        received = number
        with contextlib.suppress(OSError):
            os.write(pipe, b".")  # wakes the loop, which calls `end`

    loop.set_alarm_in(_TICK, tick)
    pipe = loop.watch_pipe(end)
    previous_handlers = {number: signal.signal(number, handle_signal) for number in _ENDING}
    try:
        loop.run()
    except OSError:
        if not received:  # drawing on a closed terminal fails, as expected
            raise
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)
        app.close()
    return received


class _Screen(urwid.display.raw.Screen):
    """A terminal without flow control, with a valid size."""

    def __init__(self) -> None:
        super().__init__(bracketed_paste_mode=True)
        has_256 = "256color" in os.environ.get("TERM", "") or os.environ.get("COLORTERM") in {"truecolor", "24bit"}
        colours: Literal[1, 16, 256] = 1 if os.environ.get("NO_COLOR") else 256 if has_256 else 16
        self.set_terminal_properties(colors=colours)

    def start(self, *arguments: Any, **options: Any) -> Any:
        """Turn flow control off, because Ctrl-S would stop the terminal until Ctrl-Q."""
        started = super().start(*arguments, **options)
        attributes = termios.tcgetattr(sys.stdin)
        attributes[0] &= ~termios.IXON
        termios.tcsetattr(sys.stdin, termios.TCSANOW, attributes)
        return started

    def get_cols_rows(self) -> tuple[int, int]:
        """Return the size of the terminal, or a default if the terminal reports 0."""
        columns, rows = super().get_cols_rows()
        if columns <= 0 or rows <= 0:
            columns, rows = shutil.get_terminal_size()
            self.maxrow = rows
        return columns, rows


class _Surface(urwid.Widget):
    """The whole screen as one widget."""

    _sizing = frozenset([urwid.BOX])
    _selectable = True
    ignore_focus = True

    def __init__(self, app: App) -> None:
        super().__init__()
        self._app = app

    def redraw(self) -> None:
        """Draw the screen again, or end the program if the last view was closed."""
        if not self._app.views:
            raise urwid.ExitMainLoop
        self._invalidate()

    def render(self, size: Any, focus: bool = False) -> urwid.Canvas:
        rows, cursor = self._app.draw(*size)
        return canvas_of(rows, size[0], cursor)

    def keypress(self, size: Any, key: str) -> str | None:
        self._app.key(key)
        self.redraw()
        return None

    def mouse_event(self, size: Any, event: str, button: int, col: int, row: int, focus: bool) -> bool | None:
        self._app.mouse(event, button, col, row)
        self.redraw()
        return True


def canvas_of(rows: list[Row], width: int, cursor: tuple[int, int] | None = None) -> urwid.TextCanvas:
    """Convert rows to a canvas. Rows that are too wide are cut."""
    texts: list[bytes] = []
    styles: list[list[tuple[Hashable, int]]] = []
    for row in rows:
        parts = [(style, part.encode("utf-8", "replace")) for style, part in cut_row(row, width)]
        texts.append(b"".join(part for _, part in parts))
        styles.append([(style, len(part)) for style, part in parts])
    return urwid.TextCanvas(texts, styles, cursor=cursor, maxcol=width)
