"""Guarded workers: a page that hangs, crashes or exhausts memory fails on its own.

Worker processes receive small batches of pages. If a batch takes too long or its worker dies, its pages are tried again
one by one, each with its own deadline. A page fails only if it causes the same problem again.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Self, TypeVar

from victorpy.base.child import limit_memory, worker_variables
from victorpy.batch.inputs import Mark
from victorpy.batch.local.signals import Stopped, waiting
from victorpy.batch.outcome import Outcome, PageCleaner, failure
from victorpy.batch.plan import Limits, Plan
from victorpy.batch.record import Kind, Problem, Record
from victorpy.cleaner import Cleaner
from victorpy.errors import VictorError, missing

Item = TypeVar("Item")
Ended = tuple[Mark, Record, Outcome]

BATCH_PAGES = 16
BATCH_BYTES = 2_000_000

# Limits of reading ahead: enough to keep the other workers busy while one hangs.
WINDOW_ITEMS = 4_000
WINDOW_BYTES = 100_000_000

MOST_RESTARTS = 5
PATIENCE = 60.0

MEMORY_EXIT = 86
"""Exit code of a worker that ran out of memory. It exits because C libraries may never free their memory."""

_COPIES = 3
"""Copies of a page in memory while a worker receives it. They do not count for the memory limit of the page."""


# These functions run in workers.


class _Worker:
    """The state of this worker process."""

    pages: PageCleaner | None = None
    guarded = False


def start_worker(plan: Plan, memory: int | None = None) -> None:
    """Load the model. In a guarded worker, limit this process to `memory` more bytes than it uses now."""
    _Worker.guarded = memory is not None
    if _Worker.guarded:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a Python handler would not run while C code hangs
        end_with_main_process()
    _Worker.pages = PageCleaner(plan)
    if memory:
        limit_memory(memory + _COPIES * (plan.most_bytes or 0))


def end_with_main_process() -> None:
    """End this process as soon as the main process ends, even while C code hangs. Only POSIX systems can do this."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl
        import multiprocessing

        pipe = multiprocessing.parent_process().sentinel  # type: ignore[union-attr]
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())  # who gets SIGIO when the other end of the pipe is closed
        fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def page_cleaner() -> PageCleaner:
    """Return what `start_worker` has loaded."""
    if _Worker.pages is None:
        raise RuntimeError("the worker was not started")
    return _Worker.pages


def clean_batch(records: Sequence[Record]) -> list[Outcome]:
    """Clean some records."""
    return [clean_checked(record) for record in records]


def clean_checked(record: Record, cleaner: Cleaner | None = None) -> Outcome:
    """Clean a record. If memory runs out, the worker exits, and a new worker tries the record again.

    If memory ran out while reading the record, the record fails without another attempt.
    """
    outcome = page_cleaner().clean(record, cleaner)
    if outcome.kind is Kind.MEMORY and record.problem is None and _Worker.guarded:
        os._exit(MEMORY_EXIT)
    return outcome


# Tasks, and the processes that run them.


@dataclass(slots=True)
class Task(Generic[Item]):
    """A call in a worker: ``function(*fixed, items)`` returns an outcome for each item."""

    function: Callable[..., Any]
    items: list[Item]
    fixed: tuple[Any, ...] = ()
    records: list[tuple[Mark, Record]] = field(default_factory=list)
    """The record and mark of each item. The worker does not receive them."""
    size: int = 0
    """Memory that the task takes, in bytes."""
    allowance: float = 0.0
    """Seconds that the task may take in addition to the seconds for its pages."""
    cleanup: Callable[[], None] | None = None
    """Called after the outcomes are stored."""
    outcomes: Sequence[Outcome] | None = None
    """Outcomes that are known already, so that no worker is needed."""
    future: Any = field(default=None, repr=False)
    is_unanswered: bool = False
    """Whether a pool has not answered in time, although it stops tasks that take too long."""

    @property
    def is_ready(self) -> bool:
        """Whether the outcomes are there. A task that failed has none, because its items are tried again."""
        if self.outcomes is not None:
            return True
        return self.future is not None and self.future.done() and self.future.exception() is None


def cleaning_tasks(records: Iterable[tuple[Mark, Record]], in_batches: bool = True) -> Iterator[Task[Record]]:
    """Make tasks that clean a few records each, or only one record each."""
    if not in_batches:
        for mark, record in records:
            yield Task(clean_batch, [record], records=[(mark, record)])
        return
    from more_itertools import constrained_batches

    def size_of(marked: tuple[Mark, Record]) -> int:
        return len(marked[1].payload)

    for batch in constrained_batches(records, BATCH_BYTES, BATCH_PAGES, size_of, strict=False):
        size = sum(map(size_of, batch))
        yield Task(clean_batch, [record for _, record in batch], records=list(batch), size=size)


class Unguarded:
    """Runs tasks in this process."""

    def __init__(self, plan: Plan) -> None:
        start_worker(plan)

    def map(self, tasks: Iterable[Task[Item]]) -> Iterator[tuple[Task[Item], Sequence[Outcome]]]:
        tasks = iter(tasks)
        while True:
            with waiting():
                task = next(tasks, None)
                if task is None:
                    return
                outcomes = self.result(task) if task.outcomes is None else task.outcomes
            yield task, outcomes

    def submit(self, task: Task[Any]) -> None:
        """Do nothing. The task runs when its result is requested."""

    def result(self, task: Task[Any]) -> Any:
        return task.function(*task.fixed, task.items)


class Guard:
    """A pool of workers that are watched and replaced."""

    def __init__(self, start: Callable[[int], None], limits: Limits) -> None:
        """`start` is called in each new worker, with the memory limit of a task in bytes."""
        self._start = start
        self.limits = limits
        self._restarts = 0
        self._pending: dict[int, Task[Any]] = {}
        """Tasks whose results were not requested yet. A new pool runs them again."""
        self._pool: Any = None
        """Started with the first task: a worker that is stopped while it starts prints a traceback."""
        if not has_pebble():
            raise missing("Pebble", "batch", "cleaning in guarded workers")
        if hasattr(signal, "SIGPIPE") and threading.current_thread() is threading.main_thread():
            # Writing to a dead worker must raise an error here, and not end this process.
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def map(self, tasks: Iterable[Task[Item]]) -> Iterator[tuple[Task[Item], Sequence[Outcome]]]:
        """Run tasks in workers ahead of time, and yield their outcomes in order.

        If a signal stops the run, the outcomes that are ready are yielded first.
        """
        queue: deque[Task[Item]] = deque()
        items = size = 0
        tasks = iter(tasks)
        try:
            is_end = False
            while not is_end or queue:
                if not is_end:
                    with waiting():
                        task = next(tasks, None)
                    is_end = task is None
                    if task is not None:
                        if task.outcomes is None:
                            self.submit(task)
                        queue.append(task)
                        items, size = items + len(task.records), size + task.size
                is_full = is_end or items >= WINDOW_ITEMS or size >= WINDOW_BYTES
                while queue and (is_full or queue[0].is_ready):
                    with waiting():
                        outcomes = self._outcomes(queue[0])
                    first = queue.popleft()
                    items, size = items - len(first.records), size - first.size
                    is_full = is_end or items >= WINDOW_ITEMS or size >= WINDOW_BYTES
                    yield first, outcomes
        except Stopped:
            while queue and queue[0].is_ready:
                yield queue[0], self._outcomes(queue[0])
                queue.popleft()
            raise

    def submit(self, task: Task[Any]) -> None:
        """Start a task."""
        self._pending[id(task)] = task
        try:
            if self._pool is None:
                self._pool = self._new_pool()
            self._schedule(task)
        except RuntimeError:  # the pool is broken, or could not start
            self._restart()

    def result(self, task: Task[Any]) -> Any:
        """Wait for a task, and return its result or the `Problem` that ended it."""
        from concurrent.futures import CancelledError
        from concurrent.futures.process import BrokenProcessPool

        while True:
            try:
                result = task.future.result(timeout=3 * self._deadline(task) + PATIENCE)
            except (BrokenProcessPool, CancelledError):
                self._restart()
                continue
            except Exception as error:
                if task.future.done():
                    result = self._problem(error)
                elif not task.is_unanswered:  # the server that starts workers may have been killed
                    task.is_unanswered = True
                    self._restart()
                    continue
                else:
                    self._pool.stop()
                    result = Problem(Kind.CRASH, "the worker did not answer")
            self._restarts = 0
            del self._pending[id(task)]
            if not self._pool.active:
                self._restart()
            return result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: object, *_: object) -> None:
        """Stop the workers, after their last task or, on an error, immediately."""
        if self._pool is not None and error_type is None:
            self._pool.close()
            self._pool.join()
        else:
            self.stop()

    def stop(self) -> None:
        """Stop the workers immediately."""
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()

    def _outcomes(self, task: Task[Item]) -> Sequence[Outcome]:
        """Wait for a task. If it failed, try its items again one by one."""
        result = self.result(task) if task.outcomes is None else task.outcomes
        if not isinstance(result, Problem):
            return list(result)
        if len(task.items) == 1:
            return [failure(result)]
        singles = [Task(task.function, [item], task.fixed, allowance=task.allowance) for item in task.items]
        for single in singles:
            self.submit(single)
        return [outcome for single in singles for outcome in self._outcomes(single)]

    def _problem(self, error: Exception) -> Problem:
        exit_code = getattr(error, "exitcode", None)  # of Pebble's ProcessExpired
        if isinstance(error, MemoryError) or exit_code == MEMORY_EXIT:
            return Problem(Kind.MEMORY, f"took more than {self.limits.memory / 1e6:,.0f} MB of memory")
        if isinstance(error, TimeoutError):
            return Problem(Kind.TIMEOUT, f"took longer than {self.limits.deadline:g} seconds")
        if exit_code is None:
            return Problem(Kind.INTERNAL, f"internal error: {type(error).__name__}: {error}")
        names = {-number: number.name for number in signal.Signals}
        return Problem(Kind.CRASH, f"the worker was ended by {names.get(exit_code, f'exit code {exit_code}')}")

    def _deadline(self, task: Task[Item]) -> float:
        """Return the seconds for one page, and a little more for several pages: most take milliseconds."""
        pages = len(task.items)
        return task.allowance + self.limits.deadline * (1 if pages == 1 else 1 + pages / 64)

    def _schedule(self, task: Task[Any]) -> None:
        arguments = (*task.fixed, task.items)
        task.future = self._pool.schedule(task.function, args=arguments, timeout=self._deadline(task))

    def _restart(self) -> None:
        """Replace a broken pool, and run its unfinished tasks again."""
        while True:
            self._restarts += 1
            if self._restarts > MOST_RESTARTS:
                raise VictorError("workers crash repeatedly, whatever their task; check that there is enough memory")
            self.stop()
            time.sleep(0.1 * (self._restarts - 1))  # Python notices a killed server of workers after a moment
            with suppress(RuntimeError):  # the new pool is broken too
                self._pool = self._new_pool()
                for task in self._pending.values():
                    future = task.future
                    is_done = future and future.done() and not future.cancelled() and future.exception() is None
                    if not is_done:
                        self._schedule(task)
                return

    def _new_pool(self) -> Any:
        import multiprocessing

        from pebble import ProcessPool

        has_forkserver = "forkserver" in multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if has_forkserver else "spawn")
        if has_forkserver:
            context.set_forkserver_preload([__name__])  # new workers start faster
        with _worker_environment():
            pool = ProcessPool(
                max_workers=self.limits.jobs,
                max_tasks=self.limits.recycle,
                initializer=self._start,
                initargs=(self.limits.memory,),
                context=context,
            )
            assert pool.active  # starts the workers
        return pool


Workers = Guard | Unguarded


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Start processes with the variables of workers. They ignore ^C, which the main process handles.

    After this process was killed, Python's resource tracker deletes its semaphores without a warning.
    """
    variables = worker_variables()
    warnings = os.environ.get("PYTHONWARNINGS")
    variables["PYTHONWARNINGS"] = ",".join(filter(None, [warnings, "ignore:resource_tracker"]))
    previous = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main else None
    try:
        yield
    finally:
        if is_main:
            signal.signal(signal.SIGINT, handler)
        for name, value in previous.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def cleaning_guard(plan: Plan) -> Guard:
    """Return guarded workers that clean pages by a plan."""
    return Guard(partial(start_worker, plan), plan.limits)


def run_tasks(tasks: Iterable[Task[Item]], guard: Workers) -> Iterator[Ended]:
    """Run tasks and yield their records with their outcomes."""
    for task, outcomes in guard.map(tasks):
        for (mark, record), outcome in zip(task.records, outcomes, strict=True):
            yield mark, record, outcome
        if task.cleanup is not None:
            task.cleanup()


def has_pebble() -> bool:
    """Whether guarded workers are available."""
    try:
        import pebble  # noqa: F401
    except ImportError:
        return False
    return True
