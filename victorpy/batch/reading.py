"""Reading in a child process: for files on which a library may crash, and for engines that do not survive a crash.

The child reads some records ahead and keeps its place in the file. Where reading ends it, what came before is had, and
a failed record says from where on the file was not read.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from victorpy.batch.guard import BATCH_BYTES, BATCH_PAGES, Guard, Limits, Task, has_pebble
from victorpy.batch.inputs import InputFile, read_file, unread_record
from victorpy.batch.reasons import Problem
from victorpy.batch.records import Record
from victorpy.batch.sources import ReadOptions, source_of
from victorpy.batch.worker import Work
from victorpy.cleaner import Cleaner
from victorpy.errors import VictorError

_PATIENCE = 300.0
"""Seconds more than for a page that reading may take: a stretch of an archive without any page is long."""


class Unit(NamedTuple):
    """A file, or a stretch of one, that is read."""

    number: int
    """Of the file, among all."""
    path: str
    place: str
    name: str
    start: int = 0
    end: int | None = None
    """The position that it ends before."""
    base: str = ""
    """The directory that its path starts from: other machines have others of their own."""


class Reader:
    """Reads files; those that may crash their reader in a child, which is started when the first of them comes."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._guard: Guard | None = None

    def read(self, file: InputFile, options: ReadOptions, start: int = 0) -> Iterator[Record]:
        """Read the records of a file, from a position on."""
        source = source_of(file.path)
        if source is None or not source.crashes or not has_pebble():
            return read_file(file, options, start)
        self._guard = self._guard or reading_guard(self._limits)
        return read_unit(self._guard, Unit(0, str(file.path), str(file.place), file.name, start), options)

    def close(self) -> None:
        """End the child."""
        if self._guard is not None:
            self._guard.stop()


def reading_guard(limits: Limits) -> Guard:
    """A child that reads: without a model, and never replaced in the middle of a file unless it dies."""
    return Guard(Work(_libraries), replace(limits, jobs=1, memory=4 * limits.memory, recycle=0))


def _libraries() -> Cleaner:
    """Load what reading needs, before memory is limited, and no model.

    Arrow's own allocator and its threads set gigabytes of address space aside, which the limit would count as used:
    it does with the system's, and a small table is read here and now, so that what is set aside for all is there.
    """
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # read when Arrow is loaded; what it calls itself keeps to it
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
    """Read a unit's records in a child, a few ahead; where reading ends the child, it is said behind which record."""
    count, after = BATCH_PAGES, None
    task = _reading(guard, unit, options, after, count)
    while True:
        found = guard.result(task)
        if isinstance(found, VictorError):
            raise found
        if isinstance(found, Problem):
            if count == 1:
                yield unread_record(unit.path, unit.start - 1 if after is None else after, *found)
                return
            count = 1  # so that all before the one at fault are had
            task = _reading(guard, unit, options, after, count)
            continue
        if not found:
            return
        after = found[-1].origin.position
        task = _reading(guard, unit, options, after, count)
        yield from found


def _reading(guard: Guard, unit: Unit, options: ReadOptions, after: int | None, count: int) -> Task[int]:
    task = Task(read_some, [count], (unit, options, after), allowance=_PATIENCE)
    guard.submit(task)
    return task


# In the child.


class _Open:
    """The file that this child is reading."""

    at: tuple[Unit, int | None] | None = None
    records: Iterator[Record] = iter(())


def read_some(unit: Unit, options: ReadOptions, after: int | None, counts: Sequence[int]) -> list[Record] | VictorError:
    """Read the next records of a unit, behind one that is known; none are left where none come."""
    if _Open.at != (unit, after):
        _Open.records = unit_records(unit, options, after)
    found: list[Record] = []
    size = 0
    try:
        for record in _Open.records:
            found.append(record)
            size += len(record.payload)
            if len(found) >= counts[0] or size >= BATCH_BYTES:
                break
    except VictorError as error:  # wrong usage, such as a column that is not there: whoever asked is told
        return error
    _Open.at = (unit, found[-1].origin.position if found else after)
    return found


def unit_records(unit: Unit, options: ReadOptions, after: int | None = None) -> Iterator[Record]:
    """Read the records of a unit, or those behind one that is known."""
    with suppress(OSError):  # it is said of the file that it cannot be read
        os.chdir(unit.base or ".")
    file = InputFile(Path(unit.path), Path(unit.place), unit.name)
    for record in read_file(file, options, unit.start if after is None else after):
        if unit.end is not None and record.origin.position >= unit.end:
            return
        if after is None or record.origin.position > after:
            yield record
