"""Files that are whole at every moment, whatever happens to the program that writes them."""

from __future__ import annotations

import os
import shutil
from itertools import count
from pathlib import Path


def write_atomically(path: Path, content: bytes, durable: bool = False, alone: bool = False) -> None:
    """Put a file in the place of another in one step: it is the old one or the new one, whatever happens.

    With `durable` it is on the disk when this returns, so that a machine that loses power has it too. With `alone`
    nobody else ever writes this file: its temporary name is always the same then, so that what a killed program left
    of it is written over by the next.
    """
    temporary = path.with_name(f".{path.name}.tmp" if alone else f".{path.name}.{os.getpid()}.tmp")
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if mode is not None:
                os.chmod(temporary, mode)  # noqa: PTH101  (not every system has it for open files)
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Wait until the disk knows which files a directory has."""
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def remove_leftovers(path: Path) -> None:
    """Remove what a program that was killed while it wrote the file left of it."""
    for leftover in path.parent.glob(f".{_literal(path.name)}.*.tmp"):
        leftover.unlink(missing_ok=True)


def _literal(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def set_aside(path: Path) -> Path:
    """Give a file another name that nothing has yet: ``NAME.old-1``."""
    return path.rename(_free_name(path, "old"))


def keep_copy(path: Path, mark: str) -> Path:
    """Give what a file holds now a second name that nothing has yet: ``NAME.MARK-1``."""
    place = _free_name(path, mark)
    try:
        place.hardlink_to(path)
    except OSError:  # not every disk has links
        shutil.copy2(path, place)
    return place


def _free_name(path: Path, mark: str) -> Path:
    names = (path.with_name(f"{path.name}.{mark}-{number}") for number in count(1))
    return next(place for place in names if not place.exists())
