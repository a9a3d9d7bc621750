"""Never losing work: every event goes to the journal at once, and the annotation file follows within a second.

The annotation is written to a new file, which then takes the old one's place. Its digest goes into the journal before
that, and once more when it is done, so that what is found later can be told from what somebody changed with another
program.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from victorpy.anno import AnnotationWriter
from victorpy.annotate.events import Event, Moved
from victorpy.annotate.journal import Journal, digest_of_file, write_event
from victorpy.annotate.lock import Lock
from victorpy.annotate.session import Session
from victorpy.document import Label
from victorpy.files import keep_copy, write_atomically

SAVE_AFTER = 0.4
"""Seconds from a change to its being written to the annotation file."""


class _Snapshot(NamedTuple):
    """What an annotation file is made of, at one moment."""

    labels: list[Label | None]
    probabilities: list[float | None]


class _Carrier:
    """Waits for the disk, so that no key has to: one thread that syncs the journal and writes the annotation."""

    def __init__(self, journal: Journal, write: Callable[[_Snapshot], None]) -> None:
        self.error = ""
        self._journal = journal
        self._write = write
        self._wake = threading.Condition()
        self._wants_sync = self._busy = self._over = False
        self._snapshot: _Snapshot | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        """Whether something is on its way to the disk."""
        with self._wake:
            return self._busy or self._has_work

    @property
    def _has_work(self) -> bool:
        return self._wants_sync or self._snapshot is not None

    def carry(self, snapshot: _Snapshot | None = None) -> None:
        """Bring the journal's lines to the disk, soon, and the annotation, if one is given."""
        with self._wake:
            self._wants_sync = True
            self._snapshot = snapshot or self._snapshot
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
                self._busy = False
                while not (self._has_work or self._over):
                    self._wake.wait()
                if not self._has_work:
                    return
                snapshot, self._snapshot = self._snapshot, None
                self._wants_sync, self._busy = False, True
            try:
                self._journal.sync()
                if snapshot is not None:
                    self._write(snapshot)
                self.error = ""
            except OSError as error:
                self.error = str(error.strerror or error)


class Store:
    """Keeps a session on the disk while it changes."""

    def __init__(
        self,
        anno: Path,
        session: Session,
        journal: Journal | None,
        lock: Lock | None = None,
        comments: Mapping[int, Sequence[str]] | None = None,
        known: str = "",
    ) -> None:
        self.anno = anno
        self._session = session
        self._comments = comments
        self._journal = journal
        self._lock = lock
        self._known = known
        """The digest of the annotation file as this program read or wrote it last; nothing where there was none."""
        self._stamp: tuple[int, ...] = ()
        """By which the same file is known again without reading it."""
        self._notices: list[str] = []
        self._carrier = _Carrier(journal, self._write) if journal is not None else None
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

    def take_notices(self) -> list[str]:
        """What the person must be told, once."""
        return [self._notices.pop(0) for _ in range(len(self._notices))]

    def _listen(self, event: Event) -> None:
        assert self._carrier is not None
        is_change = not isinstance(event, Moved)
        self._note(write_event(event), begins=is_change)
        if is_change:
            self._carrier.carry()
            self.save_soon()

    def _note(self, written: list[Any], begins: bool) -> None:
        assert self._journal is not None
        try:
            self._journal.append(written, begins)
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
        if self._carrier.error and self._due is None:
            self._due = time.monotonic() + 1
        if self._due is not None and time.monotonic() >= self._due and not self._carrier.is_busy:
            self.save()

    def save(self) -> None:
        """Have the annotation written now, as it stands."""
        if self._carrier is not None:
            self._carrier.carry(_Snapshot(self._session.labels(), self._session.probabilities()))
            self._due = None

    def close(self) -> str:
        """Write what is not written yet, and let others have the page; the answer is what went wrong."""
        if self._journal is not None and self._carrier is not None:
            if self._due is not None or self.error:
                self.save()
            self._carrier.finish()
            self._journal.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        return self.error

    # In the thread that waits for the disk

    @cached_property
    def _writer(self) -> AnnotationWriter:
        return AnnotationWriter(self._session.document, self._comments)

    def _write(self, snapshot: _Snapshot) -> None:
        assert self._journal is not None
        content = self._writer.write(snapshot.labels, snapshot.probabilities).encode()
        digest = digest_of_file(content)
        self._keep_what_others_wrote()
        self._journal.append(["s", digest])
        self._journal.sync()
        write_atomically(self.anno, content, durable=True)
        self._known, self._stamp = digest, _stamp(self.anno)
        self._journal.append(["w", digest])

    def _keep_what_others_wrote(self) -> None:
        """Where another program has changed the file since, keep both."""
        if not self.anno.is_file() or _stamp(self.anno) == self._stamp:
            return
        found = digest_of_file(self.anno.read_bytes())
        if found != self._known:
            kept = keep_copy(self.anno, "other")
            self._known = found  # it is kept once, however often writing fails
            self._notices.append(
                f"{self.anno.name} was changed by another program while it was open here: that version is kept as "
                f"{kept.name}, and this one was saved"
            )


def _stamp(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
