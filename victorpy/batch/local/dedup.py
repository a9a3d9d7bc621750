"""Deduplication in a local run, as a pass between cleaning and writing.

All records are cleaned and signed into a temporary store of logs. Then one pass finds the replicas
(`victorpy.dedup.find.decide`). Finally, workers write the output without the texts of replicas.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from victorpy.batch.inputs import Group, InputFile
from victorpy.batch.local.stretches import Item, Read, read_log
from victorpy.batch.outcome import Outcome, describe_place
from victorpy.batch.plan import Dedup, Plan
from victorpy.batch.record import Status
from victorpy.batch.store import Store, read_entries
from victorpy.dedup.base import Keep
from victorpy.dedup.find import Index, decide, open_database

INDEX = ".replicas.sqlite"
"""Index of the kept pages in an output directory. A retry compares its pages with them."""
DECISIONS = "decisions.sqlite"


def as_replica(outcome: Outcome, repeats: str) -> Outcome:
    """Return the outcome of a replica, without its text. `repeats` describes the repeated record as JSON."""
    return replace(outcome, status=Status.REPLICA, text="", columns={}, repeats=json.loads(repeats))


def aside_directory(store: Store) -> Path:
    """Return the directory of the temporary store."""
    return store.side / f".{store.label}replicas-aside"


@dataclass(frozen=True, slots=True)
class Aside:
    """Cleaned records in their order, and which of them are replicas."""

    directory: Path
    parts: tuple[str, ...]
    firsts: tuple[int, ...]
    """Number of the first record of each part."""

    @classmethod
    def of(cls, store: Store) -> Aside:
        entries = [entry for entry, _ in read_entries(store.manifest_path) if "part" in entry]
        firsts = accumulate((entry["pages"] for entry in entries), initial=0)
        return cls(store.directory, tuple(entry["part"] for entry in entries), tuple(firsts))

    def groups(self, records: int) -> Iterator[Group]:
        """Yield the parts as files to be read."""
        for number, part in enumerate(self.parts):
            path = self.directory / part
            yield Group(number, (InputFile(path, Path(part), part, number=number),), records)

    def open(self, plan: Plan) -> Read:
        """Read a part, without the texts of replicas. The decisions stay open for the next part."""
        import sqlite3

        decisions = sqlite3.connect(self.directory / DECISIONS)

        def read(file: InputFile) -> Iterator[Item]:
            with file.path.open("rb") as log:
                log.seek(file.offset)
                offset = file.offset
                for number, (record, outcome, end) in enumerate(read_log(log), file.start):
                    key = self.firsts[file.number] + number
                    repeats = decisions.execute("select repeats from decision where number = ?", (key,)).fetchone()
                    yield Item(record, as_replica(outcome, repeats[0]) if repeats else outcome, (number, offset))
                    offset = end

        return read

    def decide(self, dedup: Dedup, index: Path | None, run: str) -> None:
        """Find the replicas, unless an earlier run has found them.

        `index` contains the kept pages of earlier runs. The kept pages of this run are added under the name `run`.
        """
        with open_database(self.directory / DECISIONS) as decisions:
            if decisions.execute("select 1 from sqlite_master where name = 'decision'").fetchone():
                return
            with open_database(index) as kept:
                self._decide(dedup, Index(dedup.detector(), kept, run), decisions)
                kept.execute("commit")
            decisions.execute("commit")  # last: if the program is killed before, everything is decided again

    def _decide(self, dedup: Dedup, index: Index, decisions: Any) -> None:
        """Write a table of replicas. Candidates are sorted on disk, so memory stays bounded."""
        index.forget_run()
        decisions.execute(
            "create table candidate (number integer primary key, length integer, signature blob, description text)"
        )
        decisions.execute("create table decision (number integer primary key, repeats text)")
        for part, first in zip(self.parts, self.firsts, strict=False):
            with (self.directory / part).open("rb") as log:
                for number, (record, outcome, _) in enumerate(read_log(log), first):
                    if outcome.signed is not None:
                        description = json.dumps(describe_place(record, outcome))
                        row = (number, outcome.signed.length, outcome.signed.signature, description)
                        decisions.execute("insert into candidate values (?, ?, ?, ?)", row)
        order = "length desc, number" if dedup.keep == Keep.LONGEST else "number"
        rows = decisions.execute(f"select number, signature, description from candidate order by {order}")
        decisions.executemany("insert into decision values (?, ?)", decide(rows, index))
