"""Where a run's tasks come from: the inputs in their order, or the records that a run before has failed on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from victorpy.batch import worker
from victorpy.batch.guard import BATCH_BYTES, BATCH_PAGES, Guard, Task, Unguarded
from victorpy.batch.inputs import InputFile, Mark, read_file, read_inputs
from victorpy.batch.reasons import Kind
from victorpy.batch.records import Origin, Record, page_record
from victorpy.batch.sources import ReadOptions, source_of
from victorpy.batch.sources.jsonl import broken_record
from victorpy.errors import DataError


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

    def __init__(self, inputs: Sequence[str], options: ReadOptions) -> None:
        self._inputs = inputs
        self._options = options

    def tasks(self, after: Mark | None, guard: Guard | Unguarded) -> Iterator[Task[Record]]:
        """Read records into tasks."""
        return batches(read_inputs(self._inputs, self._options, after))

    def close(self) -> None:
        """Nothing was needed."""


class RetryFeed:
    """The records that a failed.jsonl names, read again where they were found."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path = path
        self._options = options

    def tasks(self, after: Mark | None, guard: Guard | Unguarded) -> Iterator[Task[Record]]:
        """Read the records into tasks."""
        return batches(self._records(after))

    def close(self) -> None:
        """Nothing was needed."""

    def _records(self, after: Mark | None) -> Iterator[tuple[Mark, Record]]:
        first = 0 if after is None else after.position + 1
        found: Iterator[Record] = iter(())
        reading: tuple[str, int] | None = None
        for number, line in enumerate(self._path.read_bytes().splitlines()):
            if number < first:
                continue
            origin, place = _told(self._path, number, line)
            source = source_of(origin.source)
            if source is None:
                yield Mark(0, number), page_record(Path(origin.source), place)
                continue
            # Lines of a compressed file are met in one reading of it; elsewhere one goes to the place.
            if source.seeks or reading is None or reading[0] != origin.source or reading[1] >= origin.position:
                found = read_file(InputFile(Path(origin.source), place, origin.source), self._options, origin.position)
            record = next((each for each in found if each.origin.position >= origin.position), None)
            reading = (origin.source, origin.position)
            if record is None or record.origin.position != origin.position:
                found, reading = iter(()), None
                record = broken_record(origin, Kind.READ, f"there is no record at {origin} any more", 0)
            yield Mark(0, number), replace(record)


def _told(path: Path, number: int, line: bytes) -> tuple[Origin, Path]:
    try:
        told = json.loads(line)
        return Origin(told["source"], int(told["position"]), told["unit"]), Path(told["place"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}:{number + 1}: not a line of a failed.jsonl") from error
