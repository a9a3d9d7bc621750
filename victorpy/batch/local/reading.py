"""Reading in a child process: for files on which a library may crash, and for engines that do not survive a crash.

The child reads some records ahead and keeps the file open. If it dies, the records before are kept, and one failed
record is written for the rest of the file.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from victorpy.batch.inputs import InputFile, read_file, unread_record
from victorpy.batch.local.guard import BATCH_BYTES, BATCH_PAGES, Guard, Task, has_pebble
from victorpy.batch.local.worker import limit_memory
from victorpy.batch.plan import Limits
from victorpy.batch.reasons import Problem
from victorpy.batch.record import Record
from victorpy.batch.sources import ReadOptions, source_of
from victorpy.errors import VictorError

_PATIENCE = 300.0
"""Seconds that reading may take in addition to those for a page: archives have long stretches without any page."""


class Reader:
    """Reads files; those that may crash their reader in a child, which is started for the first of them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._guard: Guard | None = None

    def read(self, file: InputFile, options: ReadOptions, start: int = 0) -> Iterator[Record]:
        """Read the records of a file, starting at a record number."""
        source = source_of(file.path)
        if source is None or not source.crashes or not has_pebble():
            return read_file(file, options, start)
        self._guard = self._guard or reading_guard(self._limits)
        return read_guarded(self._guard, file, options, start)

    def close(self) -> None:
        if self._guard is not None:
            self._guard.stop()


def reading_guard(limits: Limits) -> Guard:
    """Start a child that reads. It has no model, and is only replaced in the middle of a file if it dies."""
    return Guard(_start, replace(limits, jobs=1, memory=4 * limits.memory, recycle=0))


def _start(memory: int) -> None:
    """Load what reading needs, and then limit memory.

    Arrow's own allocator and its threads reserve gigabytes of address space, which the limit would count as used.
    So Arrow uses the system's allocator, and reads a small table now to reserve what it needs for all others.
    """
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # read when Arrow is loaded, for its internal allocations
    with suppress(ImportError):
        import pyarrow.parquet

        pyarrow.set_memory_pool(pyarrow.system_memory_pool())
        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)
        table = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table({"page": ["tea"]}), table)
        for _ in pyarrow.parquet.ParquetFile(table).iter_batches():
            pass
    limit_memory(memory)


def read_guarded(guard: Guard, file: InputFile, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read a file's records in a child, a few ahead. Where reading ends the child, the rest is one failed record."""

    def submit() -> Task[int]:
        task = Task(read_some, [count], (file, options, position), allowance=_PATIENCE)
        guard.submit(task)
        return task

    count, position = BATCH_PAGES, max(start, file.start)
    task = submit()
    while records := guard.result(task):
        if isinstance(records, VictorError):
            raise records
        if not isinstance(records, Problem):
            position = records[-1].origin.position + 1
            task = submit()
            yield from records
        elif count > 1:
            count = 1  # so that all records before the one at fault are read
            task = submit()
        else:
            yield unread_record(str(file.path), position, *records)
            return


# In the child.


class _Open:
    """The file that this child is reading."""

    at: tuple[InputFile, int] | None = None
    """Which file, and the number of the next record."""
    records: Iterator[Record] = iter(())


def read_some(
    file: InputFile, options: ReadOptions, position: int, counts: Sequence[int]
) -> list[Record] | VictorError:
    """Read the next records of a file, starting at a record number. Returns none at its end."""
    if _Open.at != (file, position):
        with suppress(OSError):  # that the file cannot be read is reported for the file
            os.chdir(file.base or ".")
        _Open.records = read_file(file, options, position)
    records: list[Record] = []
    size = 0
    try:
        for record in _Open.records:
            records.append(record)
            size += len(record.payload)
            if len(records) >= counts[0] or size >= BATCH_BYTES:
                break
    except VictorError as error:  # wrong usage, such as a column that is not there
        return error
    _Open.at = (file, records[-1].origin.position + 1 if records else position)
    return records
