"""Find replicas with an index of the kept texts.

The index is an sqlite database, so its memory does not grow with the number of texts. The table `page` has the
signatures of the kept texts, and the table `key` has their keys.
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
    """Open a database, or a temporary one, and begin a transaction, which the caller has to commit.

    Database errors are raised as OSError.
    """
    import sqlite3  # only runs with deduplication need it

    try:
        with closing(sqlite3.connect(path or "", isolation_level=None)) as database:
            database.execute(f"pragma cache_size = -{CACHE_KIB}")
            database.execute("begin")
            yield database
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error), str(path or "a temporary database")) from error


class Index:
    """The kept texts of all runs into the same directory."""

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
        """Return the description of the first kept text that a text with this signature repeats."""
        for kept_signature, description in self.candidates(signature):
            if self._detector.similar(signature, kept_signature):
                return description
        return None

    def candidates(self, signature: bytes) -> Iterable[tuple[bytes, str]]:
        """Return the signatures and descriptions of the kept texts that share a key, in the order they were added."""
        keys = self._detector.keys(signature) if signature else []
        marks = ", ".join("?" * len(keys))
        return self._database.execute(
            "select signature, description from page "
            f"where id in (select page from key where key in ({marks})) order by id",
            keys,
        )

    def add(self, signature: bytes, description: str) -> None:
        """Add a text, unless its signature is empty."""
        if signature:
            page = self._database.execute(
                "insert into page (run, description, signature) values (?, ?, ?)", (self._run, description, signature)
            ).lastrowid
            keys = [(key, page) for key in self._detector.keys(signature)]
            self._database.executemany("insert or ignore into key values (?, ?)", keys)

    def forget_run(self) -> None:
        """Remove the texts of this run."""
        self._database.execute("delete from key where page in (select id from page where run = ?)", (self._run,))
        self._database.execute("delete from page where run = ?", (self._run,))


def decide(rows: Iterable[tuple[RowId, bytes, str]], index: Index) -> Iterator[tuple[RowId, str]]:
    """Yield the ids of the rows that are replicas, with the descriptions of the kept rows that they repeat.

    A row is an id, a signature and a description. Each row is compared with all rows kept before, not with replicas.
    So a replica of a replica is only dropped if it also repeats a kept row.
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

    A text can be a pair of text and language. Each text is compared with the texts kept before it, in the given order
    or, with ``keep="longest"``, from the longest to the shortest. The method ``fingerprint`` has the parameters
    `percentage` and `interval`; ``minhash`` has `threshold`, `shingle` and `num_perm`.

    >>> tea = "Tea is made by pouring hot water over the cured leaves of the tea bush, and drunk all over the world."
    >>> find_replicas([tea, "Coffee is brewed from roasted beans of another plant.", f"{tea} Have a cup!"])
    [None, None, 0]
    >>> find_replicas([tea, f"{tea} Have a cup!"], keep="longest")
    [1, None]
    """
    if keep not in KEEP:
        raise ConfigError(f"keep must be one of {', '.join(KEEP)}, not {keep!r}{suggest(keep, KEEP)}")
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
