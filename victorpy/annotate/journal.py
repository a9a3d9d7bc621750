"""Never losing work: a journal of everything that happens, a lock, and an annotation file that is always whole.

Beside ``PAGE.anno`` lie two files. ``PAGE.anno.journal`` has a line of JSON for everything that happened, appended as
it happens: a header with the page's digest and the labels that all began with, then changes, undos, redos and moves. A
session that is given them again stands where it stood, with its history. A last line that was not written to its end is
no line. ``PAGE.anno.lock`` is held while the page is open, and says by whom.

The annotation itself is written to a new file, which then takes the old one's place. Its digest goes into the journal
before that, and once more when it is done, so that what is found later can be told from what somebody changed with
another program.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import hashlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from victorpy.anno import UNLABELLED, AnnotationWriter
from victorpy.annotate.session import (
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
    Session,
    Undone,
)
from victorpy.document import Document, Label
from victorpy.errors import DataError

FORMAT = 1
SAVE_AFTER = 0.4
"""Seconds from a change to its being written to the annotation file."""
MOST_MOVES = 5_000
"""A journal with more moves of the cursor than this is written anew when it is opened, without them."""

_LABELS: dict[str, Label | None] = {UNLABELLED: None, **{label[0]: label for label in Label}}
_WRITTEN = {label: letter for letter, label in _LABELS.items()}


def digest_of(document: Document) -> str:
    """Tell pages apart: a short digest of the blocks' texts."""
    digest = hashlib.blake2b(digest_size=12)
    for block in document.blocks:
        digest.update(block.text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def digest_of_file(content: bytes) -> str:
    """Tell versions of a file apart."""
    return hashlib.blake2b(content, digest_size=12).hexdigest()


# Events as JSON


def _write_labels(labels: Iterable[Label | None]) -> str:
    return "".join(map(_WRITTEN.__getitem__, labels))


def _read_labels(letters: str) -> tuple[Label | None, ...]:
    return tuple(_LABELS[letter] for letter in letters)


def _write_prediction(prediction: Prediction) -> list[Any]:
    return [_write_labels(prediction.labels), list(prediction.probabilities)]


def _read_prediction(written: Sequence[Any]) -> Prediction:
    letters, probabilities = written
    return Prediction(_read_labels(letters), tuple(probabilities))


def write_event(event: Event) -> list[Any]:
    """Write what happened as plain data."""
    match event:
        case Moved(cursor):
            return ["m", cursor]
        case Changed(change):
            runs = [[start, stop, _WRITTEN[old], _WRITTEN[new]] for start, stop, old, new in change.runs]
            return ["c", runs, change.before, change.after, list(change.action)]
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
        runs, before, after, (scope, what, size) = rest
        read = tuple(Run(start, stop, _LABELS[old], _LABELS[new]) for start, stop, old, new in runs)
        return Changed(Change(read, before, after, Action(Scope(scope), what, size)))
    if kind == "p":
        return Refreshed(_read_prediction(rest))
    if kind not in {"u", "r"}:
        raise ValueError(f"nothing is called {kind!r}")
    return Undone() if kind == "u" else Redone()


@dataclass
class Recorded:
    """What a journal tells."""

    digest: str
    prediction: Prediction
    given: tuple[Label | None, ...]
    events: list[Event] = field(default_factory=list)
    saves: list[str] = field(default_factory=list)
    """The digests that the annotation file may have: of the last that is known to be written, and of those since."""
    was_written: bool = False
    """Whether an annotation file is known to have been written."""
    is_ahead: bool = False
    """Whether labels changed after the last annotation file was written."""
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
                recorded.is_ahead = False
            elif written[0] == "w":
                recorded.saves = recorded.saves[recorded.saves.index(written[1]) :]
                recorded.was_written = True
            else:
                event = read_event(written)
                if not _fits(event, len(recorded.given)):
                    raise ValueError("it is of blocks that are not there")
                recorded.events.append(event)
                recorded.is_ahead |= not isinstance(event, Moved)
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
    """Appends to a journal; the file begins with the first thing that happens."""

    def __init__(self, path: Path, header: Callable[[], bytes], good: int | None = None) -> None:
        self.path = path
        self._header = header
        """Makes the first line, when something is written."""
        self._good = good
        """How much of a file that is there counts; None where there is none."""
        self._file = -1
        self._pending = b""
        self._is_new = False

    @classmethod
    def begin(cls, path: Path, session: Session) -> Self:
        """A journal that begins with a session as it stands."""
        document, predicted, given = session.document, session.predicted, tuple(session.given)
        return cls(path, lambda: journal_header(document, predicted, given))

    @classmethod
    def resume(cls, path: Path, recorded: Recorded) -> Self:
        """Go on with a journal that is there."""
        return cls(path, bytes, recorded.good)

    def append(self, written: list[Any]) -> None:
        """Append a line; where the disk refuses, it is kept and tried again with the next."""
        self._pending += _write_line(written)
        self._write_pending()

    def retry(self) -> None:
        """Try again to write what the disk refused."""
        if self._pending:
            self._write_pending()

    def sync(self) -> None:
        """Wait until all is on the disk."""
        if self._file >= 0:
            os.fsync(self._file)
            if self._is_new:  # a new file is only found again if its directory knows of it
                _sync_directory(self.path.parent)
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


def journal_header(document: Document, predicted: Prediction, given: Sequence[Label | None]) -> bytes:
    """The first line of a journal: the page, and the labels that it begins with."""
    return _write_line(
        {
            "victor-journal": FORMAT,
            "digest": digest_of(document),
            "predicted": _write_prediction(predicted),
            "given": _write_labels(given),
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
    header = journal_header(session.document, session.predicted, recorded.given)
    return header + b"".join(map(_write_line, written))


# Files


def write_atomically(path: Path, content: bytes) -> None:
    """Put a file in the place of another in one step: it is the old one or the new one, whatever happens."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
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
    """Give a file another name that nothing has yet."""
    place = next(place for place in _other_names(path) if not place.exists())
    path.rename(place)
    return place


def _other_names(path: Path) -> Iterator[Path]:
    number = 1
    while True:
        yield path.with_name(f"{path.name}.old-{number}")
        number += 1


class Lock:
    """Held while a page is open. The system lets go of it when the program ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = -1

    def take(self) -> None:
        """Take the lock; where somebody else has it, say who."""
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.read(file, 1000).decode("utf-8", "replace").strip() or "somebody else"
                os.close(file)
                name = self.path.name.removesuffix(".lock")
                raise DataError(f"{name} is open elsewhere, by {holder}; --read-only shows it") from None
            if self._is_current(file):
                break
            os.close(file)  # whoever had it has just removed it
        os.ftruncate(file, 0)
        os.pwrite(file, f"{who()}\n".encode(), 0)
        self._file = file

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


def who() -> str:
    """Say who is at work, for others to read."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = f"user {os.getuid()}"
    return f"{user} on {socket.gethostname()} (process {os.getpid()}, since {time.strftime('%H:%M')})"


class _Carrier:
    """Waits for the disk, so that no key has to: one thread that syncs the journal and writes the annotation."""

    def __init__(self) -> None:
        self.error = ""
        self.written: bytes | None = None
        """The file that was written last, until somebody has taken note of it."""
        self._wake = threading.Condition()
        self._journal: Journal | None = None
        self._file: tuple[Path, bytes] | None = None
        self._busy = self._over = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        """Whether something is on its way to the disk."""
        return self._busy or self._file is not None or self._journal is not None

    def carry(self, journal: Journal | None = None, file: tuple[Path, bytes] | None = None) -> None:
        """Bring a journal's lines or a file to the disk, soon."""
        with self._wake:
            self._journal = journal or self._journal
            self._file = file or self._file
            self._wake.notify()

    def finish(self) -> None:
        """Wait until everything is there."""
        with self._wake:
            self._over = True
            self._wake.notify()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._wake:
                while not (self._journal or self._file or self._over):
                    self._wake.wait()
                journal, file = self._journal, self._file
                self._journal = self._file = None
                if not (journal or file):
                    return
                self._busy = True
            try:
                if journal:
                    journal.sync()
                if file:
                    write_atomically(*file)
                    self.written = file[1]
                self.error = ""
            except OSError as error:
                self.error = str(error.strerror or error)
            self._busy = False


class Store:
    """Keeps a session on the disk while it changes."""

    def __init__(
        self,
        anno: Path,
        session: Session,
        journal: Journal | None,
        lock: Lock | None = None,
        comments: Mapping[int, Sequence[str]] | None = None,
    ) -> None:
        self.anno = anno
        self._session = session
        self._comments = comments
        self._idle_at = time.monotonic() + 1
        self._journal = journal
        self._lock = lock
        self._carrier = _Carrier() if journal is not None else None
        self._due: float | None = None
        """When the annotation has to be written, if it has to."""
        self._error = ""
        if journal is not None:
            session.listener = self._listen

    @property
    def is_read_only(self) -> bool:
        """Whether nothing is ever written."""
        return self._journal is None

    @property
    def is_saved(self) -> bool:
        """Whether the annotation file has every change."""
        return self._due is None and not (self._carrier is not None and self._carrier.is_busy)

    @property
    def error(self) -> str:
        """Why nothing can be written, if that is so."""
        return self._error or (self._carrier.error if self._carrier is not None else "")

    def _listen(self, event: Event) -> None:
        assert self._journal is not None
        assert self._carrier is not None
        self._try(write_event(event))
        if not isinstance(event, Moved):
            self._carrier.carry(self._journal)
            self.save_soon()

    def _try(self, written: list[Any]) -> None:
        assert self._journal is not None
        try:
            self._journal.append(written)
            self._error = ""
        except OSError as error:
            self._error = str(error.strerror or error)

    def save_soon(self) -> None:
        """Have the annotation written within a second."""
        if self._due is None and self._journal is not None:
            self._due = time.monotonic() + SAVE_AFTER

    def tick(self) -> None:
        """Called a few times a second: write the annotation if it is time, and try again what failed."""
        if self._journal is None or self._carrier is None:
            return
        if self._error:
            with contextlib.suppress(OSError):
                self._journal.retry()
                self._error = ""
        self._note_written()
        if self._carrier.error and self._due is None:
            self._due = time.monotonic() + 1
        if self._due is not None and time.monotonic() >= self._due and not self._carrier.is_busy:
            self.save()
        elif self._due is None and time.monotonic() >= self._idle_at:
            _ = self._writer  # a large page takes a moment; better now than behind the first key

    @cached_property
    def _writer(self) -> AnnotationWriter:
        return AnnotationWriter(self._session.document, self._comments)

    def _note_written(self) -> None:
        if self._carrier is not None and self._carrier.written is not None:
            content, self._carrier.written = self._carrier.written, None
            self._try(["w", digest_of_file(content)])

    def save(self) -> None:
        """Write the annotation now."""
        if self._journal is None or self._carrier is None:
            return
        content = self._writer.write(self._session.labels(), self._session.probabilities()).encode()
        self._try(["s", digest_of_file(content)])
        self._carrier.carry(self._journal, (self.anno, content))
        self._due = None

    def close(self) -> str:
        """Write what is not written yet, and let others have the page; the answer is what went wrong."""
        if self._journal is not None and self._carrier is not None:
            if self._due is not None or self.error:
                self.save()
            self._carrier.finish()
            self._note_written()
            self._journal.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        return self.error
