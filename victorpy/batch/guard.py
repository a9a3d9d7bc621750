"""Guarded workers: a page that hangs, crashes or eats memory loses itself alone.

Pages go to worker processes a few at a time. Where such a batch takes too long or its worker dies, the pages in it are
tried again, each by itself and with a deadline of its own; the one that does it again has failed, the others are done.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from victorpy.batch import worker
from victorpy.batch.inputs import Mark
from victorpy.batch.outcome import Outcome, failure
from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.records import Record
from victorpy.errors import VictorError, missing

Item = TypeVar("Item")

BATCH_PAGES = 16
BATCH_BYTES = 2_000_000

# How much may be under way: enough that others have work while one hangs.
WINDOW_ITEMS = 4_000
WINDOW_BYTES = 100_000_000

MOST_RESTARTS = 5
PATIENCE = 60.0
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a page may cost, and how many workers there are."""

    jobs: int = 1
    deadline: float = 10.0
    """Seconds for a page."""
    memory: int = 1_000_000_000
    """Bytes for a page, beyond what a worker needs for itself."""
    recycle: int = 200
    """Batches after which a worker is replaced: what C libraries leak goes with it."""


@dataclass(slots=True)
class Task(Generic[Item]):
    """A call in a worker: ``function(*fixed, items)`` gives an outcome for each item."""

    function: Callable[..., Any]
    items: list[Item]
    fixed: tuple[Any, ...] = ()
    told: list[tuple[Mark, Record]] = field(default_factory=list)
    """The records that the items stand for, with their places; they stay here."""
    size: int = 0
    """Bytes that it keeps in memory."""
    allowance: float = 0.0
    """Seconds that it may take beyond what its pages may."""
    cleanup: Callable[[], None] | None = None
    """What is to be done when its outcomes are safe."""
    future: Any = field(default=None, repr=False)


class Unguarded:
    """The same without workers: what is there where Pebble is not."""

    def __init__(self, work: worker.Work) -> None:
        worker.start(work, guarded=False)

    def map(self, tasks: Iterable[Task[Item]]) -> Iterator[tuple[Task[Item], Sequence[Outcome]]]:
        """Run tasks here, one after the other."""
        for task in tasks:
            yield task, task.function(*task.fixed, task.items)

    def submit(self, task: Task[Any]) -> None:
        """Run a task when it is asked for."""

    def result(self, task: Task[Any]) -> Any:
        """Run a task now."""
        return task.function(*task.fixed, task.items)

    def close(self) -> None:
        """Nothing is left behind."""

    def stop(self) -> None:
        """Nothing is under way."""


class Guard:
    """A pool of workers that are watched and replaced."""

    def __init__(self, work: worker.Work, limits: Limits) -> None:
        self._work = work
        self.limits = limits
        self._restarts = 0
        self._under_way: dict[int, Task[Any]] = {}
        """Tasks whose results nobody has taken yet: a new pool has to do them again."""
        if not has_pebble():
            raise missing("Pebble", "batch", "cleaning in guarded workers")
        _outlive_workers()
        self._pool: Any = None
        """Begun with the first task: workers that are ended while they start complain of it."""

    def map(self, tasks: Iterable[Task[Item]]) -> Iterator[tuple[Task[Item], Sequence[Outcome]]]:
        """Run tasks in workers, some ahead of what is asked for, and give the outcomes of each in order."""
        waiting: deque[Task[Item]] = deque()
        coming = iter(tasks)
        items = size = 0
        exhausted = False
        while True:
            while not exhausted and items < WINDOW_ITEMS and size < WINDOW_BYTES:
                task = next(coming, None)
                if task is None:
                    exhausted = True
                else:
                    self.submit(task)
                    waiting.append(task)
                    items, size = items + len(task.items), size + task.size
            if not waiting:
                return
            task = waiting.popleft()
            found = self._outcomes(task)
            items, size = items - len(task.items), size - task.size
            yield task, found

    def submit(self, task: Task[Any]) -> None:
        """Begin a task."""
        self._under_way[id(task)] = task
        if self._pool is None:
            self._pool = self._new_pool()
        try:
            self._schedule(task)
        except RuntimeError:  # how a broken pool answers
            self._restart()

    def result(self, task: Task[Any]) -> Any:
        """Wait for a task; where it fails, its problem is given back."""
        while True:
            ended = self._ended(task, self._deadline(task))
            if isinstance(ended, BrokenProcessPool):
                self._restart()
                continue
            self._restarts = 0
            del self._under_way[id(task)]
            if not self._pool.active:
                self._restart()
            return ended

    def close(self) -> None:
        """End the workers when nothing is under way any more."""
        if self._pool is not None:
            self._pool.close()
            self._pool.join()

    def stop(self) -> None:
        """End the workers at once."""
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()

    def _outcomes(self, task: Task[Item]) -> Sequence[Outcome]:
        """Wait for a task; one that went wrong is taken apart, and its items are tried again, each by itself."""
        ended = self.result(task)
        if not isinstance(ended, Problem):
            return list(ended)
        if len(task.items) == 1:
            return [failure(ended)]
        singles = [Task(task.function, [item], task.fixed, allowance=task.allowance) for item in task.items]
        for single in singles:
            self.submit(single)
        return [outcome for single in singles for outcome in self._outcomes(single)]

    def _ended(self, task: Task[Any], deadline: float) -> Any:
        """The results of a task, or the problem that ended it."""
        try:
            return task.future.result(timeout=3 * deadline + PATIENCE)
        except BrokenProcessPool as error:
            return error
        except (Exception, CancelledError) as error:
            if isinstance(error, CancelledError):
                return BrokenProcessPool("the pool was stopped")
            if not task.future.done():  # its worker has vanished without a word
                self._pool.stop()
                return Problem(Kind.CRASH, "the worker gave no answer")
            return self._problem(error)

    def _problem(self, error: Exception) -> Problem:
        """What the end of a task means."""
        code = getattr(error, "exitcode", None)  # that of Pebble's ProcessExpired
        if isinstance(error, MemoryError) or code == worker.MEMORY_EXIT:
            return Problem(Kind.MEMORY, f"took more than {self.limits.memory / 1e6:,.0f} MB of memory")
        if isinstance(error, FutureTimeoutError):
            return Problem(Kind.TIMEOUT, f"took longer than {self.limits.deadline:g} seconds")
        if code is not None:
            return Problem(Kind.CRASH, f"the worker was ended by {_exit_name(code)}")
        return Problem(Kind.INTERNAL, f"internal error: {type(error).__name__}: {error}")

    def _deadline(self, task: Task[Item]) -> float:
        """A page's own deadline, and where there are several a little for each: most take milliseconds."""
        deadline = self.limits.deadline
        return task.allowance + (deadline if len(task.items) == 1 else deadline * (1 + len(task.items) / 64))

    def _schedule(self, task: Task[Any]) -> None:
        arguments = (*task.fixed, task.items)
        task.future = self._pool.schedule(task.function, args=arguments, timeout=self._deadline(task))

    def _restart(self) -> None:
        """Make a new pool for what is under way; the old one has lost its workers at a bad moment."""
        self._restarts += 1
        if self._restarts > MOST_RESTARTS:
            raise VictorError("the workers die again and again, whatever they are given: is there enough memory?")
        self._pool.stop()
        self._pool.join()
        self._pool = self._new_pool()
        for task in self._under_way.values():
            if not _is_done(task):
                self._schedule(task)

    def _new_pool(self) -> Any:
        from pebble import ProcessPool

        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:
            context.set_forkserver_preload([worker.__name__])  # so that a new worker is there at once
        with _inherited():
            pool = ProcessPool(
                max_workers=self.limits.jobs,
                max_tasks=self.limits.recycle,
                initializer=worker.start,
                initargs=(self._work, self.limits.memory),
                context=context,
            )
            assert pool.active  # starts it
        return pool


def _outlive_workers() -> None:
    """Let a pipe to a worker that has died be an error to deal with, and not the end of this process."""
    if hasattr(signal, "SIGPIPE") and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)


@contextmanager
def _inherited() -> Iterator[None]:
    """Start processes whose numpy keeps to one thread, as the pages run side by side, and that leave ^C to this one."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main else None
    try:
        yield
    finally:
        if is_main:
            signal.signal(signal.SIGINT, handler)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _is_done(task: Task[Any]) -> bool:
    """Whether a task has its results already, which a new pool need not find again."""
    future = task.future
    return bool(future is not None and future.done() and not future.cancelled() and future.exception() is None)


def _exit_name(code: int) -> str:
    try:
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"
    except ValueError:
        return f"exit code {code}"


def has_pebble() -> bool:
    """Whether workers can be guarded here."""
    try:
        import pebble  # noqa: F401
    except ImportError:
        return False
    return True
