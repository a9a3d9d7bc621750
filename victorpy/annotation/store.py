"""An open page: its session, kept on the disk while it changes, and the lock that keeps others out.

Every event goes to the journal at once, and the annotation file follows soon. The annotation is written to a new file,
which then replaces the old one. Its digest goes into the journal before and after that, so that an interrupted save
is not mistaken for a change by another program.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import os
import socket
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

from victorpy.annotation.events import Event, Moved
from victorpy.annotation.journal import Journal, Saved, Saving, digest_of_file
from victorpy.annotation.session import Session
from victorpy.base.files import keep_copy, write_atomically
from victorpy.document import Label
from victorpy.errors import DataError
from victorpy.outputs.anno import AnnotationWriter

SAVE_AFTER = 0.4
"""Seconds from a change until the annotation file is written."""
READ_ONLY = "Read-only: changes are not saved"

Snapshot = tuple[list[Label | None], list[float | None]]
"""Labels and probabilities of all blocks at one moment."""


class OpenPage:
    """A session that is kept on the disk while it changes. Without a journal it is read-only.

    A background thread waits for the disk, so that no key has to.
    """

    def __init__(
        self,
        anno: Path,
        session: Session,
        journal: Journal | None = None,
        lock: Lock | None = None,
        comments: Mapping[int, Sequence[str]] | None = None,
        digest: str = "",
        name: str = "",
    ) -> None:
        self.anno = anno
        self.name = name or str(anno)
        self.session = session
        self.messages: list[str] = []
        """What the user should know when the page is opened."""
        self._comments = comments
        self._journal = journal
        self._lock = lock
        self._digest = digest
        """Digest of the annotation file when this program last read or wrote it; empty if there was none."""
        self._stamp: tuple[int, ...] = ()
        """Inode, size and time of the file that this program wrote, to recognise it without reading it."""
        self._notices: list[str] = []
        self._due: float | None = None
        """When the annotation must be written, if it has changed."""
        self._journal_error = self._disk_error = ""
        self._disk = ThreadPoolExecutor(max_workers=1)
        self._jobs: list[Future[None]] = []
        if journal is not None:
            session.listener = self._listen

    @property
    def is_read_only(self) -> bool:
        return self._journal is None

    @property
    def is_saved(self) -> bool:
        """Whether the annotation file has every change."""
        return self._due is None and not self._is_busy

    @property
    def error(self) -> str:
        """Why nothing can be written; empty if all is well."""
        return self._journal_error or self._disk_error

    @property
    def _is_busy(self) -> bool:
        return not all(job.done() for job in self._jobs)

    def take_notices(self) -> list[str]:
        """Return what the user should know about the last saves, each message once."""
        return [self._notices.pop(0) for _ in range(len(self._notices))]

    def _listen(self, event: Event) -> None:
        assert self._journal is not None
        try:
            self._journal.append(event)
            self._journal_error = ""
        except OSError as error:
            self._journal_error = str(error.strerror or error)
        if not isinstance(event, Moved):
            self._submit()
            self.save_soon()

    def save_soon(self) -> None:
        """Have the annotation written within a second."""
        if self._due is None and self._journal is not None:
            self._due = time.monotonic() + SAVE_AFTER

    def tick(self) -> None:
        """Write the annotation if it is due, and retry what failed. Call this a few times a second."""
        if self._journal is None:
            return
        if self._journal_error:
            with contextlib.suppress(OSError):
                self._journal.retry()
                self._journal_error = ""
        if self._disk_error and self._due is None:
            self._due = time.monotonic() + 1
        if self._due is not None and time.monotonic() >= self._due and not self._is_busy:
            self.save()

    def save(self) -> None:
        """Have the current labels written now."""
        if self._journal is not None:
            self._submit((self.session.labels(), self.session.probabilities()))
            self._due = None

    def close(self) -> str:
        """Write what is not written yet and release the page. Return what went wrong, if anything."""
        if self._journal is not None:
            if self._due is not None or self.error:
                self.save()
            self._disk.shutdown()
            self._journal.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        return self.error

    def _submit(self, snapshot: Snapshot | None = None) -> None:
        """Have the journal synced and a snapshot written in the background."""
        self._jobs = [job for job in self._jobs if not job.done()]
        is_one_waiting = len(self._jobs) > 1  # only the first can have started; the other will sync everything
        if snapshot is not None or not is_one_waiting:
            self._jobs.append(self._disk.submit(self._bring_to_disk, snapshot))

    # In the background thread

    def _bring_to_disk(self, snapshot: Snapshot | None) -> None:
        assert self._journal is not None
        try:
            self._journal.sync()
            if snapshot is not None:
                self._write(self._journal, snapshot)
            self._disk_error = ""
        except (OSError, ValueError) as error:
            self._disk_error = str(getattr(error, "strerror", None) or error)

    @cached_property
    def _writer(self) -> AnnotationWriter:
        return AnnotationWriter(self.session.document, self._comments)

    def _write(self, journal: Journal, snapshot: Snapshot) -> None:
        content = self._writer.write(*snapshot).encode()
        digest = digest_of_file(content)
        self._keep_other_version()
        journal.append(Saving(digest))
        journal.sync()
        write_atomically(self.anno, content, durable=True)
        self._digest, self._stamp = digest, _stamp(self.anno)
        journal.append(Saved(digest))

    def _keep_other_version(self) -> None:
        """Keep a copy of the annotation file if another program has changed it."""
        if not self.anno.is_file() or _stamp(self.anno) == self._stamp:
            return
        digest = digest_of_file(self.anno.read_bytes())
        if digest != self._digest:
            copy = keep_copy(self.anno, "other")
            self._digest = digest  # keep only one copy, however often writing fails
            self._notices.append(
                f"{self.anno.name} was changed by another program while it was open here: the other version is "
                f"kept as {copy.name}, and this one was saved"
            )


def _stamp(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


class Lock:
    """A lock file that is held while a page is open. The system releases it however the program ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = -1

    def take(self) -> None:
        """Take the lock. Raises an error that names the holder if there is one."""
        while self._file < 0:
            try:
                file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                place = f"{self.path.parent}: cannot write there ({error.strerror})"
                raise DataError(f"{place}; `read_only` opens the page without saving anything") from error
            if not _try_lock(file, fcntl.LOCK_EX, tries=3):  # `is_locked` holds it for a moment
                holder = os.read(file, 1000).decode("utf-8", "replace").strip() or "somebody else"
                os.close(file)
                name = self.path.name.removesuffix(".lock")
                raise DataError(f"{name} is already open, by {holder}; `read_only` opens it without saving anything")
            if self.path.exists() and os.path.samestat(os.fstat(file), self.path.stat()):
                self._file = file
            else:  # the previous holder removed the file after we opened it
                os.close(file)
        try:
            user = getpass.getuser()
        except (KeyError, OSError):
            user = f"user {os.getuid()}"
        holder = f"{user} on {socket.gethostname()} (process {os.getpid()}, since {time.strftime('%H:%M')})"
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{holder}\n".encode(), 0)

    def release(self) -> None:
        if self._file >= 0:
            self.path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = -1


def lock_of(anno: Path) -> Path:
    """Return the path of an annotation's lock."""
    return anno.with_name(f"{anno.name}.lock")


def is_locked(path: Path) -> bool:
    """Whether a running program holds a lock. The lock of a killed program counts as free."""
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
