"""Calls with a time limit, without processes: who starts and stops a child, and what both sides send."""

import io
import pickle
import sys
import threading
from types import SimpleNamespace

import pytest

from victorpy.base import child
from victorpy.errors import ChildError, TimeLimitError

Request = tuple[str, str, tuple[object, ...], float]


class Pretended:
    """A child without a process. Its call returns or raises what the test chooses."""

    def __init__(self) -> None:
        self.calls: list[Request] = []
        self.is_stopped = False

    def call(self, request: Request) -> tuple[bool, object]:
        self.calls.append(request)
        result = request[2][0]
        if isinstance(result, ChildError):
            raise result
        return not isinstance(result, Exception), result

    def stop(self) -> None:
        self.is_stopped = True


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> list[Pretended]:
    children: list[Pretended] = []
    monkeypatch.setattr(child, "_Child", Pretended)
    monkeypatch.setattr(child, "_idle", children)
    return children


@pytest.mark.parametrize("timeout", [0, -1, "3", None, float("nan")])
def test_time_limit_is_a_number_above_0(idle: list[Pretended], timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout must be a number of seconds above 0, not "):
        child.call("a:b", ("tea",), timeout)
    assert idle == []
    assert child.call("a:b", ("tea",), 1e-9) == "tea"
    assert idle[0].calls == [("a:b", "builtins:id", ("tea",), 1e-9)]


def test_child_is_used_again_unless_its_call_broke_off(idle: list[Pretended]) -> None:
    assert child.call("a:b", ("tea",), 1) == "tea"
    (first,) = idle
    with pytest.raises(KeyError, match="pot"):  # raised by the function, which has ended
        child.call("a:b", (KeyError("pot"),), 1)
    assert idle == [first]
    assert len(first.calls) == 2
    with pytest.raises(ChildError, match="ended"):
        child.call("a:b", (ChildError("ended"),), 1)
    assert idle == []
    assert first.is_stopped


@pytest.mark.parametrize(("before", "after"), [(6, 7), (7, 8), (8, 8)])
def test_up_to_eight_children_wait_for_calls(idle: list[Pretended], before: int, after: int) -> None:
    class Late(Pretended):
        """While this child works, others become idle."""

        def call(self, request: Request) -> tuple[bool, object]:
            idle.extend(Pretended() for _ in range(before))
            return super().call(request)

    idle.append(last := Late())
    assert child.call("a:b", ("tea",), 1) == "tea"
    assert (len(idle), last.is_stopped) == (after, before == after)
    waiting = [*idle]
    child.stop_children()
    assert idle == []
    assert all(one.is_stopped for one in waiting)


class Process:
    """A process that has already answered, or that answers nothing until it is killed."""

    def __init__(self, command: object, answer: bytes | None = b"", code: int = 0, **options: object) -> None:
        self.killed, self.waited, self.returncode, self.is_ready = threading.Event(), 0, code, False
        self.options = options
        self.stdin = io.BytesIO()
        self.stdout = io.BytesIO(answer or b"")
        if answer is None:
            self.stdout = SimpleNamespace(read=self.read, readline=self.read, close=lambda: None)

    def read(self, size: int = -1) -> bytes:
        if not self.is_ready:
            self.is_ready = True
            return b"\n"
        self.killed.wait(30)
        return b""

    def kill(self) -> None:
        self.killed.set()

    def wait(self) -> None:
        self.waited += 1


def started(monkeypatch: pytest.MonkeyPatch, answer: bytes | None, code: int = 0) -> child._Child:
    monkeypatch.setattr(child.subprocess, "Popen", lambda *args, **options: Process(*args, answer, code, **options))
    return child._Child()


def test_parent_sends_the_call_and_waits_for_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    one = started(monkeypatch, b"\n" + pickle.dumps((True, "tea")))
    assert one.call(("a:b", "c:d", (1,), 60)) == (True, "tea")
    process = one._process
    assert pickle.loads(process.stdin.getvalue()) == ("a:b", "c:d", (1,), 60)
    assert process.options["env"].items() >= child.worker_variables().items()
    assert not process.killed.is_set()
    one.stop()
    assert process.killed.is_set()
    assert process.waited == 1
    assert process.stdin.closed
    assert process.stdout.closed


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (-11, "was ended by SIGSEGV"),
        (3, "was ended by exit code 3"),
        (86, "took more than 1,000 MB of memory"),
        (-86, "was ended by exit code -86"),
    ],
)
@pytest.mark.parametrize("answer", [b"", b"\n", b"\n\x80"])
def test_child_that_ends_is_an_error(monkeypatch: pytest.MonkeyPatch, answer: bytes, code: int, reason: str) -> None:
    one = started(monkeypatch, answer, code)
    with pytest.raises(ChildError, match=f"^the process that cleaned the page {reason}$"):
        one.call(("a:b", "c:d", (1,), 60))
    assert one._process.killed.is_set()
    assert one._process.waited == 1


def test_child_that_does_not_answer_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    one = started(monkeypatch, None)
    with pytest.raises(TimeLimitError, match=r"^the page took longer than 0\.01 seconds$"):
        one.call(("a:b", "c:d", (1,), 0.01))
    assert one._process.waited == 1


class EndedError(BaseException):
    """Raised instead of ending this process."""


def served(monkeypatch: pytest.MonkeyPatch, *requests: Request) -> tuple[io.BytesIO, list[object]]:
    """Let this process serve requests. Return its answers, and what it asks of the system."""
    answers, events = io.BytesIO(), list[object]()

    def end(code: int) -> None:
        events.append(("exit", code))
        raise EndedError

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"".join(map(pickle.dumps, requests)))))
    monkeypatch.setattr(child, "limit_memory", lambda memory: events.append(("memory", memory)))
    system = SimpleNamespace(dup=lambda file: file, fdopen=lambda file, mode: answers, _exit=end)
    system.dup2 = lambda *files: events.append(("dup2", *files))
    monkeypatch.setattr(child, "os", system)
    monkeypatch.setattr(child.signal, "alarm", lambda seconds: events.append(("alarm", seconds)))
    monkeypatch.setattr(child.signal, "signal", lambda *handler: events.append(("signal", *handler)))
    with pytest.raises(EndedError):
        child.serve()
    answers.seek(0)
    return answers, events


def test_child_answers_until_its_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: tuple[Request, ...] = (
        ("builtins:len", "builtins:id", ("tea",), 1.5),
        ("builtins:int", "builtins:int", ("tea",), 1e12),  # the first error is that of the preparation
    )
    answers, events = served(monkeypatch, *calls)
    assert answers.read(1) == b"\n"
    assert pickle.load(answers) == (True, 3)
    assert answers.read(1) == b"\n"
    succeeded, error = pickle.load(answers)
    assert (succeeded, type(error)) == (False, ValueError)
    assert answers.read() == b""
    started = [("dup2", 2, 1), ("signal", child.signal.SIGINT, child.signal.SIG_IGN), ("memory", 1_000_000_000)]
    assert events == [*started, ("alarm", 4), ("alarm", 0), ("alarm", 10**9 + 2), ("alarm", 0), ("exit", 0)]


def test_child_without_memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: tuple[Request, ...] = (("operator:mul", "builtins:id", (b"t", 1 << 60), 3),)
    answers, events = served(monkeypatch, *calls)
    assert answers.read() == b"\n"
    assert events[-2:] == [("alarm", 5), ("exit", 86)]
