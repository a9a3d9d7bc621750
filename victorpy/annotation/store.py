"""An open page: saves its session while it changes, and locks it against other programs.

Every event is written to the journal at once, and the annotation file is replaced soon afterwards. The journal records
the digest of the annotation file before and after that, so that an interrupted save is not mistaken for a change by
another program.
"""

from __future__ import annotations

import fcntl
import getpass
import os
import socket
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from victorpy.annotation.journal import Journal, Saved, Saving, digest_of_file
from victorpy.annotation.session import Event, Moved, Session
from victorpy.base.files import keep_copy, write_atomically
from victorpy.document import Label
from victorpy.errors import DataError
from victorpy.outputs.anno import AnnotationWriter

SAVE_AFTER = 0.4  # seconds from a change until the annotation file is written
READ_ONLY = "Read-only: changes are not saved"

Snapshot = tuple[list[Label | None], list[float | None]]  # labels and probabilities of all blocks


@dataclass(eq=False)
class OpenPage:
    """A session that is saved while it changes. Without a journal it is read-only.

    Files are written by a background thread, so that keys do not wait for the disk.
    """

    anno: Path
    session: Session
    journal: Journal | None = None
    lock: Lock | None = None
    comments: Mapping[int, Sequence[str]] | None = None
    digest: str = ""  # digest of the annotation file when this program last read or wrote it, or an empty string
    name: str = ""  # the name on the screen
    messages: list[str] = field(default_factory=list)  # messages to show when the page is opened
    notices: list[str] = field(default_factory=list)  # messages about the last saves
    error: str = ""  # why the last save failed; empty if it succeeded
    _due: float | None = None  # time of the next save; None if everything is saved
    _last_job: Future[None] | None = None
    _writer: AnnotationWriter | None = None

    def __post_init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        if self.journal is not None:
            self.session.listener = self._listen

    @property
    def is_saved(self) -> bool:
        return self._due is None and (self._last_job is None or self._last_job.done())

    def _listen(self, event: Event) -> None:
        assert self.journal is not None
        try:
            self.journal.append(event)
        except OSError as error:
            self.error = str(error.strerror or error)
        if not isinstance(event, Moved):
            self._submit(None)
            self.save_soon()

    def save_soon(self) -> None:
        """Save the annotation within a second."""
        if self._due is None and self.journal is not None:
            self._due = time.monotonic() + SAVE_AFTER

    def tick(self) -> None:
        """Save if it is due or if the last save failed. Call this a few times per second."""
        if self.error:
            self.save_soon()
        is_busy = self._last_job is not None and not self._last_job.done()
        if self._due is not None and time.monotonic() >= self._due and not is_busy:
            self.save()

    def save(self) -> None:
        if self.journal is not None:
            self._submit((self.session.labels(), self.session.probabilities()))
            self._due = None

    def close(self) -> str:
        """Save the last changes and unlock the page. Return the error if this fails."""
        if self.journal is not None:
            if self._due is not None or self.error:
                self.save()
            self._thread.shutdown()
            self.journal.close()
        if self.lock is not None:
            self.lock.release()
            self.lock = None
        return self.error

    def _submit(self, snapshot: Snapshot | None) -> None:
        """Sync the journal and write a snapshot in the background."""
        last = self._last_job
        is_one_waiting = last is not None and not (last.running() or last.done())
        if snapshot is not None or not is_one_waiting:  # a waiting job will also sync this
            self._last_job = self._thread.submit(self._write, snapshot)

    def _write(self, snapshot: Snapshot | None) -> None:
        """Sync the journal and write a snapshot. Runs in the background thread."""
        assert self.journal is not None
        try:
            self.journal.sync()
            if snapshot is not None:
                self._writer = self._writer or AnnotationWriter(self.session.document, self.comments)
                content = self._writer.write(*snapshot).encode()
                digest = digest_of_file(content)
                self._keep_other_version()
                self.journal.append(Saving(digest))
                self.journal.sync()
                write_atomically(self.anno, content, durable=True)
                self.digest = digest
                self.journal.append(Saved(digest))
            self.error = ""
        except (OSError, ValueError) as error:
            self.error = str(getattr(error, "strerror", None) or error)

    def _keep_other_version(self) -> None:
        """Keep a copy of the annotation file if another program has changed it."""
        digest = digest_of_file(self.anno.read_bytes()) if self.anno.is_file() else self.digest
        if digest != self.digest:
            copy = keep_copy(self.anno, "other")
            self.digest = digest  # keep only one copy, however often writing fails
            self.notices.append(
                f"{self.anno.name} was changed by another program while it was open here; the other version is "
                f"kept as {copy.name}, and yours was saved"
            )


class Lock:
    """A lock file for an open page. The system releases it even if the program is killed.

    The constructor raises an error that names the holder if the page is open already.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        while True:
            try:
                self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                place = f"cannot write in {path.parent} ({error.strerror})"
                raise DataError(f"{place}; `read_only` opens the page without saving anything") from error
            if not _try_lock(self._file, fcntl.LOCK_EX, tries=3):  # `is_locked` holds the lock for a moment
                holder = os.read(self._file, 1000).decode("utf-8", "replace").strip() or "somebody else"
                os.close(self._file)
                name = path.name.removesuffix(".lock")
                raise DataError(f"{name} is already opened by {holder}; `read_only` opens it without saving anything")
            if path.exists() and os.path.samestat(os.fstat(self._file), path.stat()):
                break
            os.close(self._file)  # the previous holder removed the file after we opened it
        try:
            user = getpass.getuser()
        except (KeyError, OSError):
            user = f"user {os.getuid()}"
        holder = f"{user} on {socket.gethostname()} (process {os.getpid()}, since {time.strftime('%H:%M')})"
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{holder}\n".encode(), 0)

    def release(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._file)


def lock_of(anno: Path) -> Path:
    """Return the path of an annotation's lock."""
    return anno.with_name(f"{anno.name}.lock")


def is_locked(path: Path) -> bool:
    """Whether a running program holds a lock."""
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
