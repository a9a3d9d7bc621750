"""What was kept so far, on disk: a table of signatures, and the keys that they are found by.

Memory holds some tens of megabytes, however many pages there are. On disk a page has its signature (16 bytes of a
fingerprint, 4 for each permutation of MinHash), what is told of its record, and 12 bytes for each key. The table is
appended to and outlives a run that is killed; the keys are made anew of it.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from victorpy.replicas.base import Detector
from victorpy.replicas.keys import Keys

CACHE_KIB = 16 * 1024

_TABLES = """
create table if not exists page (
    id integer primary key, run text not null, number integer not null, told text not null, signature blob not null
);
create table if not exists state (run text primary key, done integer not null);
"""


def open_base(path: Path | None) -> sqlite3.Connection:
    """Open a file of tables whose trouble is that of a file; without a path, a temporary one that nobody sees."""
    base = sqlite3.connect(path or "", isolation_level=None, factory=_Base)
    base.execute(f"pragma cache_size = -{CACHE_KIB}")
    return base


class _Base(sqlite3.Connection):
    """A connection that says which file is in trouble, as other files do."""

    def __init__(self, path: Path | str, *arguments: Any, **options: Any) -> None:
        self._path = str(path)
        with self._trouble():
            super().__init__(path, *arguments, **options)

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        with self._trouble():
            return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        with self._trouble():
            return super().executemany(*arguments)

    def executescript(self, *arguments: Any) -> sqlite3.Cursor:
        with self._trouble():
            return super().executescript(*arguments)

    @contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise OSError(errno.EIO, str(error), self._path) from error


class Index:
    """The kept pages by what their replicas would share with them.

    Nothing is on disk for good before `commit`; `run` tells the pages of one run from those of another.
    """

    def __init__(self, detector: Detector, path: Path | None = None, run: str = "") -> None:
        self._detector = detector
        self._run = run
        self._place = path.with_name(f"{path.name}-keys") if path else None
        self._loaded: Keys | None = None
        self._base = open_base(path)
        self._base.executescript(_TABLES)
        self._base.execute("begin")

    def repeated(self, signature: bytes, told: str, number: int = 0) -> str | None:
        """What was told of the first kept page that this one repeats; where it repeats none, it is kept."""
        found = self.find(signature)
        if found is None:
            self.add(signature, told, number)
        return found

    def find(self, signature: bytes) -> str | None:
        """What was told of the first kept page that one with this signature repeats."""
        for identity in self._keys.find(self._detector.keys(signature)) if signature else ():
            other, known = self._base.execute("select signature, told from page where id = ?", (identity,)).fetchone()
            if self._detector.similar(signature, other):
                return str(known)
        return None

    def add(self, signature: bytes, told: str, number: int = 0) -> None:
        """Keep a page, whatever it repeats."""
        if not signature:
            return
        added = self._base.execute(
            "insert into page (run, number, told, signature) values (?, ?, ?, ?)", (self._run, number, told, signature)
        )
        self._keys.add(self._detector.keys(signature), int(added.lastrowid or 0))

    @property
    def _keys(self) -> Keys:
        """The keys of all pages, made of what is in the table when they are first asked for."""
        if self._loaded is None:
            self._loaded = Keys(self._place)
            for identity, signature in self._base.execute("select id, signature from page order by id"):
                self._loaded.add(self._detector.keys(signature), identity)
        return self._loaded

    @property
    def done(self) -> int:
        """How many records of this run had been seen when it was committed last."""
        row = self._base.execute("select done from state where run = ?", (self._run,)).fetchone()
        return int(row[0]) if row else 0

    def commit(self, done: int) -> None:
        """Put on disk what was kept of the first so many records of this run."""
        self._base.execute("insert or replace into state values (?, ?)", (self._run, done))
        self._base.execute("commit")
        self._base.execute("begin")

    def forget(self, done: int) -> None:
        """Forget all records of this run but the first so many."""
        self._base.execute("delete from page where run = ? and number >= ?", (self._run, done))
        self._forget_keys()
        self.commit(min(done, self.done))

    def close(self) -> None:
        """Let go of the file; what was not committed is gone."""
        self._forget_keys()
        self._base.close()

    def _forget_keys(self) -> None:
        if self._loaded is not None:
            self._loaded.close()
        self._loaded = None
