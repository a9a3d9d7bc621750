"""Imported once by the server that starts workers, so that all workers share what metadata needs.

Workers are copies of the server, so they start faster and share its memory.
"""

import gc
import threading
from contextlib import suppress

from victorpy.base.language import known_languages


def _load_languages() -> None:
    with suppress(Exception):  # on a full disk the model cannot be expanded; a worker reports the error
        known_languages()


# Expanding the model of languages takes as long as all imports, and does not hold the interpreter's lock.
_loading = threading.Thread(target=_load_languages)
_loading.start()

import victorpy.batch.local.stretches  # noqa: E402, F401
from victorpy.batch.outcome import small_page  # noqa: E402

_loading.join()  # a copy of the process has no threads
with suppress(Exception):  # a worker reports the error
    small_page()
gc.collect()
gc.freeze()  # the collector would write to shared memory
