"""What was kept so far, on disk: a table of signatures, and one of the keys that they are found by.

Memory holds a cache of some megabytes, however many pages there are. On disk a fingerprint takes some 100 bytes, with
what is told of its record; a MinHash signature has 4 bytes a permutation, and some 30 more for each band.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from victorpy.replicas.base import Detector

CACHE_KIB = 64 * 1024

_TABLES = """
create table if not exists page (
    id integer primary key, run text not null, number integer not null, told text not null, signature blob not null
);
create table if not exists look (key blob not null, id integer not null, primary key (key, id)) without rowid;
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
        for other, known in self._candidates(self._detector.keys(signature) if signature else []):
            if not self._detector.compares or self._detector.similar(signature, other):
                return known
        return None

    def add(self, signature: bytes, told: str, number: int = 0) -> None:
        """Keep a page, whatever it repeats."""
        if not signature:
            return
        stored = signature if self._detector.compares else b""
        added = self._base.execute(
            "insert into page (run, number, told, signature) values (?, ?, ?, ?)", (self._run, number, told, stored)
        )
        keys = self._detector.keys(signature)
        self._base.executemany("insert into look values (?, ?)", [(key, added.lastrowid) for key in keys])

    def _candidates(self, keys: list[bytes]) -> Iterator[tuple[bytes, str]]:
        """The kept pages that share a key, in the order in which they were kept."""
        marks = ", ".join("?" * len(keys))
        found = self._base.execute(f"select distinct id from look where key in ({marks}) order by id", keys).fetchall()
        for (identity,) in found:
            yield from self._base.execute("select signature, told from page where id = ?", (identity,))

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
        late = "select id from page where run = ? and number >= ?"
        if self._base.execute(f"{late} limit 1", (self._run, done)).fetchone():
            self._base.execute(f"delete from look where id in ({late})", (self._run, done))
            self._base.execute("delete from page where run = ? and number >= ?", (self._run, done))
        self.commit(min(done, self.done))

    def close(self) -> None:
        """Let go of the file; what was not committed is gone."""
        self._base.close()
