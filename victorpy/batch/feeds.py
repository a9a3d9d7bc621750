"""Where a run's tasks come from: records in their order, a few to each task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from victorpy.batch import worker
from victorpy.batch.guard import BATCH_BYTES, BATCH_PAGES, Guard, Task, Unguarded
from victorpy.batch.inputs import InputFile, Mark, Read, read_file, read_files
from victorpy.batch.records import Record
from victorpy.batch.sources import ReadOptions


class Feed(Protocol):
    """Makes the tasks of a run."""

    def tasks(self, after: Mark | None, guard: Guard | Unguarded) -> Iterator[Task[Any]]:
        """Yield all tasks, or those from a mark on."""

    def close(self) -> None:
        """Delete temporary files."""


class InputFeed:
    """Makes tasks of the records of files, in their order."""

    def __init__(self, files: Iterable[InputFile], options: ReadOptions, read: Read = read_file) -> None:
        self._files = files
        self._options = options
        self._read = read

    def tasks(self, after: Mark | None, guard: Guard | Unguarded) -> Iterator[Task[Record]]:
        return batches(read_files(self._files, self._options, after, self._read))

    def close(self) -> None:
        pass


def batches(records: Iterable[tuple[Mark, Record]]) -> Iterator[Task[Record]]:
    """Put a few records into each task: many small ones or one large."""
    batch: list[tuple[Mark, Record]] = []
    size = 0
    for mark, record in records:
        batch.append((mark, record))
        size += len(record.payload)
        if len(batch) >= BATCH_PAGES or size >= BATCH_BYTES:
            yield _task(batch, size)
            batch, size = [], 0
    if batch:
        yield _task(batch, size)


def _task(batch: list[tuple[Mark, Record]], size: int) -> Task[Record]:
    return Task(worker.clean_batch, [record for _, record in batch], told=batch, size=size)
