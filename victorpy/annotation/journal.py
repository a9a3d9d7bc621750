"""The journal of a page: every event is appended as it happens, so that nothing is lost if the program is killed.

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

from victorpy.annotation import events
from victorpy.annotation.events import Change, Event, Moved, Prediction, Refreshed
from victorpy.annotation.session import Session
from victorpy.base.files import sync_directory
from victorpy.page.same_blocks import digest_of

FORMAT = 1


def digest_of_file(content: bytes) -> str:
    """Return a digest that tells versions of a file apart."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


class Header(Struct, frozen=True, rename={"format": "victor-journal"}):
    """The first line of a journal."""

    format: int
    digest: str
    """Digest of the page's blocks."""
    predicted: Prediction
    given: str
    """The labels that people had given at the start, one letter per block."""
    page: str = ""
    """Digest of the HTML file; empty if there was none."""


class Saving(Struct, frozen=True, array_like=True, tag="s"):
    """An annotation file with this digest is about to be written."""

    digest: str


class Saved(Struct, frozen=True, array_like=True, tag="w"):
    """The annotation file with this digest has been written."""

    digest: str


Record = Event | Saving | Saved


def write_line(record: Record | Header) -> bytes:
    """Write a line of the journal. `json` does it, since paths in names of models may not be valid Unicode."""
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

    def compact(self, session: Session) -> bytes:
        """Write a journal that leads to the session's state and history, without the cursor moves in between."""
        header = replace(self.header, predicted=session.predicted)
        undone = session.undone
        records: list[Record] = [*session.done, *reversed(undone), *[events.Undone()] * len(undone)]
        records += [Saving(digest) for digest in self.saves]
        records += [Saved(self.saves[0])] if self.was_saved else []
        records.append(Moved(session.cursor))
        return b"".join(map(write_line, [header, *records]))


def read_journal(content: bytes) -> Recording:
    """Read a journal up to the first damaged line. Raises ValueError if the header cannot be read."""
    lines = content.split(b"\n")[:-1]  # the last part is empty or an incomplete line
    if not lines:
        raise ValueError("it has no header")
    try:
        fields = json.loads(lines[0])
        if fields["victor-journal"] != FORMAT:
            raise ValueError(f"its format is {fields['victor-journal']}, but this program reads format {FORMAT}")
        header = convert(fields, Header)
        count = len(events.read_labels(header.given))
        if not count == len(header.predicted.labels) == len(header.predicted.probabilities):
            raise ValueError("its parts do not match")
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
            fits = len(letters) == len(probabilities) == count and set(letters) <= events.LABEL_OF.keys()
    if not fits:
        raise ValueError("it does not fit the blocks of the page")


class Journal:
    """Appends to a journal. Moving around does not create a file, only other events do. Threads may share it."""

    def __init__(self, path: Path, header: bytes = b"", length: int = 0) -> None:
        self.path = path
        self._length = length
        """Number of valid bytes of the file. What follows them is cut off."""
        self._header = header
        """The header, as long as nothing but moves of the cursor has happened."""
        self._last_move = b""
        self._pending = b""
        """Lines that the disk refused."""
        self._file = -1
        self._is_new = length == 0
        self._guard = threading.Lock()

    @classmethod
    def begin(cls, path: Path, session: Session, page: str = "") -> Self:
        """Start a journal with the current state of a session; `page` is the digest of the HTML file."""
        given = events.write_labels(session.given)
        return cls(path, write_line(Header(FORMAT, digest_of(session.document), session.predicted, given, page)))

    def append(self, record: Record) -> None:
        """Append a line. If the disk refuses it, it is written together with the next one."""
        line = write_line(record)
        with self._guard:
            if self._header and isinstance(record, Moved):
                self._last_move = line
                return
            self._pending += self._header + self._last_move + line
            self._header = self._last_move = b""
            self._write_pending()

    def retry(self) -> None:
        """Try again to write what the disk refused."""
        with self._guard:
            if self._pending:
                self._write_pending()

    def sync(self) -> None:
        """Wait until everything written so far is on the disk."""
        if self._file >= 0:
            os.fsync(self._file)
            if self._is_new:
                sync_directory(self.path.parent)  # makes the name of a new file durable
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
