"""Imported once by the server that starts workers, so that all workers share what metadata needs.

Workers are copies of the server, so they start faster and share its memory.
"""

import gc
from contextlib import suppress

from victorpy.batch.outcome import small_page

with suppress(Exception):  # a worker reports the error
    small_page()
gc.collect()
gc.freeze()  # the collector would write to shared memory
