"""Find texts that repeat others. The kept texts are on disk, with the keys that their replicas may share with them.

The index is an sqlite database: the table `page` has the signature of every kept text, the table `key` its keys.
Memory is bounded by sqlite's cache, however many texts there are.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from victorpy.dedup.base import KEEP, Detector, Keep, load_detector
from victorpy.errors import ConfigError, suggest

if TYPE_CHECKING:
    import sqlite3

RowId = TypeVar("RowId")

CACHE_KIB = 16 * 1024


@contextmanager
def open_database(path: Path | None) -> Iterator[sqlite3.Connection]:
    """Open a database, or a temporary one, and begin a transaction.

    The caller commits it; otherwise it is rolled back. Errors of the database are raised as those of a file.
    """
    import sqlite3  # only if replicas are looked for

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


def decide(rows: Iterable[tuple[RowId, bytes, str]], index: Index) -> Iterator[tuple[RowId, str]]:
    """Yield the rows that are replicas, each with the description of the kept row that it repeats.

    A row is an id, a signature and a description. Rows come in order of preference: each is compared with those that
    were kept before it, never with replicas. So a replica of a replica is dropped only if it repeats a kept row too.
    """
    for row_id, signature, description in rows:
        repeated = index.find(signature)
        if repeated is None:
            index.add(signature, description)
        else:
            yield row_id, repeated


def find_replicas(
    texts: Iterable[str | tuple[str, str]], method: str = "minhash", keep: str = "first", **parameters: Any
) -> list[int | None]:
    """Return for every text the number of the text that it repeats, or None if it is kept.

    A text may come with its language, as a pair. Texts are taken in order, or with ``keep="longest"`` the longest
    first; each is compared with those that were kept before it. Parameters are those of the method: percentage and
    interval of fingerprint; threshold, shingle and num_perm of minhash.

    >>> tea = "Tea is made by pouring hot water over the cured leaves of the tea bush, and drunk all over the world."
    >>> find_replicas([tea, "Coffee is brewed from roasted beans of another plant.", f"{tea} Have a cup!"])
    [None, None, 0]
    >>> find_replicas([tea, f"{tea} Have a cup!"], keep="longest")
    [1, None]
    """
    if keep not in KEEP:
        raise ConfigError(f"keep is one of {', '.join(KEEP)}, not {keep!r}{suggest(keep, KEEP)}")
    detector = load_detector(method, **parameters)
    pairs = ((text, "") if isinstance(text, str) else text for text in texts)
    signed = [detector.signed(text, language) for text, language in pairs]
    numbers = list(range(len(signed)))
    if keep == Keep.LONGEST:
        numbers.sort(key=lambda number: -signed[number].length)
    rows = ((number, signed[number].signature, str(number)) for number in numbers)
    repeats: list[int | None] = [None] * len(signed)
    with open_database(None) as database:
        for number, repeated in decide(rows, Index(detector, database)):
            repeats[number] = int(repeated)
    return repeats
