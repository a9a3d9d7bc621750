"""Parts: workers write pieces of output and join them, and the main process adds the parts to the manifest."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from victorpy.batch.local.logs import PIECE, Segment, Stretch, read_logs
from victorpy.batch.local.pool import Here, Report, Task, Workers
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.stretches import state
from victorpy.batch.outcome import Outcome, Tally
from victorpy.batch.plan import Plan
from victorpy.batch.record import Problem, Record
from victorpy.batch.sinks import Folder, Sink, make_sink
from victorpy.batch.store import Store
from victorpy.errors import VictorError

_WAITING = 8
"""Maximum number of waiting tasks per worker."""


def write_piece(
    plan: Plan,
    sink: Sink,
    log: Path,
    decisions: Path | None,
    first: int,
    seen: Callable[[Record, Outcome], object] = lambda record, outcome: None,
) -> dict[str, Any]:
    """Write the records of a log as a piece of output beside it. The first record has the number `first`.

    Returns the tally for the manifest. `decisions` is a directory with decisions about replicas.
    """
    tally = Tally()

    def items() -> Iterator[tuple[Record, Outcome]]:
        for record, outcome in read_logs([log], plan.dedup, decisions, first):
            tally.add(record, outcome)
            seen(record, outcome)
            yield record, outcome

    sink.write(log.with_suffix(PIECE), items())
    return tally.as_dict()


def _write_in_worker(log: Path, decisions: Path, first: int, report: Report) -> dict[str, Any]:
    plan = state().plan
    return write_piece(plan, make_sink(plan), log, decisions, first)


def _join_in_worker(pieces: list[Path], temporary: Path, report: Report) -> str:
    """Join pieces to a part. Returns the digest of the part."""

    def each() -> Iterator[Path]:
        for piece in pieces:
            report(None)  # a worker that reports nothing would be ended
            yield piece

    make_sink(state().plan).join(temporary, each())
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Part:
    """An unfinished part."""

    def __init__(self, path: Path, temporary: Path) -> None:
        self.path, self.temporary = path, temporary
        self.segments: list[Segment] = []
        self.pages = self.size = 0
        self.tally = Tally()
        self.pieces: deque[_Step] = deque()
        """Pieces that are not counted yet."""
        self.joining: _Step | None = None
        self.is_full = False


class _Step(Task):
    """A task that writes a piece of a part, or joins its pieces."""

    def __init__(self, writer: PartWriter, function: Callable[..., Any], *arguments: Any) -> None:
        super().__init__(function, *arguments)
        self._writer = writer
        self._has_died = False

    def died(self, problem: Problem) -> Task | None:
        """Try again once, because the worker may have been ended by somebody else."""
        if self._has_died:
            return super().died(problem)
        self._has_died = True
        return self

    def ended(self, result: Any) -> None:
        super().ended(result)
        self._writer.go_on()


class PartWriter:
    """Writes segments into parts, in order.

    Workers write the pieces. For a folder, the main process does, because file names depend on all previous names.
    """

    def __init__(
        self, plan: Plan, store: Store, sink: Sink, pool: Workers | Here, progress: Progress, decisions: Path | None
    ) -> None:
        """`decisions` is a directory with decisions about replicas."""
        self.committed: Callable[[], object] = lambda: None
        """Called after each part."""
        self._plan, self._store, self._sink, self._pool, self._progress = plan, store, sink, pool, progress
        self._decisions = decisions
        self._most = plan.shard_records or sink.shard_records
        self._number = len(store.parts)
        self._records = store.counts.pages
        self._parts: deque[_Part] = deque()

    @property
    def written(self) -> int:
        """Number of records in the output. In a folder, texts are written before their part."""
        return self._records if isinstance(self._sink, Folder) else self._store.counts.pages

    def add(self, segment: Segment) -> None:
        """Add the next segment to the current part, or to a new part if the current one would have too many records."""
        pages = segment.tally["pages"]
        part = self._parts[-1] if self._parts and not self._parts[-1].is_full else None
        if part and self._most and part.pages + pages > self._most:
            self._end(part)
            part = None
        if part is None:
            part = _Part(*self._store.part_path(self._number, self._sink.folder, self._sink.suffix))
            self._parts.append(part)
            self._number += 1
        log = self._log(segment)
        if isinstance(self._sink, Folder):
            seen = self._progress.report
            part.tally.add_stored(write_piece(self._plan, self._sink, log, self._decisions, self._records, seen))
        else:
            for failure in segment.tally["failures"]:
                self._progress.failed(failure)
            if segment.checksum is not None:  # there is a piece already
                part.tally.add_stored(segment.tally)
            else:
                part.pieces.append(_Step(self, _write_in_worker, log, self._decisions, self._records))
                self._pool.queue.append(part.pieces[-1])
        part.segments.append(segment)
        part.pages += pages
        part.size += segment.row_bytes
        self._records += pages
        if part.pages == self._most if self._most else part.size >= self._sink.shard_bytes:
            self._end(part)
        while len(self._pool.queue) > _WAITING * self._pool.jobs:
            self._pool.step(lambda worker: None)

    def _log(self, segment: Segment) -> Path:
        return self._store.segments / f"{segment.stretch.name}.log"

    def _end(self, part: _Part) -> None:
        part.is_full = True
        self.go_on()

    def go_on(self) -> None:
        """Join the pieces of full parts, and add finished parts to the manifest, in order."""
        for part in self._parts:
            while part.pieces and part.pieces[0].is_done:
                part.tally.add_stored(self._result(part, part.pieces.popleft()))
            if part.is_full and not part.pieces and part.joining is None:
                pieces = [self._log(segment).with_suffix(PIECE) for segment in part.segments]
                part.joining = _Step(self, _join_in_worker, pieces, part.temporary)
                self._pool.queue.append(part.joining)
        while self._parts and (joined := self._parts[0].joining) and joined.is_done:
            part = self._parts.popleft()
            last = part.segments[-1]
            following = last.following or Stretch(last.stretch.group + 1)
            # Leave out the offset. It is unknown if rows were reused, and the manifest must not depend on that.
            entry = {"last": last.last, "next": following[:-1], **part.tally.as_dict()}
            self._store.commit(part.path, part.temporary, self._result(part, joined), entry)
            for segment in part.segments:
                log = self._log(segment)
                log.with_suffix(PIECE).unlink(missing_ok=True)
                if self._decisions is None:
                    log.unlink(missing_ok=True)
            self.committed()

    def _result(self, part: _Part, step: _Step) -> Any:
        if isinstance(step.result, Problem):
            raise VictorError(f"{part.path}: cannot be written: {step.result.words}")
        return step.result

    def finish(self) -> None:
        """Write the last part, and wait for all parts."""
        if self._parts and not self._parts[-1].is_full:
            self._end(self._parts[-1])
        while self._parts:
            self._pool.step(lambda worker: None)
