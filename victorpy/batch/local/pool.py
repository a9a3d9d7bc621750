"""Worker processes that run tasks. A worker that dies is replaced, and its task decides what happens next.

A task that hangs, crashes or exhausts memory ends only its own worker. The system ends a worker that misses a deadline
(`set_deadline`), even while C code hangs.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from victorpy.base.child import limit_memory, survive_broken_pipes, worker_variables
from victorpy.batch.local.signals import waiting
from victorpy.batch.record import Kind, Problem
from victorpy.errors import VictorError, plural

if TYPE_CHECKING:
    from victorpy.batch.plan import Limits

Report = Callable[[Any], None]

MEMORY_EXIT = 86
"""Exit code of a worker that ran out of memory. The worker exits because C libraries may never free their memory."""
MOST_RESTARTS = 5
PATIENCE = 300.0
"""Seconds without a report, in addition to the deadline of a page, after which a worker is ended."""
_WAITING = 5
"""Limit for the elapsed time of a task, as a multiple of its limit for CPU time."""
RECYCLE = 800
"""Number of tasks after which a worker is replaced, because C libraries leak memory."""


class Task:
    """A call in a worker: ``function(*arguments, report)``.

    Everything that the function reports is passed to `heard`.
    """

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.function, self.arguments = function, arguments
        self.result: Any = None
        self.is_done = False

    def heard(self, message: Any) -> None:
        """Receive a report of the running function."""

    def ended(self, result: Any) -> None:
        """Receive the result, or the problem that ended the worker."""
        self.result, self.is_done = result, True

    def died(self, problem: Problem) -> Task | None:
        """Handle the death of the worker.

        Return the task to run next, or None to end with the problem as the result.
        """
        self.ended(problem)
        return None


# In workers.


def set_deadline(seconds: float) -> None:
    """End this process after some seconds of CPU time, or never if `seconds` is 0. On Windows, elapsed time counts.

    A waiting process has more time, so that pages do not fail because the machine is busy.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, _WAITING * seconds)
        return
    import faulthandler

    faulthandler.cancel_dump_traceback_later()
    if seconds:
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123
            faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)


def end_with_main_process() -> None:
    """End this process as soon as the main process ends, even while C code hangs. Only POSIX systems can do this."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl
        import multiprocessing

        pipe = multiprocessing.parent_process().sentinel  # type: ignore[union-attr]
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())  # gets SIGIO when the other end of the pipe is closed
        fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def _work(connection: Any, start: Callable[[], int], memory: int) -> NoReturn:
    """Run tasks until the main process closes the connection.

    `start` prepares the worker, and returns the number of bytes that reading takes in addition to a page.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a Python handler would not run while C code hangs
    end_with_main_process()
    try:
        try:
            limit_memory(memory + start())
        except (VictorError, OSError) as error:
            connection.send(("ended", (error, 0.0)))  # the main process raises it
        connection.send(("ready", None))
        while True:
            function, arguments = connection.recv()
            began = time.process_time()
            try:
                result = function(*arguments, lambda message: connection.send(("heard", message)))
            except (VictorError, OSError) as error:
                result = error
            set_deadline(0)
            connection.send(("ended", (result, time.process_time() - began)))
    except MemoryError:
        os._exit(MEMORY_EXIT)
    except (EOFError, ConnectionError):  # the main process has ended or closed the connection
        os._exit(0)


# In the main process.


@dataclass(slots=True)
class _Worker:
    process: Any
    connection: Any
    is_ready: bool = False
    task: Task | None = None
    tasks: int = 0
    heard_at: float = field(default_factory=time.monotonic)

    @property
    def is_busy(self) -> bool:
        """Whether the worker is starting or has a task."""
        return self.task is not None or not self.is_ready


class Here(AbstractContextManager["Here"]):
    """Runs tasks in this process."""

    jobs = 1
    cpu = 0.0

    def __init__(self, start: Callable[[], int]) -> None:
        start()
        self.queue: deque[Task] = deque()

    def step(self, give: Callable[[int], Task | None]) -> bool:
        task = self.queue.popleft() if self.queue else give(0)
        if task is None:
            return False
        with waiting():
            result = task.function(*task.arguments, task.heard)
        task.ended(result)
        return True

    def __exit__(self, *_: object) -> None:
        pass


class Workers(AbstractContextManager["Workers"]):
    """Guarded workers. They are started when there are tasks for them."""

    def __init__(self, start: Callable[[], int], limits: Limits, at_once: int = 1) -> None:
        """`start` is called in each new worker. The first `at_once` workers are started immediately."""
        self._start, self._limits, self._at_once = start, limits, at_once
        self.jobs = limits.jobs
        self.queue: deque[Task] = deque()
        """Tasks that run before all others."""
        self.cpu = 0.0
        """CPU seconds of finished tasks."""
        self._slots: list[_Worker | None] = [None] * limits.jobs
        self._restarts = 0
        self._patience = PATIENCE + 2 * limits.deadline
        survive_broken_pipes()

    def step(self, give: Callable[[int], Task | None]) -> bool:
        """Start tasks, and wait until something happens. `give` returns the next task for a worker.

        Returns False if there is nothing to do.
        """
        idle = [number for number, worker in enumerate(self._slots) if worker is None or worker.task is None]
        for number in idle:
            task = self.queue.popleft() if self.queue else give(number)
            worker = self._slots[number]
            is_wanted = task is not None or number < self._at_once
            if (worker is None and is_wanted) or (worker and task and worker.tasks >= RECYCLE):
                self._stop(number)
                worker = self._slots[number] = self._new_worker()
            if worker and task:
                worker.task, worker.heard_at = task, time.monotonic()
                if worker.is_ready:
                    self._send(worker)
        if not any(worker and worker.task for worker in self._slots):
            return False
        busy = {worker.connection: number for number, worker in enumerate(self._slots) if worker and worker.is_busy}
        from multiprocessing.connection import wait

        with waiting():
            ready = wait(list(busy), timeout=1.0)
        for connection in ready:
            self._receive(busy[connection])
        for number in busy.values():
            worker = self._slots[number]
            if worker and worker.is_busy and time.monotonic() - worker.heard_at > self._patience:
                worker.process.kill()  # this closes its connection
        return True

    def _new_worker(self) -> _Worker:
        context = start_server()
        while True:
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, self._start, self._limits.memory))
            try:
                with _worker_environment(), _without_script(self._start):
                    process.start()
            except (EOFError, OSError) as error:  # the server that starts workers has just been killed
                self._count_restart(error)
            else:
                return _Worker(process, ours)
            finally:
                theirs.close()

    def _count_restart(self, error: Exception | None = None) -> None:
        self._restarts += 1
        if self._restarts > MOST_RESTARTS:
            words = "workers crash repeatedly, whatever their task; check that there is enough memory"
            raise VictorError(words) from error
        time.sleep(0.1 * (self._restarts - 1))

    def _send(self, worker: _Worker) -> None:
        assert worker.task is not None
        with suppress(OSError):  # if the worker has died, receiving will report it
            worker.connection.send((worker.task.function, worker.task.arguments))
        worker.tasks += 1

    def _receive(self, number: int) -> None:
        worker = self._slots[number]
        assert worker is not None
        try:
            kind, content = worker.connection.recv()
        except (EOFError, OSError):
            self._bury(number)
            return
        worker.heard_at = time.monotonic()
        if kind == "ready":
            worker.is_ready, self._restarts = True, 0
            if worker.task is not None:
                self._send(worker)
            return
        if kind == "ended":
            content, cpu = content
            self.cpu += cpu
            if isinstance(content, Exception):
                raise content
        task = worker.task
        assert task is not None
        if kind == "heard":
            task.heard(content)
        else:
            worker.task = None
            task.ended(content)

    def _bury(self, number: int) -> None:
        """Remove a dead worker, and let its task decide what happens next."""
        worker = self._slots[number]
        assert worker is not None
        self._slots[number] = None
        worker.connection.close()
        worker.process.join(5)
        worker.process.kill()  # the worker may still run if the server that started it was killed
        if not worker.is_ready:
            self._count_restart()
            following = worker.task
        else:
            assert worker.task is not None
            following = worker.task.died(self._problem(worker.process.exitcode))
        if following is not None:
            self.queue.appendleft(following)

    def _problem(self, code: int | None) -> Problem:
        if code == MEMORY_EXIT:
            return Problem(Kind.MEMORY, f"took more than {self._limits.memory / 1e6:,.0f} MB of memory")
        alarms = {-signal.SIGPROF, -signal.SIGALRM} if hasattr(signal, "setitimer") else {1}
        if code in alarms:
            return Problem(Kind.TIMEOUT, f"took longer than {plural(self._limits.deadline, 'second')}")
        names = {-number: number.name for number in signal.Signals}
        return Problem(Kind.CRASH, f"the worker was ended by {names.get(code or 0, f'exit code {code}')}")

    def _stop(self, number: int) -> None:
        worker = self._slots[number]
        if worker is not None:
            self._slots[number] = None
            worker.connection.close()  # this ends an idle worker
            if worker.is_busy:
                worker.process.kill()
            worker.process.join(5)
            worker.process.kill()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop the workers, immediately if they are busy."""
        for number in range(len(self._slots)):
            self._stop(number)


def start_server(metadata: bool = False) -> Any:
    """Start the server that starts workers, unless it is running. It loads the modules and data that workers share.

    Returns the context for new processes, without waiting for the server. This module is fast to import, so that the
    server can start before the main process imports everything else.
    """
    import multiprocessing

    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing.forkserver import ensure_running

    context: Any = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([f"victorpy.batch.local.{'preload' if metadata else 'stretches'}"])
    with _worker_environment():
        ensure_running()
    return context


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Set the environment variables of workers while processes are started.

    Workers ignore ^C; the main process handles it.

    If this process is killed, Python's resource tracker ends without a warning.
    """
    from multiprocessing import resource_tracker

    variables = worker_variables()
    warnings = os.environ.get("PYTHONWARNINGS")
    variables["PYTHONWARNINGS"] = ",".join(filter(None, [warnings, "ignore:resource_tracker"]))
    previous = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    masks = hasattr(signal, "pthread_sigmask")
    if masks:
        resource_tracker.ensure_running()  # starting it unblocks ^C
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if masks else set()  # processes inherit it
    try:
        yield
    finally:
        for name, value in previous.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)  # a ^C that was blocked arrives now


@contextmanager
def _without_script(start: Callable[[], int]) -> Iterator[None]:
    """Keep new workers from running the main script again, unless `start` needs a function of it.

    If the script does not test `__name__`, every worker would start the batch run again.
    """
    script = vars(sys.modules["__main__"])
    places: dict[str, Any] = {name: script[name] for name in ("__spec__", "__file__") if name in script}
    if b"__main__" not in pickle.dumps(start):
        script.update(dict.fromkeys(places))
    try:
        yield
    finally:
        script.update(places)
