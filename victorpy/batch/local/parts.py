"""Parts: workers write finished logs as parts of the output, and the main process adds the parts to the manifest."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from victorpy.batch.counts import Tally
from victorpy.batch.local.logs import Log, Segment, Stretch, read_logs
from victorpy.batch.local.pool import Here, Report, Task, Workers
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.stretches import state
from victorpy.batch.outcome import Outcome
from victorpy.batch.plan import Plan
from victorpy.batch.record import Problem, Record
from victorpy.batch.sinks import Folder, Sink, make_sink
from victorpy.batch.store import Store
from victorpy.errors import VictorError


@dataclass(frozen=True, slots=True)
class Part:
    """The logs of a part, and where to write it."""

    path: Path
    temporary: Path
    logs: list[Path]
    entry: Mapping[str, Any]
    """The places in the inputs at which the part ends, for the manifest."""
    decisions: Path | None = None
    """Directory with decisions about replicas, and the number of the first record."""
    first: int = 0


def write_part(
    plan: Plan, part: Part, sink: Sink | None, seen: Callable[[Record, Outcome], object] | None = None
) -> tuple[str, dict[str, Any]]:
    """Write a part, or another log if there is no sink. Returns its digest, and what the manifest says about it."""
    tally = Tally()

    def items() -> Iterator[tuple[Record, Outcome]]:
        for record, outcome in read_logs(part.logs, plan.dedup, part.decisions, part.first):
            tally.add(record, outcome)
            if seen is not None:
                seen(record, outcome)
            yield record, outcome

    if sink is not None:
        sink.write(part.temporary, items())
    else:
        part.temporary.unlink(missing_ok=True)
        with Log(part.temporary) as log:
            for record, outcome in items():
                log.add(record, outcome)
    with part.temporary.open("rb") as file:
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest(), tally.as_dict()


def _write_in_worker(part: Part, is_final: bool, report: Report) -> tuple[str, dict[str, Any]]:
    plan, numbers = state().plan, count(1)

    def seen(record: Record, outcome: Outcome) -> None:
        if next(numbers) % 1_000 == 0:
            report(None)  # a silent worker would be ended

    return write_part(plan, part, make_sink(plan) if is_final else None, seen)


class _Writing(Task):
    """Writes a part in a worker. The part is added to the manifest as soon as all parts before it are."""

    def __init__(self, writer: PartWriter, part: Part) -> None:
        super().__init__(_write_in_worker, part, writer.is_final)
        self.part, self._writer = part, writer

    def ended(self, result: Any) -> None:
        super().ended(result)
        self._writer.commit_finished()


class PartWriter:
    """Makes parts of logs, in order. Workers write them, except a folder, whose names depend on all names before."""

    def __init__(
        self, plan: Plan, store: Store, sink: Sink, pool: Workers | Here, progress: Progress, is_final: bool = True
    ) -> None:
        """If it is not final, parts are logs too, because replicas are not known yet."""
        self.is_final = is_final
        self.committed: Callable[[], object] = lambda: None
        """Called after each part."""
        self._plan, self._store, self._sink, self._pool, self._progress = plan, store, sink, pool, progress
        self._most = plan.shard_records or sink.shard_records
        self._segments: list[Segment] = []
        self._number = len(store.parts)
        self._writing: deque[_Writing] = deque()
        store.segments.mkdir(exist_ok=True)

    def add(self, segment: Segment) -> None:
        """Add the next segment to the part, or to a new one if the part would have too many records."""
        pages = sum(one.tally["pages"] for one in self._segments) + segment.tally["pages"]
        if self._most and self._segments and pages > self._most:
            self._end_part()
            pages = segment.tally["pages"]
        self._segments.append(segment)
        if self.is_final and not isinstance(self._sink, Folder):
            self._report(segment.tally)
        size = sum(one.row_bytes for one in self._segments)
        if pages == self._most if self._most else size >= self._sink.shard_bytes:
            self._end_part()

    def _report(self, tally: Mapping[str, Any]) -> None:
        for failure in tally["failures"]:
            self._progress.failed(failure)

    def _end_part(self) -> None:
        last = self._segments[-1]
        following = last.following or Stretch(last.stretch.group + 1)
        logs = [self._store.segments / f"{segment.stretch.name}.log" for segment in self._segments]
        # Without the offset, which is not known if rows were used again: the manifest must be the same.
        self.write(logs, {"last": last.last, "next": following[:-1]})
        self._segments = []

    def write(self, logs: list[Path], entry: Mapping[str, Any], decisions: Path | None = None, first: int = 0) -> None:
        """Write the next part."""
        folder, suffix = (self._sink.folder, self._sink.suffix) if self.is_final else ("", ".log")
        path, temporary = self._store.part_path(self._number, folder, suffix)
        self._number += 1
        task = _Writing(self, Part(path, temporary, logs, entry, decisions, first))
        self._writing.append(task)
        if self.is_final and isinstance(self._sink, Folder):
            task.ended(write_part(self._plan, task.part, self._sink, self._progress.report))
        else:
            self._pool.queue.append(task)

    def finish(self) -> None:
        """Write the last part, and wait for all parts."""
        if self._segments:
            self._end_part()
        while self._writing:
            self._pool.step(lambda worker: None)

    def commit_finished(self) -> None:
        """Add finished parts to the manifest, in order, and delete their segments."""
        while self._writing and self._writing[0].is_done:
            task = self._writing.popleft()
            part = task.part
            if isinstance(task.result, Problem):
                raise VictorError(f"{part.path}: cannot be written: {task.result.words}")
            digest, tally = task.result
            self._store.commit(part.path, part.temporary, digest, {**part.entry, **tally})
            if part.decisions is None:
                for log in part.logs:
                    log.unlink(missing_ok=True)
            elif not isinstance(self._sink, Folder):
                self._report(tally)
            self.committed()
