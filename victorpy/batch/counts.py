"""Counts of records, by status and by kind of problem, and the lists of records that failed or repeat another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from victorpy.batch.outcome import Outcome, describe_place
from victorpy.batch.record import Record, Status

ROW_BYTES = 700
"""Average size of a row without its text."""


class Counts:
    """Number of records by status and by kind of problem, and their total size."""

    def __init__(self, entry: Mapping[str, Any] | None = None) -> None:
        self.statuses: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.bytes = 0
        if entry:
            self.add_stored(entry)

    def count(self, outcome: Outcome) -> None:
        """Count a record."""
        self.statuses[str(outcome.status)] += 1
        self.bytes += outcome.size
        if outcome.kind is not None:
            self.kinds[str(outcome.kind)] += 1

    def add_stored(self, entry: Mapping[str, Any]) -> None:
        """Add counts that `as_dict` returned."""
        self.statuses.update({str(status): int(entry.get(str(status), 0)) for status in Status})
        self.kinds.update(entry["kinds"])
        self.bytes += int(entry["bytes"])

    @property
    def pages(self) -> int:
        """Number of records."""
        return sum(self.statuses.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the counts by name."""
        by_status = {str(status): self.statuses[str(status)] for status in Status}
        return {"pages": self.pages, **by_status, "bytes": self.bytes, "kinds": dict(sorted(self.kinds.items()))}


class Tally(Counts):
    """What a manifest says about some records: their counts, and which of them failed or repeat another."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[dict[str, Any]] = []
        self.repeats: list[dict[str, Any]] = []
        self.row_bytes = 0
        """About the size of the rows. It does not depend on how they are stored."""

    def add(self, record: Record, outcome: Outcome) -> None:
        """Count a record."""
        self.count(outcome)
        self.row_bytes += ROW_BYTES + len(outcome.text)
        if outcome.status is Status.FAILED:
            self.failures.append(describe_failure(record, outcome))
        if outcome.repeats is not None:
            self.repeats.append({**describe_place(record, outcome), "repeats": outcome.repeats})

    def add_stored(self, entry: Mapping[str, Any]) -> None:
        super().add_stored(entry)
        self.failures += entry["failures"]
        self.repeats += entry["repeats"]

    def as_dict(self) -> dict[str, Any]:
        return {**super().as_dict(), "failures": self.failures, "repeats": self.repeats}


def describe_failure(record: Record, outcome: Outcome) -> dict[str, Any]:
    """Return the line of failed.jsonl for a record. A retry finds the record by it."""
    return {
        "name": record.name,
        "url": record.url,
        "source": record.origin.source,
        "position": record.origin.position,
        "rest": record.origin.rest,
        "place": record.place.as_posix(),
        "kind": str(outcome.kind or ""),
        "reason": outcome.reason,
    }
