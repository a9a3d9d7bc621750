"""A terminal without a window: runs a program in a pty and keeps its screen.

Tests, measurements and pictures of the annotation tool use it. pyte interprets what the program writes.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pyte

KEYS = {
    "up": "\x1b[A",
    "down": "\x1b[B",
    "page up": "\x1b[5~",
    "page down": "\x1b[6~",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "shift up": "\x1b[1;2A",
    "shift down": "\x1b[1;2B",
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "shift tab": "\x1b[Z",
    "space": " ",
    "backspace": "\x7f",
    "ctrl r": "\x12",
}


class Terminal:
    """A program on a screen of its own."""

    def __init__(
        self,
        command: Sequence[str],
        columns: int = 100,
        lines: int = 30,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
    ) -> None:
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self.written = b""  # everything that the program has written
        self.status: int | None = None  # the exit code, or the negative number of the signal that ended the program
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            self._become(command, environment, directory)
        self._set_size(columns, lines)

    def _become(
        self, command: Sequence[str], environment: Mapping[str, str] | None, directory: Path | None
    ) -> None:  # pragma: no cover
        try:
            if directory is not None:
                os.chdir(directory)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # it may be ignored in this process
            time.sleep(0.02)  # the size is set meanwhile
            os.execvpe(command[0], list(command), dict(os.environ if environment is None else environment))
        finally:
            os._exit(127)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(signal.SIGKILL)

    # What is seen

    @property
    def lines(self) -> list[str]:
        """The rows of the screen."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        """The whole screen."""
        return "\n".join(self.lines)

    def read(self, seconds: float = 0.05) -> bool:
        """Read what the program writes within some time. Return whether it wrote anything."""
        ready, _, _ = select.select([self._file], [], [], seconds)
        if not ready:
            return False
        try:
            content = os.read(self._file, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # the program has ended
                raise
            content = b""
        if not content:
            time.sleep(0.01)
            return False
        self.written += content
        self._stream.feed(content)
        return True

    def wait_for(self, wanted: str | Callable[[Terminal], bool], seconds: float = 60) -> None:
        """Wait until a text is on the screen, or until a condition holds."""
        is_there = (lambda terminal: wanted in terminal.text) if isinstance(wanted, str) else wanted
        stop = time.monotonic() + seconds
        while not is_there(self):
            if time.monotonic() > stop:
                raise TimeoutError(f"not on the screen after {seconds} s: {wanted}\n{self.text}")
            self.read()
        self.settle(0.02)  # the rest of what is being drawn

    def settle(self, seconds: float = 0.25) -> None:
        """Wait until the program has written nothing for some time."""
        while self.read(seconds):
            pass

    # What is done

    def type(self, *keys: str, until: str | Callable[[Terminal], bool] | None = None) -> None:
        """Press keys, named as in `KEYS` or given as text. Wait for the effect if `until` says what it is."""
        for key in keys:
            os.write(self._file, KEYS.get(key, key).encode())
        if until is not None:
            self.wait_for(until)

    def click(self, column: int, row: int, button: int = 0) -> None:
        """Click on the screen. Columns and rows start at 0; buttons 64 and 65 are the wheel."""
        self.type(f"\x1b[<{button};{column + 1};{row + 1}M", f"\x1b[<{button};{column + 1};{row + 1}m")

    def resize(self, columns: int, lines: int) -> None:
        """Make the window larger or smaller."""
        self.screen.resize(lines, columns)
        self._set_size(columns, lines)

    def _set_size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))

    def hang_up(self) -> None:
        """Close the window, with the program in it."""
        os.close(self._file)
        self._file = os.open(os.devnull, os.O_RDWR)  # nothing comes from there any more

    # How it ends

    def end(self, number: int | None = None, seconds: float = 60) -> int:
        """Send a signal if one is given, wait for the end, and return the exit status."""
        if self.status is not None:
            return self.status
        if number is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)
        stop = time.monotonic() + seconds
        while True:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > stop:
                os.kill(self.pid, signal.SIGKILL)
                self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
                os.close(self._file)
                raise TimeoutError(f"it did not end within {seconds} s\n{self.text}")
            self.read(0.01)
        with contextlib.suppress(OSError):
            while self.read(0):
                pass
        os.close(self._file)
        self.status = os.waitstatus_to_exitcode(status)
        return self.status
