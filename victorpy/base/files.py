"""Read files within limits, and write them atomically, so that a killed program never leaves an incomplete file."""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from itertools import count
from pathlib import Path
from typing import Literal, TextIO

_LONGEST_STEM = 220  # bytes


def check_regular(status: os.stat_result, path: Path) -> None:
    """Raise OSError for anything but a regular file, because reading a pipe or a device may never end."""
    if not stat.S_ISREG(status.st_mode):
        kinds = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket", stat.S_IFDIR: "directory"}
        kind = kinds.get(stat.S_IFMT(status.st_mode), "device")
        advice = "; save its content to a file first" if kind == "pipe" else ""
        raise OSError(errno.EINVAL, f"this is a {kind}, not a file{advice}", str(path))


def open_regular(path: Path, most_bytes: int = sys.maxsize) -> BufferedReader:
    """Open a file for reading. Raises OSError if it is not a regular file, or if it is too large."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:  # the name contains a NUL character
        raise OSError(errno.EINVAL, str(error), str(path)) from error
    try:
        status = os.fstat(descriptor)
        check_regular(status, path)
        if status.st_size > most_bytes:
            raise OSError(errno.EINVAL, f"larger than {most_bytes:,} bytes", str(path))
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path) -> bytes:
    """Read a file of any size. Raises OSError if it is not a regular file."""
    with open_regular(path) as file:
        return file.read()


def read_bounded(path: Path, most_bytes: int) -> bytes:
    """Read a file. Raises OSError if it is not a regular file, or if it is too large."""
    with open_regular(path, most_bytes) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:  # the file has grown, or the file system does not report its size
        raise OSError(errno.EINVAL, f"larger than {most_bytes:,} bytes", str(path))
    return content


def open_output(path: Path, note: Callable[[str], None], mode: Literal["w", "a"] = "w") -> TextIO:
    """Open a file for writing, and create its directory. Calls `note` if a pipe has no reader to write to yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_fifo():
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            note(f"{path} is a pipe; waiting for a program that reads it")
        else:
            os.set_blocking(descriptor, True)
            return os.fdopen(descriptor, mode, encoding="utf-8", newline="")
    return path.open(mode, encoding="utf-8", newline="")


def write_atomically(path: Path, content: bytes, durable: bool = False, alone: bool = False) -> None:
    """Replace a file in one step, so that readers see either the old or the new content.

    With `durable`, the file survives a power failure as soon as this function returns. Pass `alone` if only one program
    writes the file. The temporary file then has a fixed name, so that the next run overwrites what a killed run has
    left.
    """
    temporary = path.with_name(f".{_stem(path)}.tmp") if alone else temporary_of(path)
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    with errors_of(path, temporary):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if mode is not None:
                os.chmod(temporary, mode)  # noqa: PTH101  (fchmod does not exist everywhere)
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_directory(path.parent)


@contextmanager
def errors_of(path: Path | None, temporary: Path | None) -> Iterator[None]:
    """Name a file in an OSError instead of its temporary file, which users do not know."""
    try:
        yield
    except OSError as error:
        if str(error.filename) == str(temporary):
            error.filename = str(path)
        raise


def temporary_of(path: Path) -> Path:
    """Return the temporary file of this process for a file that will be replaced."""
    return path.with_name(f".{_stem(path)}.{os.getpid()}.tmp")


def _stem(path: Path) -> str:
    """Return the start of the names of a file's temporary files, which have at most 255 bytes."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= _LONGEST_STEM else hashlib.sha256(name).hexdigest()


def sync_directory(path: Path) -> None:
    """Flush a directory entry to the disk."""
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def remove_leftovers(path: Path) -> None:
    """Delete temporary files of killed programs that were writing this file."""
    for leftover in path.parent.glob(f".{glob.escape(_stem(path))}.*.tmp"):
        leftover.unlink(missing_ok=True)


def set_aside(path: Path) -> Path:
    """Rename a file to the first free name of ``NAME.old-1``, ``NAME.old-2``, ..."""
    return path.rename(_free_name(path, "old"))


def keep_copy(path: Path, mark: str) -> Path:
    """Copy a file to the first free name of ``NAME.MARK-1``, ``NAME.MARK-2``, ..."""
    place = _free_name(path, mark)
    try:
        place.hardlink_to(path)
    except OSError:  # some file systems have no hard links
        import shutil

        shutil.copy2(path, place)
    return place


def _free_name(path: Path, mark: str) -> Path:
    names = (path.with_name(f"{path.name}.{mark}-{number}") for number in count(1))
    return next(place for place in names if not place.exists())
