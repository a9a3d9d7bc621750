"""The rows of an earlier run over inputs that have changed since. Unchanged files are not cleaned again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.batch.inputs import InputFile, Stamps, is_unread, read_file
from victorpy.batch.outcome import Outcome, stored_outcome
from victorpy.batch.plan import Plan
from victorpy.batch.record import Origin, Record, Status
from victorpy.batch.sinks import SINKS, Sink
from victorpy.batch.sources import place_of, source_of
from victorpy.batch.store import Store
from victorpy.outputs import find_output

Item = tuple[Record, Outcome | None]
"""A record, and its outcome if it is known already."""
Read = Callable[[InputFile], Iterator[Item]]


@dataclass(slots=True)
class Previous:
    """The parts of an earlier run. Each worker reads them in the order of its inputs."""

    parts: list[Path]
    last: tuple[int, int] | None
    """Number of the file and of the record in it at which the earlier run has stopped, if it is not complete."""
    places: dict[tuple[str, int], Path]
    """Output paths of the failed records."""
    stamps: Stamps
    numbers: npt.NDArray[np.intp]
    """The earlier number of each input file, or -1 if it is new or has changed."""

    @classmethod
    def of(cls, store: Store, stamps: Stamps) -> Previous:
        parts, last, failures = store.previous_parts()
        places = {(line["source"], line["position"]): Path(line["place"]) for line in failures}
        old = store.previous_stamps()
        return cls(parts if len(old) else [], last, places, old, stamps.unchanged_from(old))

    def open(self, plan: Plan) -> Read:
        sink = SINKS.get(plan.to)(plan.to, Path(plan.output or ""), find_output(plan.format))
        return _Rows(self, plan, sink).read


@dataclass(slots=True)
class _Rows:
    """The rows of an earlier run in a worker."""

    previous: Previous
    plan: Plan
    sink: Sink
    rows: Iterator[dict[str, Any]] = field(default_factory=lambda: iter(()))
    row: dict[str, Any] | None = None
    key: tuple[int, int] = (-1, -1)
    """Number of the file of the row, and of the record in it."""

    def read(self, file: InputFile) -> Iterator[Item]:
        """Read a file. Records that need not be cleaned come with their outcome."""
        plan, start = self.plan, file.start
        old, last = int(self.previous.numbers[file.number]), self.previous.last
        is_complete = last is None or old < last[0]
        if old >= 0 and (is_complete or (last is not None and old == last[0])):
            for fields in self._rows_of(old, start):
                position = fields["position"]
                if file.end is not None and position >= file.end:
                    return
                start = position + 1
                if fields["text"] is None or (plan.plain and fields["status"] == Status.FAILED):
                    yield from ((record, None) for record in islice(read_file(file, plan.read, position), 1))
                else:
                    yield self._record(file, fields), stored_outcome(fields, self.sink.output.columns)
            if is_complete:
                return
            start = max(start, last[1] if last else 0)
        offset = file.offset if start == file.start else 0
        yield from ((record, None) for record in read_file(file._replace(offset=offset), plan.read, start))

    def _rows_of(self, number: int, start: int) -> Iterator[dict[str, Any]]:
        if self.row is None or self.key > (number, start):
            self.rows = (row for part in self.previous.parts for row in self.sink.rows(part))
            self._advance()
        while self.row is not None and self.key < (number, start):
            self._advance()
        while self.row is not None and self.key[0] == number:
            yield self.row
            self._advance()

    def _advance(self) -> None:
        source = self.row and self.row["source"]
        self.row = next(self.rows, None)
        if self.row is not None:
            is_same = self.row["source"] == source
            number = self.key[0] if is_same else self.previous.stamps.number_of(self.row["source"])
            self.key = number, self.row["position"]

    def _record(self, file: InputFile, fields: dict[str, Any]) -> Record:
        name, source, position = fields["name"], fields["source"], fields["position"]
        url = fields["url"] if fields["url"] == name else ""  # otherwise the page itself has named its address
        place, reached = file.place, 0
        if source_of(file.path) is not None:
            by_url = place_of(url, f"{Path(source).name}-{position}")
            place, reached = self.previous.places.get((source, position), by_url), file.path.stat().st_size
        origin = Origin(source, position, is_unread(fields["reason"]))
        return Record(name, place, url=url, origin=origin, date=fields["crawled"], reached=reached)
