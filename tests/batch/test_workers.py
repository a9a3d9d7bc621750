"""Both ends of a worker's connection, without processes: the loop of a worker, and how the main process answers it."""

import faulthandler
import multiprocessing
import os
import signal
import sys
import time
from contextlib import suppress
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest

from victorpy.batch.local import parts, pool
from victorpy.batch.local.pool import Task, Workers, _Worker
from victorpy.batch.plan import Limits
from victorpy.batch.record import Kind, Problem
from victorpy.errors import DataError, VictorError

# The loop of a worker.


class Connection:
    """The messages for a worker, and its answers."""

    def __init__(self, *messages):
        self.messages, self.sent = list(messages), []

    def recv(self):
        if not self.messages:
            raise EOFError
        return self.messages.pop(0)

    def send(self, message):
        self.sent.append(message)


def double(number, report):
    report(f"about {number}")
    return 2 * number


def fail(error, report):
    raise error


@pytest.fixture
def work(monkeypatch):
    """A function that runs the loop. It returns the exit code, the answers, and the calls of the system."""

    def run(*messages, start=lambda: 5):
        calls, connection = [], Connection(*messages)

        def leave(code):
            raise SystemExit(code)

        with monkeypatch.context() as patch:
            patch.setattr(os, "_exit", leave)
            patch.setattr(signal, "signal", lambda *change: calls.append(change))
            for name in ("limit_memory", "set_deadline"):
                patch.setattr(pool, name, lambda number, name=name: calls.append((name, number)))
            patch.setattr(pool, "end_with_main_process", lambda: calls.append("ends with the main process"))
            with pytest.raises(SystemExit) as ended:
                pool._work(connection, start, 10)
        return ended.value.code, connection.sent, calls

    return run


def test_a_worker_answers_until_the_connection_is_closed(work):
    error = DataError("no tea")
    code, sent, calls = work((double, (3,)), (fail, (error,)), (fail, (OSError(28, "full"),)), (double, (4,)))
    assert (code, [kind for kind, _ in sent]) == (0, ["ready", "heard", "ended", "ended", "ended", "heard", "ended"])
    assert (sent[1][1], sent[2][1][0], sent[3][1][0], sent[6][1][0]) == ("about 3", 6, error, 8)
    assert sent[4][1][0].strerror == "full"
    assert all(0 <= content[1] < 10 for kind, content in sent if kind == "ended")
    begin = [(signal.SIGTERM, signal.SIG_DFL), "ends with the main process", ("limit_memory", 15)]
    assert calls == [*begin, *[("set_deadline", 0)] * 4]  # a deadline never outlives its task


def test_a_worker_whose_start_fails_reports_it(work):
    error = VictorError("no model")
    code, sent, _ = work(start=lambda: fail(error, None))
    assert (code, sent) == (0, [("ended", (error, 0.0)), ("ready", None)])


def test_a_worker_without_memory_ends_with_a_code_of_its_own(work):
    assert work((fail, (MemoryError(),)), (double, (3,)))[0] == 86
    assert work(start=lambda: fail(MemoryError(), None))[0] == 86


def test_a_worker_that_starts_when_the_main_process_is_killed_ends_silently(monkeypatch, capsys):
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # the import changes it
    from victorpy.batch.local import preload

    assert sys.excepthook is preload._report
    preload._report(EOFError, EOFError("Ran out of input"), None)
    assert capsys.readouterr().err == ""
    preload._report(ValueError, ValueError("tea"), None)
    assert capsys.readouterr().err == "ValueError: tea\n"


def test_deadlines_without_timers_count_elapsed_time(monkeypatch):
    calls = []
    monkeypatch.delattr(signal, "setitimer", raising=False)
    monkeypatch.setattr(faulthandler, "cancel_dump_traceback_later", lambda: calls.append("cancel"))
    monkeypatch.setattr(
        faulthandler, "dump_traceback_later", lambda seconds, exit, file: calls.append((seconds, exit, file.name))
    )
    pool.set_deadline(0)
    assert calls == ["cancel"]
    pool.set_deadline(3)
    assert calls == ["cancel", "cancel", (3, True, os.devnull)]


def test_worker_gets_a_signal_when_the_main_process_ends(monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    if not hasattr(os, "O_ASYNC"):
        pytest.skip("the system cannot do this")
    read, write = os.pipe()
    calls = []
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: SimpleNamespace(sentinel=read))
    monkeypatch.setattr(signal, "signal", lambda *change: calls.append(change))
    pool.end_with_main_process()
    flags = fcntl.fcntl(read, fcntl.F_GETFL)
    assert calls == [(signal.SIGIO, signal.SIG_DFL)]
    assert flags & os.O_ASYNC
    assert fcntl.fcntl(read, fcntl.F_GETOWN) == os.getpid()
    fcntl.fcntl(read, fcntl.F_SETFL, flags & ~os.O_ASYNC)
    for end in (read, write):
        os.close(end)
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: None)
    pool.end_with_main_process()  # a process that nobody has started


# The main process.


@pytest.mark.parametrize("failures", [0, 1, pool.MOST_RESTARTS, pool.MOST_RESTARTS + 1])
def test_worker_is_started_again_if_its_server_was_killed(monkeypatch, failures):
    started, pauses, ends = [], [], []

    class Context:
        def Pipe(self):  # noqa: N802
            ends.extend([SimpleNamespace(), SimpleNamespace(closed=[])])
            ends[-1].close = lambda end=ends[-1]: end.closed.append(1)
            return ends[-2:]

        def Process(self, target, args):  # noqa: N802
            return SimpleNamespace(start=lambda: start(args))

    def start(args):
        started.append(args)
        if len(started) <= failures:
            raise EOFError

    monkeypatch.setattr(pool, "start_server", Context)
    monkeypatch.setattr(pool.time, "sleep", pauses.append)
    found = Workers(int, Limits(jobs=1, memory=7))
    if failures > pool.MOST_RESTARTS:
        with pytest.raises(VictorError, match="workers crash repeatedly, whatever their task; check that there is"):
            found._new_worker()
    else:
        assert found._new_worker().connection is ends[-2]
        assert len(started) == failures + 1
    assert pauses == pytest.approx([0.1 * number for number in range(min(failures, pool.MOST_RESTARTS))])
    assert started == [(end, int, 7) for end in ends[1::2]]
    assert all(end.closed == [1] for end in ends[1::2])


class Process:
    """A process that notes how it is ended."""

    def __init__(self, exitcode=-signal.SIGKILL):
        self.exitcode, self.ended = exitcode, []

    def join(self, seconds):
        self.ended.append("joined")

    def kill(self):
        self.ended.append("killed")


class Noting(Task):
    """A task that is tried twice, and notes what it hears."""

    def __init__(self, number):
        super().__init__(double, number)
        self.notes = []

    def heard(self, message):
        self.notes.append(message)

    def died(self, problem):
        self.notes.append(problem)
        return self if self.notes.count(problem) < 2 else super().died(problem)


@pytest.fixture
def workers(monkeypatch):
    """Workers whose processes are pretended. `theirs` has the other ends of their connections."""
    found = Workers(lambda: 0, Limits(jobs=2, deadline=2.0))
    found.theirs, found.processes = [], []

    def new_worker():
        ours, theirs = Pipe()
        found.theirs.append(theirs)
        found.processes.append(Process())
        return _Worker(found.processes[-1], ours)

    monkeypatch.setattr(found, "_new_worker", new_worker)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return found


def give_from(tasks):
    return lambda worker: tasks.pop(0) if tasks else None


def test_tasks_are_sent_to_workers_that_are_ready(workers):
    tasks = [Noting(1), Noting(2), Noting(3)]
    one, two, three = tasks
    give = give_from(tasks)
    workers._slots[0] = workers._new_worker()
    workers.theirs[0].send(("ready", None))
    assert workers.step(give)  # the second worker was started
    assert (len(workers.theirs), workers.theirs[0].recv(), workers.theirs[1].poll()) == (2, (double, (1,)), False)
    workers.theirs[1].send(("ready", None))
    assert workers.step(give)
    assert workers.theirs[1].recv() == (double, (2,))
    for message in (("heard", "a"), ("heard", "b"), ("ended", (7, 0.5))):
        workers.theirs[1].send(message)
        assert workers.step(give)
    assert (two.notes, two.result, two.is_done, workers.cpu) == (["a", "b"], 7, True, 0.5)
    workers.theirs[0].send(("ended", (8, 0.25)))
    assert workers.step(give)  # gives the third task to the second worker
    assert (workers.theirs[1].recv(), one.result, workers.cpu) == ((double, (3,)), 8, 0.75)
    workers.theirs[1].send(("ended", (9, 0.0)))
    assert workers.step(give)
    assert not workers.step(give)
    assert (three.result, len(workers.theirs)) == (9, 2)
    workers.stop()
    assert [process.ended for process in workers.processes] == [["joined", "killed"]] * 2
    assert workers._slots == [None, None]


def test_queued_tasks_come_first(workers):
    queued, given = Noting(1), [Noting(2)]
    workers._slots = [None]
    workers.queue.append(queued)
    workers._slots[0] = workers._new_worker()
    workers.theirs[0].send(("ready", None))
    workers.step(give_from(given))
    assert (workers.theirs[0].recv(), len(given), len(workers.queue)) == ((double, (1,)), 1, 0)


def test_errors_of_tasks_end_the_run(workers):
    workers._slots = [workers._new_worker()]
    workers.theirs[0].send(("ready", None))
    workers.step(give_from([Noting(1)]))
    workers.theirs[0].send(("ended", (DataError("no tea"), 0.5)))
    with pytest.raises(DataError, match="no tea"):
        workers.step(give_from([]))


def test_the_task_of_a_dead_worker_decides_what_is_next(workers):
    workers._slots, task = [None], Noting(1)
    give = give_from([task, Noting(2)])
    problem = Problem(Kind.CRASH, "the worker was ended by SIGKILL")
    for attempt in (1, 2):
        workers._slots[0] = workers._new_worker()
        workers.theirs[-1].send(("ready", None))
        workers.step(give)
        assert workers.theirs[-1].recv() == (double, (1,))
        workers.theirs[-1].close()
        assert workers.step(give)
        assert (workers._slots, task.notes, task.is_done) == ([None], [problem] * attempt, attempt == 2)
        assert workers.processes[-1].ended == ["joined", "killed"]
        assert list(workers.queue) == ([task] if attempt == 1 else [])
    assert task.result == problem


def test_a_worker_that_dies_before_it_is_ready_costs_no_task(workers):
    workers._slots, task = [None], Noting(1)
    give = give_from([task])
    for _ in range(5):
        workers._slots[0] = workers._new_worker()
        workers.theirs[-1].close()
        assert workers.step(give)
        assert (list(workers.queue), task.notes) == ([task], [])
    workers._slots[0] = workers._new_worker()
    workers.theirs[-1].close()
    with pytest.raises(VictorError, match="workers crash repeatedly"):
        workers.step(give)


def test_a_silent_worker_is_killed_and_a_busy_one_is_stopped(workers, monkeypatch):
    workers._slots = [workers._new_worker()]
    workers.theirs[0].send(("ready", None))
    workers.step(give_from([Noting(1)]))
    workers.theirs[0].recv()
    now = time.monotonic()
    for seconds, ended in ((300, []), (310, ["killed"])):  # five minutes and twice the deadline are 304 seconds
        monkeypatch.setattr(pool, "time", type("Clock", (), {"monotonic": staticmethod(lambda s=seconds: now + s)}))
        monkeypatch.setattr("multiprocessing.connection.wait", lambda connections, timeout: [])
        workers.step(give_from([]))
        assert workers.processes[0].ended == ended
    workers.stop()
    assert workers.processes[0].ended == ["killed", "killed", "joined", "killed"]


def test_a_worker_that_reports_something_has_more_time(workers, monkeypatch):
    workers._slots = [workers._new_worker()]
    workers.theirs[0].send(("ready", None))
    workers.step(give_from([Noting(1)]))
    now = time.monotonic()
    monkeypatch.setattr(pool.time, "monotonic", lambda: now + 303)
    workers.theirs[0].send(("heard", "a"))
    workers.step(give_from([]))
    monkeypatch.setattr(pool.time, "monotonic", lambda: now + 600)
    monkeypatch.setattr("multiprocessing.connection.wait", lambda connections, timeout: [])
    workers.step(give_from([]))
    assert workers.processes[0].ended == []


def test_workers_end_with_their_block(workers):
    workers._slots = [workers._new_worker(), None]
    with suppress(KeyError), workers:
        raise KeyError
    assert workers._slots == [None, None]
    assert workers.processes[0].ended[-1] == "killed"


def test_workers_are_replaced_after_800_tasks(workers):
    workers._slots = [workers._new_worker()]
    workers._slots[0].is_ready, workers._slots[0].tasks = True, 799
    workers.theirs[0].send(("ended", (0, 0.0)))
    workers.step(give_from([Noting(1)]))
    assert (workers.theirs[0].recv(), len(workers.theirs)) == ((double, (1,)), 1)
    workers.theirs[0].close()
    replacement = workers._new_worker()
    workers._new_worker = lambda: replacement
    workers.theirs[1].send(("ready", None))
    workers.step(give_from([Noting(2)]))
    assert (workers._slots[0], workers.theirs[1].recv()) == (replacement, (double, (2,)))
    assert workers.processes[0].ended == ["joined", "killed"]


# Steps of parts.


def test_a_step_of_a_part_is_tried_twice():
    class Writer:
        calls = 0

        def go_on(self):
            self.calls += 1

    writer, problem = Writer(), Problem(Kind.CRASH, "tea")
    step = parts._Step(writer, double, 1)
    assert step.died(problem) is step
    assert (step.is_done, writer.calls) == (False, 0)
    assert step.died(problem) is None
    assert (step.is_done, step.result, writer.calls) == (True, problem, 1)
    part = parts._Part("part-0", "temporary")
    with pytest.raises(VictorError, match="part-0: cannot be written: tea"):
        parts.PartWriter._result(writer, part, step)
