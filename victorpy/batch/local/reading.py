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
from pathlib import Path
from typing import NamedTuple, cast

from victorpy.batch.inputs import InputFile, read_file, unread_record
from victorpy.batch.local.guard import BATCH_BYTES, BATCH_PAGES, Guard, Limits, Task, has_pebble
from victorpy.batch.local.worker import Work
from victorpy.batch.reasons import Problem
from victorpy.batch.record import Record
from victorpy.batch.sources import ReadOptions, source_of
from victorpy.cleaner import Cleaner
from victorpy.errors import VictorError

_PATIENCE = 300.0
"""Seconds that reading may take in addition to those for a page: archives have long stretches without any page."""


class Unit(NamedTuple):
    """A file, or a stretch of one, that is read."""

    number: int
    """Number of the file among all."""
    path: str
    place: str
    name: str
    start: int = 0
    """Number of its first record ..."""
    end: int | None = None
    """... and of the first one after it."""
    base: str = ""
    """Directory that its path is relative to; other machines have their own."""
    offset: int = 0
    """Byte offset of the first record, if it is known."""


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
        return read_unit(self._guard, Unit(0, str(file.path), str(file.place), file.name, start), options)

    def close(self) -> None:
        if self._guard is not None:
            self._guard.stop()


def reading_guard(limits: Limits) -> Guard:
    """Start a child that reads. It has no model, and is only replaced in the middle of a file if it dies."""
    return Guard(Work(_libraries), replace(limits, jobs=1, memory=4 * limits.memory, recycle=0))


def _libraries() -> Cleaner:
    """Load what reading needs before memory is limited.

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
    return cast(Cleaner, None)


def read_unit(guard: Guard, unit: Unit, options: ReadOptions) -> Iterator[Record]:
    """Read a unit's records in a child, a few ahead. Where reading ends the child, the rest is one failed record."""

    def submit() -> Task[int]:
        task = Task(read_some, [count], (unit, options, position), allowance=_PATIENCE)
        guard.submit(task)
        return task

    count, position = BATCH_PAGES, unit.start
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
            yield unread_record(unit.path, position, *records)
            return


# In the child.


class _Open:
    """The file that this child is reading."""

    at: tuple[Unit, int] | None = None
    """Which unit, and the number of the next record."""
    records: Iterator[Record] = iter(())


def read_some(unit: Unit, options: ReadOptions, position: int, counts: Sequence[int]) -> list[Record] | VictorError:
    """Read the next records of a unit, starting at a record number. Returns none at its end."""
    if _Open.at != (unit, position):
        _Open.records = (record for record in unit_records(unit, options) if record.origin.position >= position)
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
    _Open.at = (unit, records[-1].origin.position + 1 if records else position)
    return records


def unit_records(unit: Unit, options: ReadOptions) -> Iterator[Record]:
    """Read the records of a unit."""
    with suppress(OSError):  # that the file cannot be read is reported for the file
        os.chdir(unit.base or ".")
    file = InputFile(Path(unit.path), Path(unit.place), unit.name)
    for record in read_file(file, options, unit.start, unit.offset):
        if unit.end is not None and record.origin.position >= unit.end:
            return
        yield record
