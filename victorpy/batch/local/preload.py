"""Load data in the server that starts workers, so that all workers share it.

Workers are forked from the server, so they start faster and share its memory.
"""

import gc
import sys
import threading
from contextlib import suppress
from types import TracebackType

from victorpy.base.language import known_languages


def _load_languages() -> None:
    with suppress(Exception):  # expanding the model fails on a full disk; a worker will report the error
        known_languages()


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if kind is not EOFError:  # the main process was killed before it sent what a new worker should do
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _report

# Expanding the language model takes as long as all imports, and releases the interpreter's lock.
_loading = threading.Thread(target=_load_languages)
_loading.start()

import victorpy.batch.local.stretches  # noqa: E402, F401
from victorpy.batch.outcome import small_page  # noqa: E402

_loading.join()  # a forked process has no threads
with suppress(Exception):  # a worker will report the error
    small_page()
gc.collect()
gc.freeze()  # the collector would write to shared memory
