"""Replicas in a run: which records repeat others, however the run is organised and wherever it was broken off.

Records are taken one after the other, in the order of the inputs or the longest first; each is compared with those that
were kept before it, and with no others. So a replica of a replica counts only if it is one of a kept record too.
"""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from victorpy.batch.inputs import Mark
from victorpy.batch.outcome import Outcome, Status, place_told
from victorpy.batch.records import Record
from victorpy.batch.sinks.base import PartWriter, Sink
from victorpy.errors import OutputError
from victorpy.outputs import OUTPUTS
from victorpy.replicas.base import Detector, Keep, load_detector
from victorpy.replicas.index import Index, open_base

if TYPE_CHECKING:
    from victorpy.batch.shards import Store

INDEX = ".replicas.sqlite"
"""Where an output directory has what was kept: a run that goes on needs it, and one that tries pages again."""

Ended = tuple[Mark, Record, Outcome]


@dataclass(frozen=True, slots=True)
class Dedup:
    """How replicas are told, and which stay."""

    method: str
    settings: tuple[str, ...] = ()
    """Parameters of the method, as ``NAME=VALUE``."""
    keep: str = Keep.FIRST

    def detector(self) -> Detector:
        """The method, ready to run."""
        return load_detector(self.method, self.settings)

    def check(self) -> None:
        """See that all is there that it needs: a page that cannot be signed would fail, one after the other."""
        detector = self.detector()
        detector.keys(detector.sign("Tea is made by pouring hot water over the leaves of the tea bush. " * 2))

    def identity(self) -> dict[str, Any]:
        """What decides about which records go."""
        return {"method": self.method, **self.detector().parameters(), "keep": str(self.keep)}

    def __str__(self) -> str:
        return f"by {self.method}, the {self.keep} is kept"


class Removal(Protocol):
    """Tells which records are replicas, as they come in the order of the output."""

    def judge(self, record: Record, outcome: Outcome) -> Outcome:
        """The outcome as it is, or that of a replica."""

    def commit(self) -> None:
        """See that what was judged so far will be known when the run goes on."""

    def close(self) -> None:
        """Let go of files."""


class NoRemoval:
    """Where replicas are not looked for."""

    def judge(self, record: Record, outcome: Outcome) -> Outcome:
        """Every record is its own."""
        return outcome

    def commit(self) -> None:
        """There is nothing to know."""

    def close(self) -> None:
        """There are no files."""


class FirstStays:
    """Of records that repeat each other, the first stays: told in one pass, with what was kept on disk."""

    def __init__(self, dedup: Dedup, store: Store | None = None) -> None:
        path = store.directory / INDEX if store else None
        self._done = store.counts.pages if store else 0
        self._index = Index(dedup.detector(), path, store.label if store else "")
        known = self._index.done
        if known < self._done:
            self._index.close()
            raise OutputError(
                f"{path}: knows {known:,} of the {self._done:,} pages in the manifest, so that replicas of the others "
                "would stay; the run cannot go on: choose another directory"
            )
        self._index.forget(self._done)

    def judge(self, record: Record, outcome: Outcome) -> Outcome:
        """Look the record up among those kept so far."""
        number, self._done = self._done, self._done + 1
        if outcome.signed is None:
            return outcome
        told = self._index.repeated(outcome.signed.signature, _told(record, outcome), number)
        return outcome if told is None else as_replica(outcome, json.loads(told))

    def commit(self) -> None:
        """Put what was kept on the disk."""
        self._index.commit(self._done)

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()


def as_replica(outcome: Outcome, repeats: dict[str, Any]) -> Outcome:
    """The outcome of a record that repeats another: what is known of it without its text."""
    return replace(outcome, status=Status.REPLICA, text="", columns={}, repeats=repeats)


def _told(record: Record, outcome: Outcome) -> str:
    return json.dumps(place_told(record, outcome))


# Keeping the longest: all pages are laid aside, then it is decided, then they are written.


class AsideSink(Sink):
    """Parts of outcomes as they are, to be read again by this program and thrown away."""

    suffix = ".pickle"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, OUTPUTS.get("text"))

    def open(self, path: Path) -> PartWriter:
        """Begin a part."""
        return _AsidePart(path.open("wb"))


class _AsidePart:
    """A part of pickles, one after the other."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, record: Record, outcome: Outcome) -> None:
        pickle.dump((replace(record, payload=b""), outcome), self._file, pickle.HIGHEST_PROTOCOL)

    def close(self) -> None:
        self._file.close()


def read_aside(aside: Store, done: int = 0) -> Iterator[Ended]:
    """The records that were laid aside, behind the first so many, in their order."""
    number = 0
    for part in aside.parts:
        with (aside.directory / part).open("rb") as file:
            while True:
                try:
                    record, outcome = pickle.load(file)  # our own file
                except EOFError:
                    break
                if number >= done:
                    yield Mark(0, number), record, outcome
                number += 1


class LongestStays:
    """Of records that repeat each other, the longest stays; which these are was decided with all of them known."""

    def __init__(self, dedup: Dedup, store: Store, aside: Store) -> None:
        path = aside.directory / "decisions.sqlite"
        self._number = store.counts.pages
        self._index = Index(dedup.detector(), store.directory / INDEX, store.label)
        if self._index.done < aside.counts.pages:
            path.unlink(missing_ok=True)
        self._base = open_base(path)
        if self._index.done < aside.counts.pages:
            self._index.forget(0)
            self._decide(read_aside(aside), aside.counts.pages)

    def _decide(self, records: Iterable[Ended], pages: int) -> None:
        """Take the longest first. The table that sorts them is on disk, as all that is known of them is."""
        self._base.executescript(_DECISIONS)
        self._base.execute("begin")
        for mark, record, outcome in records:
            if outcome.signed is not None:
                told = (mark.position, outcome.signed.length, outcome.signed.signature, _told(record, outcome))
                self._base.execute("insert into candidate values (?, ?, ?, ?)", told)
        chosen = self._base.execute("select number, signature, told from candidate order by length desc, number")
        for number, signature, told in chosen:
            repeats = self._index.repeated(signature, told, number)
            if repeats is not None:
                self._base.execute("insert into decision values (?, ?)", (number, repeats))
        self._base.execute("commit")
        self._index.commit(pages)

    def judge(self, record: Record, outcome: Outcome) -> Outcome:
        """Look up what was decided."""
        number, self._number = self._number, self._number + 1
        found = self._base.execute("select told from decision where number = ?", (number,)).fetchone()
        return outcome if found is None else as_replica(outcome, json.loads(found[0]))

    def commit(self) -> None:
        """All is on the disk already."""

    def close(self) -> None:
        """Let go of both tables."""
        self._index.close()
        self._base.close()


_DECISIONS = """
create table candidate (number integer primary key, length integer, signature blob, told text);
create table decision (number integer primary key, told text);
"""


def aside_place(store: Store) -> Path:
    """Where pages are laid aside for a store."""
    return store.directory / f".{store.label}replicas-aside"


def take_away_aside(store: Store) -> None:
    """Remove what was laid aside for a store, when all of it is written."""
    shutil.rmtree(aside_place(store), ignore_errors=True)
