"""Deduplication in a local run, as a pass between cleaning and writing.

All records are cleaned and signed into a temporary store of logs. Then one pass finds the replicas
(`batch/replicas.py: decide_records`). Finally, workers write the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from victorpy.batch.inputs import Group, InputFile
from victorpy.batch.local.stretches import Item, Read, read_log
from victorpy.batch.outcome import Outcome
from victorpy.batch.plan import Plan
from victorpy.batch.record import Record
from victorpy.batch.replicas import Decisions, decide_records
from victorpy.batch.store import Store, read_entries
from victorpy.dedup.find import Loss


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
        """Read a part with final outcomes. The decisions stay open for the next part."""
        assert plan.dedup is not None
        decisions = Decisions(plan.dedup, self.directory)

        def read(file: InputFile) -> Iterator[Item]:
            with file.path.open("rb") as log:
                log.seek(file.offset)
                offset = file.offset
                for number, (record, outcome, end) in enumerate(read_log(log), file.start):
                    final = decisions.apply(self.firsts[file.number] + number, outcome)
                    yield Item(record, final, (number, offset))
                    offset = end

        return read

    def decide(self, plan: Plan, index: Path | None = None, run: str = "") -> list[Loss]:
        """Find the replicas, and return the sites that lose many pages.

        `index` has the kept texts of earlier runs and gets those of this run, whose name is `run`.
        """
        assert plan.dedup is not None
        decide_records(plan.dedup, self._records(), self.directory, index, run, plan.site_key)
        with Decisions(plan.dedup, self.directory) as decisions:
            return decisions.losses()

    def _records(self) -> Iterator[tuple[Record, Outcome]]:
        for part in self.parts:
            with (self.directory / part).open("rb") as log:
                yield from ((record, outcome) for record, outcome, _ in read_log(log))
