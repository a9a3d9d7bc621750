"""Return unused memory to the system."""

from __future__ import annotations

from contextlib import suppress


def trim_memory() -> None:
    """Return memory that glibc still holds after many small objects, such as the nodes of a large tree, were freed.

    Takes milliseconds, and does nothing on systems without glibc.
    """
    import ctypes

    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
