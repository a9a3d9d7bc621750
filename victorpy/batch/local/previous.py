"""The rows of an earlier run over inputs that have changed since. Unchanged files are not cleaned again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from victorpy.batch.inputs import InputFile, Mark, Read, Stamps, is_unread
from victorpy.batch.local.guard import Task, clean_batch, cleaning_tasks
from victorpy.batch.outcome import Outcome, stored_outcome
from victorpy.batch.plan import Plan
from victorpy.batch.record import Origin, Record, Status
from victorpy.batch.sinks import Sink
from victorpy.batch.sources import place_of, source_of
from victorpy.batch.store import Counts, Store


class Previous:
    """The parts of an earlier run, read in the order of its inputs."""

    def __init__(self, store: Store, sink: Sink, stamps: Stamps) -> None:
        self._sink = sink
        self.reused = Counts()
        """Counts of the records that were not cleaned again."""
        self.stamps = store.previous_stamps()
        self.numbers = stamps.unchanged_from(self.stamps)
        """The earlier number of each input file, or -1 if it is new or has changed."""
        self._parts, self._last, failures = store.previous_parts()
        self._places = {(line["source"], line["position"]): Path(line["place"]) for line in failures}
        self._sources = groupby(self._rows(), key=lambda fields: self.stamps.number_of(fields["source"]))
        self._source = next(self._sources, None)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for part in self._parts if len(self.stamps) else ():
            yield from self._sink.rows(part)

    def _rows_of(self, number: int) -> Iterator[dict[str, Any]]:
        while self._source is not None and self._source[0] < number:
            self._source = next(self._sources, None)
        if self._source is not None and self._source[0] == number:
            yield from self._source[1]

    def read(
        self, number: int, file: InputFile, plan: Plan, read: Read, start: int
    ) -> Iterator[tuple[Record, Outcome | None]]:
        """Read a file, starting at a record number. Records that need not be cleaned come with their outcome."""
        old = int(self.numbers[number])
        is_complete = self._last is None or old < self._last.file
        if old >= 0 and (is_complete or (self._last is not None and old == self._last.file)):
            for fields in self._rows_of(old):
                position = fields["position"]
                if position < start:
                    continue
                start = position + 1
                if fields["text"] is None or (plan.plain and fields["status"] == Status.FAILED):
                    yield from ((record, None) for record in islice(read(file, plan.read, position), 1))
                else:
                    outcome = stored_outcome(fields, self._sink.output.columns)
                    self.reused.add(outcome)
                    yield self._record(file, fields), outcome
            if is_complete:
                return
            start = max(start, self._last.position if self._last else 0)
        for record in read(file, plan.read, start):
            yield record, None

    def _record(self, file: InputFile, fields: dict[str, Any]) -> Record:
        name, source, position = fields["name"], fields["source"], fields["position"]
        url = fields["url"] if fields["url"] == name else ""  # otherwise the page itself has named its address
        place, reached = file.place, 0
        if source_of(file.path) is not None:
            by_url = place_of(url, f"{Path(source).name}-{position}")
            place, reached = self._places.get((source, position), by_url), file.path.stat().st_size
        origin = Origin(source, position, is_unread(fields["reason"]))
        return Record(name, place, url=url, origin=origin, date=fields["crawled"], reached=reached)


def update_tasks(
    previous: Previous, files: Iterator[InputFile], plan: Plan, read: Read, after: Mark | None, in_batches: bool
) -> Iterator[Task[Record]]:
    """Make tasks for all records. Only those of new and changed files go to workers."""
    after = after or Mark(0, 0)

    def entries() -> Iterator[tuple[Mark, Record, Outcome | None]]:
        for number, file in islice(enumerate(files), after.file, None):
            start = after.position if number == after.file else 0
            for record, outcome in previous.read(number, file, plan, read, start):
                is_last = record.origin.rest
                yield Mark(number + 1, 0) if is_last else Mark(number, record.origin.position + 1), record, outcome

    for is_known, group in groupby(entries(), key=lambda entry: entry[2] is not None):
        if not is_known:
            yield from cleaning_tasks(((mark, record) for mark, record, _ in group), in_batches)
            continue
        for mark, record, outcome in group:
            assert outcome is not None
            yield Task(clean_batch, [], records=[(mark, record)], size=len(outcome.text), outcomes=[outcome])
