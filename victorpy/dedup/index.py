"""The kept texts on disk, and the search for those that another text may repeat.

The index is an sqlite database: the table `page` has the signature of every kept text, the table `key` the keys that
its replicas may share with it. Memory is bounded by sqlite's cache, however many texts there are.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from victorpy.dedup.base import Detector

CACHE_KIB = 16 * 1024


@contextmanager
def open_database(path: Path | None) -> Iterator[sqlite3.Connection]:
    """Open a database, or a temporary one, and begin a transaction.

    The caller commits it; otherwise it is rolled back. Errors of the database are raised as those of a file.
    """
    try:
        with closing(sqlite3.connect(path or "", isolation_level=None)) as database:
            database.execute(f"pragma cache_size = -{CACHE_KIB}")
            database.execute("begin")
            yield database
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error), str(path or "a temporary database")) from error


class Index:
    """The kept texts of one or several runs into the same directory, in the order in which they were added."""

    def __init__(self, detector: Detector, database: sqlite3.Connection, run: str = "") -> None:
        self._detector = detector
        self._database = database
        self._run = run
        database.execute(
            "create table if not exists page (id integer primary key, run text, description text, signature blob)"
        )
        database.execute(
            "create table if not exists key (key blob, page integer, primary key (key, page)) without rowid"
        )

    def find(self, signature: bytes) -> str | None:
        """Return the description of the first kept text that one with this signature repeats."""
        for kept_signature, description in self.candidates(signature):
            if self._detector.similar(signature, kept_signature):
                return description
        return None

    def candidates(self, signature: bytes) -> Iterable[tuple[bytes, str]]:
        """Return signature and description of the kept texts that share a key with this one, in their order."""
        keys = self._detector.keys(signature) if signature else []
        marks = ", ".join("?" * len(keys))
        return self._database.execute(
            "select signature, description from page "
            f"where id in (select page from key where key in ({marks})) order by id",
            keys,
        )

    def add(self, signature: bytes, description: str) -> None:
        """Keep a text; one without a signature cannot be found, and is left out."""
        if signature:
            page = self._database.execute(
                "insert into page (run, description, signature) values (?, ?, ?)", (self._run, description, signature)
            ).lastrowid
            keys = [(key, page) for key in self._detector.keys(signature)]
            self._database.executemany("insert or ignore into key values (?, ?)", keys)

    def forget_run(self) -> None:
        """Remove the texts of this run, which will be added again."""
        self._database.execute("delete from key where page in (select id from page where run = ?)", (self._run,))
        self._database.execute("delete from page where run = ?", (self._run,))
