"""Where a run's tasks come from: the inputs in their order, or the records that a run before has failed on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from victorpy.batch import worker
from victorpy.batch.guard import BATCH_BYTES, BATCH_PAGES, Guard, Task, Unguarded
from victorpy.batch.inputs import InputFile, Mark, Read, read_file, read_files, read_inputs
from victorpy.batch.reasons import Kind
from victorpy.batch.records import RECORD_NUMBER, Record, page_record
from victorpy.batch.retry import Failed, read_failed
from victorpy.batch.sources import ReadOptions, source_of
from victorpy.batch.sources.jsonl import broken_record


class Feed(Protocol):
    """Gives the tasks of a run."""

    def tasks(self, after: Mark | None, guard: Guard | Unguarded) -> Iterator[Task[Any]]:
        """All tasks, or those behind a record that is done."""

    def close(self) -> None:
        """Take away what was needed on the way."""


def batches(records: Iterable[tuple[Mark, Record]]) -> Iterator[Task[Record]]:
    """Put a few records into each task: many small ones or one large."""
    told: list[tuple[Mark, Record]] = []
    size = 0
    for mark, record in records:
        told.append((mark, record))
        size += len(record.payload)
        if len(told) >= BATCH_PAGES or size >= BATCH_BYTES:
            yield _task(told, size)
            told, size = [], 0
    if told:
        yield _task(told, size)


def _task(told: list[tuple[Mark, Record]], size: int) -> Task[Record]:
    return Task(worker.clean_batch, [record for _, record in told], told=told, size=size)


class InputFeed:
    """The records of the inputs, as they come."""

    def __init__(self, inputs: Sequence[str], options: ReadOptions, read: Read = read_file) -> None:
        self._inputs = inputs
        self._options = options
        self._read = read

    def tasks(self, after: Mark | None, guard: Guard | Unguarded) -> Iterator[Task[Record]]:
        """Read records into tasks."""
        return batches(read_inputs(self._inputs, self._options, after, self._read))

    def close(self) -> None:
        """Nothing was needed."""


class RetryFeed:
    """The records that a failed.jsonl names, read again where they were found."""

    def __init__(self, path: Path, options: ReadOptions, read: Read = read_file) -> None:
        self._path = path
        self._options = options
        self._read = read
        self._reading: tuple[str, int] | None = None
        self._found: Iterator[Record] = iter(())

    def tasks(self, after: Mark | None, guard: Guard | Unguarded) -> Iterator[Task[Record]]:
        """Read the records into tasks."""
        return batches(self._records(after))

    def close(self) -> None:
        """Nothing was needed."""

    def _records(self, after: Mark | None) -> Iterator[tuple[Mark, Record]]:
        """The records of line after line; a mark is the number of a line, and a position behind it."""
        for number, failed in enumerate(read_failed(self._path)):
            if failed.is_rest:
                yield from self._rest(number, failed, after)
            elif after is None or number > after.file:
                yield Mark(number, 0), self._one(failed)

    def _rest(self, number: int, failed: Failed, after: Mark | None) -> Iterator[tuple[Mark, Record]]:
        """All that could not be read of a file, or what of it is not done yet."""
        if after is not None and number < after.file:
            return
        done = Mark(number, failed.origin.position) if after is None or number > after.file else after
        file = self._file(failed)
        start = Mark(0, max(done.position, 0))
        for mark, record in read_files([file], self._options, start if done.position >= 0 else None, self._read):
            yield Mark(number, mark.position), record

    def _one(self, failed: Failed) -> Record:
        origin = failed.origin
        source = source_of(origin.source)
        if source is None:
            return page_record(Path(origin.source), failed.place)
        # Lines of a compressed file are met in one reading of it; elsewhere one goes to the place.
        reading = self._reading
        seeks = source.seeks and origin.unit != RECORD_NUMBER
        if seeks or reading is None or reading[0] != origin.source or reading[1] >= origin.position:
            self._found = self._read(self._file(failed), self._options, origin.position)
        record = next((each for each in self._found if each.origin.position >= origin.position), None)
        self._reading = (origin.source, origin.position)
        if record is None or record.origin.position != origin.position:
            self._found, self._reading = iter(()), None
            return broken_record(origin, Kind.READ, f"there is no record at {origin} any more", 0)
        return record

    def _file(self, failed: Failed) -> InputFile:
        return InputFile(Path(failed.origin.source), failed.place, failed.origin.source)
