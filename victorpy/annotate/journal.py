"""A journal of everything that happens to a page: what a killed program is brought back from.

``PAGE.anno.journal`` has a line of JSON for everything that happened, appended as it happens: a header with the page's
digest and the labels that all began with, then changes, undos, redos and moves. A session that is given them again
stands where it stood, with its history. A last line that was not written to its end is no line.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from victorpy.anno import UNLABELLED
from victorpy.annotate.events import (
    Action,
    Change,
    Changed,
    Event,
    Moved,
    Prediction,
    Redone,
    Refreshed,
    Run,
    Scope,
    Undone,
)
from victorpy.annotate.session import Session
from victorpy.document import Document, Label
from victorpy.files import sync_directory
from victorpy.same_blocks import digest_of

FORMAT = 1
MOST_MOVES = 5_000
"""A journal with more moves of the cursor than this is written anew when it is opened, without them."""
_UNKNOWN = "?"
"""The model of a journal that does not name it."""

_LABELS: dict[str, Label | None] = {UNLABELLED: None, **{label[0]: label for label in Label}}
_WRITTEN = {label: letter for letter, label in _LABELS.items()}


def digest_of_file(content: bytes) -> str:
    """Tell versions of a file apart."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


# Events as JSON


def _write_labels(labels: Iterable[Label | None]) -> str:
    return "".join(map(_WRITTEN.__getitem__, labels))


def _read_labels(letters: str) -> tuple[Label | None, ...]:
    return tuple(_LABELS[letter] for letter in letters)


def _write_prediction(prediction: Prediction) -> list[Any]:
    return [_write_labels(prediction.labels), list(prediction.probabilities), prediction.model]


def _read_prediction(written: Sequence[Any]) -> Prediction:
    letters, probabilities, *model = written
    return Prediction(_read_labels(letters), tuple(probabilities), str(model[0]) if model else _UNKNOWN)


def write_event(event: Event) -> list[Any]:
    """Write what happened as plain data."""
    match event:
        case Moved(cursor):
            return ["m", cursor]
        case Changed(change):
            runs = [[start, stop, _WRITTEN[old], _WRITTEN[new]] for start, stop, old, new in change.runs]
            return ["c", runs, change.before, change.after, list(change.action) if change.action else None]
        case Undone():
            return ["u"]
        case Redone():
            return ["r"]
        case Refreshed(prediction):
            return ["p", *_write_prediction(prediction)]


def read_event(written: Sequence[Any]) -> Event:
    """Read what happened from plain data; anything else is a ValueError, KeyError or TypeError."""
    kind, *rest = written
    if kind == "m":
        return Moved(int(rest[0]))
    if kind == "c":
        runs, before, after, action = rest
        read = tuple(Run(start, stop, _LABELS[old], _LABELS[new]) for start, stop, old, new in runs)
        return Changed(Change(read, before, after, _read_action(*action) if action else None))
    if kind == "p":
        return Refreshed(_read_prediction(rest))
    if kind not in {"u", "r"}:
        raise ValueError(f"nothing is called {kind!r}")
    return Undone() if kind == "u" else Redone()


def _read_action(scope: str, what: str, size: int) -> Action:
    return Action(Scope(scope), what, size)


@dataclass
class Recorded:
    """What a journal tells."""

    digest: str
    """Of the blocks that it is about."""
    prediction: Prediction
    given: tuple[Label | None, ...]
    events: list[Event] = field(default_factory=list)
    saves: list[str] = field(default_factory=list)
    """The digests that the annotation file may have: of the last that is known to be written, and of those since."""
    was_written: bool = False
    """Whether an annotation file is known to have been written."""
    page: str = ""
    """The digest of the page's own file, if there was one."""
    good: int = 0
    """How many bytes of the file are whole lines."""
    damage: str = ""
    """What is wrong with the file, beyond a last line that was not written to its end."""

    def session(self, session: Session) -> Session:
        """Let happen what happened; the session is as it was at the beginning."""
        for event in self.events:
            session.apply(event)
        return session


def read_journal(content: bytes) -> Recorded:
    """Read a journal; a ValueError says that it is none."""
    lines = content.split(b"\n")[:-1]  # behind the last line end stands nothing, or what was not finished
    if not lines:
        raise ValueError("it has no header")
    try:
        header = json.loads(lines[0])
        if header["victor-journal"] != FORMAT:
            raise ValueError(f"its format is {header['victor-journal']}, and this program knows {FORMAT}")
        recorded = Recorded(header["digest"], _read_prediction(header["predicted"]), _read_labels(header["given"]))
        recorded.page = str(header.get("page", ""))
        if not len(recorded.given) == len(recorded.prediction.labels) == len(recorded.prediction.probabilities):
            raise ValueError("its parts do not belong together")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"its header cannot be read: {error}") from error
    recorded.good = len(lines[0]) + 1
    for number, line in enumerate(lines[1:], 2):
        try:
            written = json.loads(line)
            if written[0] == "s":
                recorded.saves.append(str(written[1]))
            elif written[0] == "w":
                recorded.saves = recorded.saves[recorded.saves.index(written[1]) :]
                recorded.was_written = True
            else:
                event = read_event(written)
                if not _fits(event, len(recorded.given)):
                    raise ValueError("it is of blocks that are not there")
                recorded.events.append(event)
        except (ValueError, KeyError, TypeError, IndexError):
            recorded.damage = f"line {number} of {len(lines)} cannot be read"
            break
        recorded.good += len(line) + 1
    return recorded


def _fits(event: Event, count: int) -> bool:
    """Whether an event is of a page with so many blocks."""
    match event:
        case Changed(change):
            return all(0 <= run.start < run.stop <= count for run in change.runs) and 0 <= change.after < count
        case Refreshed(prediction):
            return len(prediction.labels) == len(prediction.probabilities) == count
    return True


def _write_line(written: Any) -> bytes:
    return json.dumps(written, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


class Journal:
    """Appends to a journal; the file begins with the first thing that is worth a file. Threads may share it."""

    def __init__(self, path: Path, header: Callable[[], bytes], good: int | None = None) -> None:
        self.path = path
        self._header = header
        """Makes the first line, when something is written."""
        self._good = good
        """How much of a file that is there counts; None where there is none."""
        self._file = -1
        self._pending = b""
        self._waiting = b""
        """The last move, as long as nothing but moves has happened."""
        self._is_new = False
        self._guard = threading.Lock()

    @classmethod
    def begin(cls, path: Path, session: Session, page: str = "") -> Self:
        """A journal that begins with a session as it stands; a digest says of which page's file."""
        document, predicted, given = session.document, session.predicted, tuple(session.given)
        return cls(path, lambda: journal_header(document, predicted, given, page))

    @classmethod
    def resume(cls, path: Path, recorded: Recorded) -> Self:
        """Go on with a journal that is there."""
        return cls(path, bytes, recorded.good)

    def append(self, written: list[Any], begins: bool = True) -> None:
        """Append a line; where the disk refuses, it is kept and tried again with the next.

        A line that begins no file waits for one that does.
        """
        with self._guard:
            if not begins and self._is_unbegun:
                self._waiting = _write_line(written)
                return
            self._pending += self._waiting + _write_line(written)
            self._waiting = b""
            self._write_pending()

    @property
    def _is_unbegun(self) -> bool:
        return self._good is None and not self._pending

    def retry(self) -> None:
        """Try again to write what the disk refused."""
        with self._guard:
            if self._pending:
                self._write_pending()

    def sync(self) -> None:
        """Wait until all is on the disk."""
        if self._file >= 0:
            os.fsync(self._file)
            if self._is_new:  # a new file is only found again if its directory knows of it
                sync_directory(self.path.parent)
                self._is_new = False

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write_pending(self) -> None:
        if self._file < 0:
            self._open()
        place = os.lseek(self._file, 0, os.SEEK_END)
        try:
            left = memoryview(self._pending)
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            with contextlib.suppress(OSError):  # a line is there as a whole or not at all
                os.ftruncate(self._file, place)
            raise
        self._pending = b""

    def _open(self) -> None:
        fresh = self._good is None
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if fresh else 0), 0o666)
        if fresh:
            self._is_new = True
            self._pending = self._header() + self._pending
        else:
            os.ftruncate(self._file, self._good or 0)
        self._good = 0


def journal_header(document: Document, predicted: Prediction, given: Sequence[Label | None], page: str = "") -> bytes:
    """The first line of a journal: the page, and the labels that it begins with."""
    return _write_line(
        {
            "victor-journal": FORMAT,
            "digest": digest_of(document),
            "predicted": _write_prediction(predicted),
            "given": _write_labels(given),
            "page": page,
        }
    )


def compact(recorded: Recorded, session: Session) -> bytes:
    """Write a journal that tells the same, without the ways in between."""
    done, undone = session.history
    written = [write_event(Changed(change)) for change in (*done, *reversed(undone))]
    written += [write_event(Undone())] * len(undone)
    written += [["s", digest] for digest in recorded.saves]
    written += [["w", recorded.saves[0]]] if recorded.was_written else []
    written.append(write_event(Moved(session.cursor)))
    header = journal_header(session.document, session.predicted, recorded.given, recorded.page)
    return header + b"".join(map(_write_line, written))
