"""Read files in a child process: for libraries that may crash, and for engines that do not survive a crash.

The child reads some records ahead and keeps the file open. If it dies, the records before the crash are kept, and the
rest of the file becomes one failed record.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from victorpy.base.child import limit_memory
from victorpy.batch.inputs import InputFile, Read, read_file, unread_record
from victorpy.batch.local.guard import (
    BATCH_BYTES,
    BATCH_PAGES,
    Guard,
    Task,
    end_with_main_process,
    has_pebble,
)
from victorpy.batch.plan import Limits
from victorpy.batch.record import Problem, Record
from victorpy.batch.sources import ReadOptions, source_of
from victorpy.errors import VictorError

_PATIENCE = 300.0
"""Seconds for reading, in addition to the seconds for a page. Archives have long stretches without a page."""


@contextmanager
def file_reader(limits: Limits) -> Iterator[Read]:
    """Return a function that reads files, in a child process if the library may crash."""
    guard: Guard | None = None

    def read(file: InputFile, options: ReadOptions, start: int = 0) -> Iterator[Record]:
        nonlocal guard
        source = source_of(file.path)
        if source is None or not source.crashes or not has_pebble():
            return read_file(file, options, start)
        guard = guard or reading_guard(limits)
        return read_guarded(guard, file, options, start)

    try:
        yield read
    finally:
        if guard is not None:
            guard.stop()


def reading_guard(limits: Limits) -> Guard:
    """Start a child that reads. It is never replaced in the middle of a file unless it dies."""
    return Guard(_start, replace(limits, jobs=1, memory=4 * limits.memory, recycle=0))


def _start(memory: int) -> None:
    """Load the libraries that read files, and then limit memory.

    The allocator and the threads of Arrow reserve gigabytes of address space, which would count for the limit. So use
    the system allocator, and read a small table before the limit is set.
    """
    end_with_main_process()
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # Arrow reads this variable when it is imported
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
    """Read records in a child, a few ahead. If a record ends the child, the rest of the file is one failed record."""

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
            count = 1  # read all records before the bad one
            task = submit()
        else:
            yield unread_record(str(file.path), position, *records)
            return


class _Open:
    """The file that this child is reading."""

    at: tuple[InputFile, int] | None = None
    """The file and the number of the next record."""
    records: Iterator[Record] = iter(())


def read_some(
    file: InputFile, options: ReadOptions, position: int, counts: Sequence[int]
) -> list[Record] | VictorError:
    """Read the next records of a file in the child. Returns an empty list at the end of the file."""
    if _Open.at != (file, position):
        with suppress(OSError):  # reading the file reports the error
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
    except VictorError as error:  # wrong usage, such as a missing column
        return error
    _Open.at = (file, records[-1].origin.position + 1 if records else position)
    return records
