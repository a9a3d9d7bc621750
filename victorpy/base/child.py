"""Run functions in child processes with a time limit and a memory limit.

A page that hangs inside a C library cannot be interrupted by a signal or a thread, but its process can be killed. Each
thread that calls a function has a child process of its own, which is started when needed and reused.
"""

from __future__ import annotations

import atexit
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, BinaryIO, NoReturn

from victorpy import native
from victorpy.errors import ChildError, TimeLimitError, plural

MEMORY = 1_000_000_000  # maximum number of bytes that a call may use

_MOST_IDLE = 8
_MEMORY_EXIT = 86
_GRACE = 2  # seconds after which a child ends if its parent has ended
_START = "import sys; sys.path[:] = {path!r}; from victorpy.base.child import serve; serve()"
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

_idle: list[_Child] = []


def call(function: str, arguments: tuple[Any, ...], timeout: float, prepare: str = "builtins:id") -> Any:
    """Call a function, named as ``module:function``, in a child process. Raises what the function raises.

    Raises TimeLimitError after `timeout` seconds, and ChildError if the child crashes or takes too much memory. The
    function `prepare` is called first, with the same arguments. Its time and memory do not count.
    """
    if not isinstance(timeout, (int, float)) or not timeout > 0:
        raise ValueError(f"timeout must be a number of seconds above 0, not {timeout!r}")
    try:
        child = _idle.pop()
    except IndexError:
        child = _Child()
    try:
        succeeded, result = child.call((function, prepare, arguments, timeout))
    except BaseException:  # the child may still work on the call
        child.stop()
        raise
    if len(_idle) < _MOST_IDLE:
        _idle.append(child)
    else:
        child.stop()
    if not succeeded:
        raise result
    return result


def survive_broken_pipes() -> None:
    """Raise an error on writing to a process that has ended. By default, commands exit silently instead."""
    if hasattr(signal, "SIGPIPE") and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)


class _Child:
    """A child process that answers one call after another."""

    def __init__(self) -> None:
        survive_broken_pipes()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | worker_variables(),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout

    def call(self, request: tuple[str, str, tuple[Any, ...], float]) -> tuple[bool, Any]:
        timeout = request[-1]
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            self._process.kill()

        timer = threading.Timer(min(timeout, threading.TIMEOUT_MAX), end)
        timer.daemon = True
        try:
            pickle.dump(request, self._requests)
            self._requests.flush()
            self._answers.read(1)  # the child is ready
            timer.start()
            succeeded, result = pickle.load(self._answers)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            self._process.kill()
            self._process.wait()
            if is_late.is_set():
                raise TimeLimitError(f"the page took longer than {plural(timeout, 'second')}") from None
            code = self._process.returncode
            if code == _MEMORY_EXIT:
                reason = f"took more than {MEMORY / 1e6:,.0f} MB of memory"
            else:
                signals = {-number: number.name for number in signal.Signals}
                reason = f"was ended by {signals.get(code, f'exit code {code}')}"
            raise ChildError(f"the process that cleaned the page {reason}") from error
        finally:
            timer.cancel()
        return succeeded, result

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._answers):
            with suppress(OSError):  # closing may try to send an unsent request
                pipe.close()


@atexit.register
def stop_children() -> None:
    """End the processes that wait for calls."""
    while _idle:
        _idle.pop().stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # idle children belong to the parent


def serve() -> NoReturn:
    """Answer calls from standard input until it ends. The main function of a child."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that libraries print must not mix with answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent stops this process on ^C
    is_limited = False
    while True:
        try:
            function, prepare, arguments, timeout = pickle.load(requests)
        except EOFError:
            os._exit(0)
        with suppress(Exception):  # the call raises it again
            resolve_name(prepare)(*arguments)
        if not is_limited:
            limit_memory(MEMORY)
            is_limited = True
        answers.write(b"\n")
        answers.flush()
        if hasattr(signal, "alarm"):  # the system ends this process even if the parent no longer exists
            signal.alarm(math.ceil(min(timeout, 1e9)) + _GRACE)
        try:
            _answer(answers, True, resolve_name(function)(*arguments))
        except MemoryError:
            os._exit(_MEMORY_EXIT)  # C libraries may never free their memory
        except Exception as error:
            _answer(answers, False, error)
        if hasattr(signal, "alarm"):
            signal.alarm(0)


def _answer(answers: BinaryIO, succeeded: bool, result: object) -> None:
    try:
        written = pickle.dumps((succeeded, result))
        pickle.loads(written)  # some errors can be pickled but not unpickled
    except MemoryError:
        raise
    except Exception as error:
        written = pickle.dumps((False, ChildError(f"{type(error).__name__}: {error}: {result!r:.200}")))
    answers.write(written)
    answers.flush()


def worker_variables() -> dict[str, str]:
    """Return environment variables of processes that clean pages: they use one numpy thread each.

    They import no module from the current directory, which may contain files of strangers. They use the native core
    only if this process does, so that they do not repeat its warning.
    """
    return dict.fromkeys([*_THREADS, "PYTHONSAFEPATH"], "1") | ({"VICTOR_ENGINE": "python"} if native.why_not() else {})


def limit_memory(memory: int) -> None:
    """Limit this process to `memory` more bytes than it uses now. Only Linux supports this limit."""
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + memory
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))
