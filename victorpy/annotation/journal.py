"""The journal of a page. Every event is appended at once, so nothing is lost if the program is killed.

``PAGE.anno.journal`` has one JSON value per line: a header with the page's digest and the labels at the start, then
events. Applying the events again restores the state and history of a session. A last line without a line break is
incomplete and is ignored.
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

from victorpy.annotation.session import Event, Moved, Prediction, Session, Undone, fits, read_labels, write_labels
from victorpy.base.files import sync_directory
from victorpy.page.same_blocks import digest_of

FORMAT = 1


def digest_of_file(content: bytes) -> str:
    """Return a digest that identifies a version of a file."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


class Header(Struct, frozen=True, rename={"format": "victor-journal"}):
    """The first line of a journal."""

    format: int
    digest: str  # digest of the page's blocks
    predicted: Prediction
    given: str  # labels that a person had already given at the start, one letter per block
    page: str = ""  # digest of the HTML file; empty if there was none


class Saving(Struct, frozen=True, array_like=True, tag="s"):
    """An annotation file with this digest is about to be written."""

    digest: str


class Saved(Struct, frozen=True, array_like=True, tag="w"):
    """The annotation file with this digest has been written."""

    digest: str


Record = Event | Saving | Saved


def write_line(record: Record | Header) -> bytes:
    """Encode a record as a line. Uses `json`, since a model's name may be a path that is not valid Unicode."""
    return json.dumps(to_builtins(record), separators=(",", ":")).encode() + b"\n"


@dataclass
class Recording:
    """The content of a journal."""

    header: Header
    events: list[Event] = field(default_factory=list)
    saves: list[str] = field(default_factory=list)
    """Possible digests of the annotation file: the last one that was written for certain, and later attempts."""
    was_saved: bool = False  # whether an annotation file is known to have been written
    length: int = 0  # number of bytes in readable lines
    damage: str = ""  # description of the first damaged line, or an empty string

    def compact(self, session: Session) -> bytes:
        """Return a journal that restores the same state and history, but without intermediate cursor moves."""
        undone = session.undone
        records: list[Record] = [*session.done, *reversed(undone), *[Undone()] * len(undone)]
        records += [Saving(digest) for digest in self.saves]
        records += [Saved(self.saves[0])] if self.was_saved else []
        header = replace(self.header, predicted=session.predicted)
        return b"".join(map(write_line, [header, *records, Moved(session.cursor)]))


def read_journal(content: bytes) -> Recording:
    """Read a journal up to the first damaged line. Raises ValueError if the header cannot be read."""
    lines = content.split(b"\n")[:-1]  # the last item is empty or an incomplete line
    if not lines:
        raise ValueError("it has no header")
    try:
        fields = json.loads(lines[0])
        if fields["victor-journal"] != FORMAT:
            raise ValueError(f"its format is {fields['victor-journal']}, but this program reads format {FORMAT}")
        header = convert(fields, Header)
        count = len(read_labels(header.given))
        if not count == len(header.predicted.labels) == len(header.predicted.probabilities):
            raise ValueError("its labels and probabilities differ in number")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
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
                case _ if fits(record, count):
                    recording.events.append(record)
                case _:
                    raise ValueError("the event does not fit the page")
        except (ValueError, RecursionError):
            recording.damage = f"line {number} of {len(lines)} cannot be read"
            break
        recording.length += len(line) + 1
    return recording


class Journal:
    """A journal that is open for appending.

    The file is created at the first change, not by cursor moves. Thread-safe.
    """

    def __init__(self, path: Path, length: int, header: bytes = b"") -> None:
        self.path = path
        self._length = length
        """Number of valid bytes in the file. Anything after them is cut off."""
        self._pending = header
        """Lines that are not in the file yet: the header before the first change, or lines after a failed write."""
        self._last_move = b""
        self._is_started = length > 0  # whether there has been an event other than a cursor move
        self._is_name_durable = length > 0
        self._file = -1
        self._guard = threading.RLock()

    @classmethod
    def begin(cls, path: Path, session: Session, page: str = "") -> Self:
        """Start a journal with the current state of a session; `page` is the digest of the HTML file."""
        header = Header(FORMAT, digest_of(session.document), session.predicted, write_labels(session.given), page)
        return cls(path, 0, write_line(header))

    def append(self, record: Record) -> None:
        """Append a line. If writing fails, the line is written together with the next one."""
        line = write_line(record)
        with self._guard:
            if isinstance(record, Moved) and not self._is_started:
                self._last_move = line
                return
            self._is_started = True
            self._pending += self._last_move + line
            self._last_move = b""
            self.flush()

    def flush(self) -> None:
        with self._guard:
            if not self._is_started or not self._pending:
                return
            if self._file < 0:
                flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW  # never follow a symbolic link
                self._file = os.open(self.path, flags, 0o666)
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

    def sync(self) -> None:
        """Wait until everything is on the disk."""
        self.flush()
        if self._file >= 0:
            os.fsync(self._file)
            if not self._is_name_durable:
                sync_directory(self.path.parent)
                self._is_name_durable = True

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
