"""Signals that stop a run. They are handled only while the run waits, so that no write is interrupted."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(KeyboardInterrupt):
    """A signal has stopped the run."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _State:
    received: int | None = None
    is_waiting = False


@contextmanager
def stopping_signals(anywhere: bool = False) -> Iterator[None]:
    """Raise `Stopped` on SIGINT and SIGTERM while the run waits, or `anywhere`. A second signal ends the process."""

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        _State.received = number
        if _State.is_waiting:
            check_signals()

    was_waiting = _State.is_waiting
    _State.received, _State.is_waiting = None, anywhere
    previous = {}
    if threading.current_thread() is threading.main_thread():
        wanted = (
            number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN
        )
        previous = {number: signal.signal(number, handle) for number in wanted}
    try:
        yield
    except Exception as error:
        if anywhere and _State.received is not None:  # imports turn `Stopped` into other errors
            raise Stopped(_State.received) from error
        raise
    finally:
        _State.is_waiting = was_waiting
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextmanager
def waiting() -> Iterator[None]:
    """Allow signals to interrupt the code in this context."""
    was_waiting = _State.is_waiting
    check_signals()
    _State.is_waiting = True
    try:
        yield
    finally:
        _State.is_waiting = was_waiting


def check_signals() -> None:
    """Raise `Stopped` if a signal has been received."""
    if _State.received is not None:
        raise Stopped(_State.received)
