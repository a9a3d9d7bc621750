"""The journal of a page: every event is appended as it happens, so that a killed program can be brought back.

``PAGE.anno.journal`` has one JSON value per line: a header with the page's digest and the labels at the start, then
events. A session that applies them again ends up in the same state, with its history. A last line without a line end
was not written completely and is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from victorpy.annotation.events import (
    LABEL_OF,
    Change,
    Event,
    Moved,
    Refreshed,
    Undone,
    WrittenPrediction,
    read_labels,
    write_labels,
)
from victorpy.annotation.session import Session
from victorpy.base.files import sync_directory
from victorpy.page.same_blocks import digest_of

FORMAT = 1
MOST_MOVES = 5_000
"""A journal with more cursor moves than this is compacted when it is opened."""


def digest_of_file(content: bytes) -> str:
    """Return a digest that tells versions of a file apart."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


class Header(Struct, frozen=True, rename={"format": "victor-journal"}):
    """The first line of a journal."""

    format: int
    digest: str
    """Digest of the page's blocks."""
    predicted: WrittenPrediction
    given: str
    """The labels that people had given at the start, one letter per block."""
    page: str = ""
    """Digest of the page's own file; empty if there was none."""


class Saving(Struct, frozen=True, array_like=True, tag="s"):
    """An annotation file with this digest is about to be written."""

    digest: str


class Saved(Struct, frozen=True, array_like=True, tag="w"):
    """That annotation file has been written."""

    digest: str


Record = Event | Saving | Saved


def write_line(record: Record | Header) -> bytes:
    """Write a line of the journal. `json` writes it, since paths in names of models may not be valid Unicode."""
    return json.dumps(to_builtins(record), separators=(",", ":")).encode() + b"\n"


@dataclass
class Recording:
    """The content of a journal."""

    header: Header
    events: list[Event] = field(default_factory=list)
    saves: list[str] = field(default_factory=list)
    """Digests that the annotation file may have: the last one known to be written, and later attempts."""
    was_saved: bool = False
    """Whether an annotation file is known to have been written."""
    length: int = 0
    """Number of bytes in readable lines."""
    damage: str = ""
    """What is wrong with the file, other than an incomplete last line."""


def read_journal(content: bytes) -> Recording:
    """Read a journal up to the first damaged line. Raises ValueError if the header cannot be read."""
    lines = content.split(b"\n")[:-1]  # the last part is empty or an incomplete line
    if not lines:
        raise ValueError("it has no header")
    try:
        fields = json.loads(lines[0])
        if fields["victor-journal"] != FORMAT:
            raise ValueError(f"its format is {fields['victor-journal']}, and this program knows {FORMAT}")
        header = convert(fields, Header)
        count = len(read_labels(header.given))
        if not count == len(header.predicted.read().labels) == len(header.predicted.probabilities):
            raise ValueError("its parts do not belong together")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"its header cannot be read: {error}") from error
    recording = Recording(header, length=len(lines[0]) + 1)
    for number, line in enumerate(lines[1:], 2):
        try:
            record: Record = convert(json.loads(line), Record)
            match record:
                case Saving(digest):
                    recording.saves.append(digest)
                case Saved(digest):
                    recording.saves = recording.saves[recording.saves.index(digest) :]
                    recording.was_saved = True
                case _:
                    _check_blocks(record, count)
                    recording.events.append(record)
        except ValueError:
            recording.damage = f"line {number} of {len(lines)} cannot be read"
            break
        recording.length += len(line) + 1
    return recording


def _check_blocks(event: Event, count: int) -> None:
    """Raise ValueError if an event does not fit a page with `count` blocks."""
    fits = True
    match event:
        case Change(runs, _, after):
            fits = all(0 <= run.start < run.stop <= count for run in runs) and 0 <= after < count
        case Refreshed(letters, probabilities):
            fits = len(letters) == len(probabilities) == count and set(letters) <= LABEL_OF.keys()
    if not fits:
        raise ValueError("it is of blocks that are not there")


class Journal:
    """Appends to a journal. The file is created with the first event that is worth a file. Threads may share it."""

    def __init__(self, path: Path, header: bytes = b"", length: int = 0) -> None:
        self.path = path
        self._length = length
        """Number of bytes of the file that count; more is cut off."""
        self._pending = header
        """Lines that are not in the file yet."""
        self._is_begun = length > 0
        self._last_move = b""
        """The last move of the cursor, as long as nothing else has happened."""
        self._file = -1
        self._is_new = length == 0
        self._guard = threading.Lock()

    @classmethod
    def begin(cls, path: Path, session: Session, page: str = "") -> Self:
        """Begin a journal with the current state of a session; `page` is the digest of the page's own file."""
        predicted = WrittenPrediction.of(session.predicted)
        header = Header(FORMAT, digest_of(session.document), predicted, write_labels(session.given), page)
        return cls(path, write_line(header))

    def append(self, record: Record) -> None:
        """Append a line. If the disk refuses, the line is kept and written with the next one.

        Moving around does not create a file: a move waits for the first other event.
        """
        line = write_line(record)
        with self._guard:
            if isinstance(record, Moved) and not self._is_begun:
                self._last_move = line
                return
            self._is_begun = True
            self._pending += self._last_move + line
            self._last_move = b""
            self._write_pending()

    def retry(self) -> None:
        """Try again to write what the disk refused."""
        with self._guard:
            if self._pending and self._is_begun:
                self._write_pending()

    def sync(self) -> None:
        """Wait until everything written so far is on the disk."""
        if self._file >= 0:
            os.fsync(self._file)
            if self._is_new:  # the directory must know a new file, too
                sync_directory(self.path.parent)
                self._is_new = False

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write_pending(self) -> None:
        if self._file < 0:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            os.ftruncate(self._file, self._length)
        try:
            left = memoryview(self._pending)
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            with contextlib.suppress(OSError):  # a line is written completely or not at all
                os.ftruncate(self._file, self._length)
            raise
        self._length += len(self._pending)
        self._pending = b""


def compact(recording: Recording, session: Session) -> bytes:
    """Write a journal that leads to the same state and history, without the cursor moves in between."""
    header = replace(recording.header, predicted=WrittenPrediction.of(session.predicted))
    done, undone = session.history
    records: list[Record] = [*done, *reversed(undone), *[Undone()] * len(undone)]
    records += [Saving(digest) for digest in recording.saves]
    records += [Saved(recording.saves[0])] if recording.was_saved else []
    records.append(Moved(session.cursor))
    return b"".join(map(write_line, [header, *records]))
