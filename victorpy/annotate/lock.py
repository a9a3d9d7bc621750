"""One at a time: who has a page open, for others to read."""

from __future__ import annotations

import fcntl
import getpass
import os
import socket
import time
from pathlib import Path

from victorpy.errors import DataError


class Lock:
    """Held while a page is open. The system lets go of it when the program ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = -1

    def take(self) -> None:
        """Take the lock; where somebody else has it, say who."""
        while True:
            file = self._open()
            if not _locked(file, fcntl.LOCK_EX, tries=3):  # whoever only looks has it for a moment
                holder = os.read(file, 1000).decode("utf-8", "replace").strip() or "somebody else"
                os.close(file)
                name = self.path.name.removesuffix(".lock")
                raise DataError(f"{name} is open elsewhere, by {holder}; --read-only shows it")
            if self._is_current(file):
                break
            os.close(file)  # whoever had it has just removed it
        os.ftruncate(file, 0)
        os.pwrite(file, f"{who()}\n".encode(), 0)
        self._file = file

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            place = f"{self.path.parent}: nothing can be written there ({error.strerror})"
            raise DataError(f"{place}; --read-only shows the page without keeping anything") from error

    def release(self) -> None:
        """Let others have the page."""
        if self._file >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1

    def _is_current(self, file: int) -> bool:
        try:
            return os.path.samestat(os.fstat(file), self.path.stat())
        except FileNotFoundError:
            return False


def is_locked(path: Path) -> bool:
    """Whether somebody has a page open now; the lock of a program that was killed is nobody's."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _locked(file, fcntl.LOCK_SH)
    finally:
        os.close(file)


def _locked(file: int, kind: int, tries: int = 1) -> bool:
    for rest in reversed(range(tries)):
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if rest:
                time.sleep(0.02)
    return False


def who() -> str:
    """Say who is at work, for others to read."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = f"user {os.getuid()}"
    return f"{user} on {socket.gethostname()} (process {os.getpid()}, since {time.strftime('%H:%M')})"
