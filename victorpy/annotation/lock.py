"""A lock that lets one program at a time edit a page, and tells others who holds it."""

from __future__ import annotations

import fcntl
import getpass
import os
import socket
import time
from pathlib import Path

from victorpy.errors import DataError


class Lock:
    """A lock file held while a page is open. The system releases it however the program ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = -1

    def take(self) -> None:
        """Take the lock, or raise an error that names its holder."""
        while self._file < 0:
            try:
                file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                place = f"{self.path.parent}: nothing can be written there ({error.strerror})"
                raise DataError(f"{place}; `read_only` shows the page without keeping anything") from error
            if not _try_lock(file, fcntl.LOCK_EX, tries=3):  # `is_locked` holds it for a moment
                holder = os.read(file, 1000).decode("utf-8", "replace").strip() or "somebody else"
                os.close(file)
                name = self.path.name.removesuffix(".lock")
                raise DataError(f"{name} is open elsewhere, by {holder}; `read_only` shows it")
            if self.path.exists() and os.path.samestat(os.fstat(file), self.path.stat()):
                self._file = file
            else:  # the previous holder removed the file after we opened it
                os.close(file)
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{describe_holder()}\n".encode(), 0)

    def release(self) -> None:
        if self._file >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


def is_locked(path: Path) -> bool:
    """Whether a running program holds a lock; the lock of a killed program counts as free."""
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _try_lock(file, fcntl.LOCK_SH)
    finally:
        os.close(file)


def _try_lock(file: int, kind: int, tries: int = 1) -> bool:
    for attempt in range(tries):
        if attempt:
            time.sleep(0.02)
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            pass
    return False


def describe_holder() -> str:
    """Describe this process for users who find the page locked."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = f"user {os.getuid()}"
    return f"{user} on {socket.gethostname()} (process {os.getpid()}, since {time.strftime('%H:%M')})"
