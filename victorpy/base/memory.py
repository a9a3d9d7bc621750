"""Return unused memory to the system."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache


def trim_memory() -> None:
    """Return the memory that glibc keeps after many small pieces were freed, such as the nodes of a large tree.

    Takes milliseconds, and does nothing on systems without glibc.
    """
    trim = _malloc_trim()
    if trim:
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], object] | None:
    import ctypes

    try:
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None
    return trim
