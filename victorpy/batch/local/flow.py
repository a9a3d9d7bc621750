"""Distribute stretches to workers, and return the finished segments in the order of the inputs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from victorpy.batch.inputs import Group
from victorpy.batch.local.logs import Segment, Stretch
from victorpy.batch.local.pool import Here, Task, Workers
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.stretches import Job, run_stretch
from victorpy.batch.record import Problem
from victorpy.errors import VictorError

_WINDOW = 256
"""Number of segments that may wait for an earlier segment, in addition to a few per worker."""


@dataclass(slots=True)
class _Chain:
    """The stretches of a group. The start of a stretch is known when the previous stretch has been read."""

    group: Group
    following: Stretch | None
    """The next stretch to be cleaned, if it is known."""
    is_read: bool = False
    """Whether the last stretch has been read."""
    begun: int = -1
    """Number of the last stretch that was begun."""
    worker: int = -1
    """The number of the worker that has the files open."""
    finished: dict[int, Segment | None] = field(default_factory=dict)

    def go_on(self, following: Stretch | None) -> None:
        """Receive the stretch that follows the last one. A second attempt may report it again."""
        if following is None:
            self.is_read = True
        elif following.number == self.begun + 1:
            self.following = following


class _StretchTask(Task):
    """The task of cleaning a stretch.

    If its worker dies twice at the same page, the page fails and the task continues.
    """

    def __init__(self, flow: Flow, chain: _Chain, job: Job) -> None:
        super().__init__(flow.function, job)
        self._flow, self._chain, self._job = flow, chain, job
        self._step = ("read", 0)

    def heard(self, message: tuple[object, ...]) -> None:
        match message:
            case "following", following:
                self._chain.go_on(following)  # type: ignore[arg-type]
                self._flow.use_finished(self._chain)
            case "found", counts:
                self._flow.progress.found(counts)  # type: ignore[arg-type]
            case "progress", statuses, size, read:
                self._flow.progress.advance(statuses, size, read)  # type: ignore[arg-type]
            case kind, number:
                self._step = kind, number  # type: ignore[assignment]

    def ended(self, result: Segment | None) -> None:
        self._chain.finished[self._job.stretch.number] = result

    def died(self, problem: Problem) -> Task:
        job = self._job
        kind, number = self._step
        if not job.is_careful:
            job = replace(job, is_careful=True)
        elif kind == "clean":
            job = replace(job, is_careful=False, bad={**job.bad, number: problem})
        else:
            job = replace(job, is_careful=False, unread={**job.unread, number: problem})
        return _StretchTask(self._flow, self._chain, job)


class Flow:
    """Cleans the stretches of groups in workers."""

    def __init__(
        self,
        pool: Workers | Here,
        groups: Iterable[Group],
        directory: Path,
        suffix: str,
        progress: Progress,
        first: Stretch | None = None,
        function: Callable[..., Segment | None] = run_stretch,
        has_pieces: bool = False,
    ) -> None:
        """Write segments to `directory`. Groups before `first` are left out, and finished segments are reused.

        Workers call `function` for each stretch. With `has_pieces`, they also write pieces of output.
        """
        self.pool, self.progress, self.function = pool, progress, function
        self.after: Callable[[Group], None] = lambda group: None
        """Called when all segments of a group have been yielded."""
        self._directory, self._suffix, self._has_pieces = directory, suffix, has_pieces
        self.wants: Callable[[Stretch], bool] = lambda stretch: True
        """Whether to clean a stretch. Otherwise it is only read, to find the start of the next one."""
        self._first = first or Stretch(0)
        self._groups = (group for group in groups if group.number >= self._first.group)
        self._chains: deque[_Chain] = deque()

    def segments(self) -> Iterator[Segment]:
        """Yield the finished segments in order."""
        while True:
            self._open_chains()
            if not self._chains:
                return
            chain = self._chains[0]
            number = self._first.number if chain.group.number == self._first.group else 0
            while not (chain.is_read and number > chain.begun):
                if number in chain.finished:
                    segment = chain.finished.pop(number)
                    number += 1
                    if segment is not None:
                        yield segment
                elif self.pool.step(self.give):
                    self._open_chains()
                else:
                    raise VictorError(f"no worker cleans stretch {chain.group.number}-{number}; this is a bug")
            self.after(self._chains.popleft().group)

    def _open_chains(self) -> None:
        """Open enough groups to keep all workers busy."""
        while len(self._chains) < 2 * self.pool.jobs + 2:
            group = next(self._groups, None)
            if group is None:
                return
            first = self._first if group.number == self._first.group else Stretch(group.number)
            chain = _Chain(group, first, begun=first.number - 1)
            self._chains.append(chain)
            self.use_finished(chain)

    def use_finished(self, chain: _Chain) -> None:
        """Find the segments of a group that an earlier run has finished."""
        while chain.following is not None:
            segment = Segment.load(self._directory / f"{chain.following.name}{self._suffix}")
            if segment is None:
                return
            chain.begun = chain.following.number
            chain.finished[chain.begun] = segment
            self.progress.found(segment.tally)
            chain.following = None
            chain.go_on(segment.following)

    def give(self, worker: int) -> Task | None:
        """Return the first stretch that is ready. A file that can only be read from its start stays with its worker."""
        is_full = sum(len(chain.finished) for chain in self._chains) > _WINDOW + 16 * self.pool.jobs
        ready = [chain for chain in self._chains if chain.following is not None]
        if is_full:
            ready = [chain for chain in ready if chain is self._chains[0]]
        if not ready:
            return None

        def is_elsewhere(chain: _Chain) -> bool:
            following = chain.following
            return bool(following and following.start and not following.offset and chain.worker != worker)

        chain = min(ready, key=is_elsewhere)  # the first one if several are equal
        stretch, chain.following = chain.following, None
        assert stretch is not None
        chain.begun, chain.worker = stretch.number, worker
        job = Job(stretch, chain.group, self._directory, self.wants(stretch), self._has_pieces)
        return _StretchTask(self, chain, job)
