"""Deduplication in a local run, as a pass between cleaning and writing.

All records are cleaned and signed into a temporary store. Then one pass finds the replicas
(`victorpy.dedup.find.decide`). Finally, the output is written without the texts of replicas.
"""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from victorpy.batch.inputs import Mark
from victorpy.batch.local.guard import Ended
from victorpy.batch.outcome import Outcome, describe_place
from victorpy.batch.plan import Dedup
from victorpy.batch.record import Record, Status
from victorpy.batch.sinks import Sink, Write
from victorpy.batch.store import Store
from victorpy.dedup.base import Keep
from victorpy.dedup.find import Index, decide, open_database
from victorpy.outputs import OUTPUTS

INDEX = ".replicas.sqlite"
"""Index of the kept pages in an output directory. A retry compares its pages with them."""


def as_replica(outcome: Outcome, repeats: str) -> Outcome:
    """Return the outcome of a replica, without its text. `repeats` describes the repeated record as JSON."""
    return replace(outcome, status=Status.REPLICA, text="", columns={}, repeats=json.loads(repeats))


def as_pickle(record: Record, outcome: Outcome) -> bytes:
    """Return a cleaned record as bytes, without its page."""
    return pickle.dumps((replace(record, payload=b""), outcome), pickle.HIGHEST_PROTOCOL)


class AsideSink(Sink):
    """Writes files of pickled outcomes."""

    def __init__(self, directory: Path) -> None:
        super().__init__("pickle", directory, OUTPUTS.get("text"))

    @contextmanager
    def part(self, path: Path, begun: Path | None = None) -> Iterator[Write]:
        with path.open("wb") as file:
            file.write(begun.read_bytes() if begun else b"")
            yield lambda record, outcome: file.write(as_pickle(record, outcome))


def read_aside(aside: Store, start: int = 0) -> Iterator[Ended]:
    """Read the cleaned records in their order, starting at a record number."""
    number = 0
    for part in aside.parts:
        with (aside.directory / part).open("rb") as file:
            while True:
                try:
                    record, outcome = pickle.load(file)  # written by `AsideSink`
                except EOFError:
                    break
                if number >= start:
                    yield Mark(0, number), record, outcome
                number += 1


def aside_directory(store: Store) -> Path:
    """Return the directory of the temporary store."""
    return store.side / f".{store.label}replicas-aside"


def remove_aside(store: Store) -> None:
    """Delete the temporary store."""
    shutil.rmtree(aside_directory(store), ignore_errors=True)


def without_replicas(
    dedup: Dedup, aside: Store, start: int = 0, index: Path | None = None, run: str = ""
) -> Generator[Ended]:
    """Yield the cleaned records, starting at a record number. Replicas come without their texts.

    `index` contains the kept pages of earlier runs. The kept pages of this run are added under the name `run`.
    """
    with open_database(aside.directory / "decisions.sqlite") as decisions:
        is_decided = decisions.execute("select 1 from sqlite_master where name = 'decision'").fetchone()
        if not is_decided:
            with open_database(index) as kept:
                _decide(dedup, aside, Index(dedup.detector(), kept, run), decisions)
                kept.execute("commit")
            decisions.execute("commit")  # last: if the program is killed before, everything is decided again
        for mark, record, outcome in read_aside(aside, start):
            decision = decisions.execute("select repeats from decision where number = ?", (mark.position,)).fetchone()
            yield mark, record, outcome if decision is None else as_replica(outcome, decision[0])


def _decide(dedup: Dedup, aside: Store, index: Index, decisions: Any) -> None:
    """Write a table of replicas. Candidates are sorted on disk, so memory stays bounded."""
    index.forget_run()
    decisions.execute(
        "create table candidate (number integer primary key, length integer, signature blob, description text)"
    )
    decisions.execute("create table decision (number integer primary key, repeats text)")
    for mark, record, outcome in read_aside(aside):
        if outcome.signed is not None:
            description = json.dumps(describe_place(record, outcome))
            row = (mark.position, outcome.signed.length, outcome.signed.signature, description)
            decisions.execute("insert into candidate values (?, ?, ?, ?)", row)
    order = "length desc, number" if dedup.keep == Keep.LONGEST else "number"
    rows = decisions.execute(f"select number, signature, description from candidate order by {order}")
    decisions.executemany("insert into decision values (?, ?)", decide(rows, index))
