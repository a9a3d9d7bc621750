"""Cleaning with a time limit, in child processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import victorpy
from victorpy.base import child

pytestmark = pytest.mark.processes

PAGE = "<nav><a href='/'>Home</a></nav><p>Tea is made by pouring hot water over the leaves of the tea bush.</p>"


@pytest.fixture(autouse=True)
def no_children():
    child.stop_children()
    yield
    child.stop_children()


def idle():
    return [one._process.pid for one in child._idle]


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_child_gives_the_result_and_is_used_again():
    expected = victorpy.clean(PAGE, format="markdown")
    assert victorpy.clean(PAGE, format="markdown", timeout=60) == expected
    first = idle()
    assert victorpy.clean(PAGE.encode(), format="markdown", timeout=60) == expected
    assert idle() == first
    assert len(first) == 1


def test_a_call_that_takes_too_long_is_stopped():
    victorpy.clean(PAGE, timeout=60)
    (pid,) = idle()
    started = time.monotonic()
    with pytest.raises(victorpy.TimeLimitError, match=r"^the page took longer than 0\.5 seconds$") as caught:
        child.call("time:sleep", (60,), timeout=0.5)
    assert time.monotonic() - started < 30
    assert isinstance(caught.value, TimeoutError)
    assert not is_running(pid)
    assert victorpy.clean(PAGE, timeout=60) == victorpy.clean(PAGE)


def test_a_crash_is_an_error_and_the_next_page_gets_a_new_child():
    with pytest.raises(victorpy.ChildError, match="the process that cleaned the page was ended by SIGSEGV"):
        child.call("signal:raise_signal", (signal.SIGSEGV,), timeout=60)
    with pytest.raises(victorpy.ChildError, match="exit code 3"):
        child.call("os:_exit", (3,), timeout=60)
    assert idle() == []
    assert victorpy.clean(PAGE, timeout=60) == victorpy.clean(PAGE)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_memory_is_limited():
    with pytest.raises(victorpy.ChildError, match="took more than 1,000 MB of memory"):
        child.call("builtins:bytearray", (child.MEMORY,), timeout=60)


def test_errors_come_back():
    with pytest.raises(victorpy.VictorError, match="no output format 'nonsense'"):
        victorpy.clean(PAGE, format="nonsense", timeout=60)
    with pytest.raises(TypeError, match="a page is bytes or text, not int"):
        victorpy.clean(3, timeout=60)
    with pytest.raises(victorpy.ChildError, match="pickle"):
        child.call("threading:Lock", (), timeout=60)
    assert len(idle()) == 1


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_impossible_time_limits_are_refused(timeout):
    with pytest.raises(ValueError, match="timeout must be a number of seconds above 0"):
        victorpy.clean(PAGE, timeout=timeout)


def test_a_call_without_a_real_limit_leaves_no_failed_thread(monkeypatch):
    failures = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    for timeout in (float("inf"), 1e300):
        assert child.call("builtins:len", ("tea",), timeout) == 3
    assert failures == []


def test_threads_have_children_of_their_own():
    def clean_or_hang(number):
        if number % 2:
            return victorpy.clean(f"<p>{number} cups of tea are on the table in the kitchen.</p>", timeout=60)
        with pytest.raises(victorpy.TimeLimitError):
            child.call("time:sleep", (60,), timeout=0.2)
        return None

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(clean_or_hang, range(8)))
    expected = [
        f"{number} cups of tea are on the table in the kitchen.\n" if number % 2 else None for number in range(8)
    ]
    assert results == expected
    assert 1 <= len(idle()) <= 4


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("end", ["", "import os; os.kill(os.getpid(), 9)"])
def test_no_child_outlives_its_parent(end):
    code = f"""
import victorpy
from victorpy.base import child
victorpy.clean("<p>Tea is hot.", timeout=60)
print(child._idle[0]._process.pid, flush=True)
{end}
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    deadline = time.monotonic() + 20
    while is_running(int(ended.stdout)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_running(int(ended.stdout))
