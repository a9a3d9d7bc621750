"""What runs in a worker: a plan whose model is loaded once, and batches of records that are cleaned by it."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from victorpy.batch.outcome import Outcome, PageCleaner
from victorpy.batch.plan import Plan
from victorpy.batch.reasons import Kind
from victorpy.batch.record import Record
from victorpy.cleaner import Cleaner

MEMORY_EXIT = 86
"""Exit code of a worker that ran out of memory. It ends, because what C libraries hold then may never be freed."""

_COPIES = 3
"""Copies of a page in memory while a worker receives it. They do not count as memory that the page takes."""


class _Worker:
    """What this process has loaded."""

    pages: PageCleaner | None = None
    guarded = False


def start(plan: Plan, memory: int | None = None) -> None:
    """Load the model. In a guarded worker, limit this process to `memory` bytes more than it uses now."""
    _Worker.guarded = memory is not None
    if _Worker.guarded:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # while C code hangs, a Python handler would not run
    _Worker.pages = PageCleaner(plan)
    if memory:
        limit_memory(memory + _COPIES * (plan.most_bytes or 0))


def page_cleaner() -> PageCleaner:
    """Return what `start` has loaded."""
    if _Worker.pages is None:
        raise RuntimeError("the worker was not started")
    return _Worker.pages


def clean_batch(records: Sequence[Record]) -> list[Outcome]:
    """Clean some records, one after the other."""
    return [clean_checked(record) for record in records]


def clean_checked(record: Record, cleaner: Cleaner | None = None) -> Outcome:
    """Clean a record. End the worker if it runs out of memory: a new one tries the record again, alone.

    A record that already ran out of memory when it was read keeps that problem.
    """
    outcome = page_cleaner().clean(record, cleaner)
    if outcome.kind is Kind.MEMORY and record.problem is None and _Worker.guarded:
        os._exit(MEMORY_EXIT)
    return outcome


def limit_memory(memory: int) -> None:
    """Limit this process to `memory` bytes more than it uses now."""
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return  # only Linux has this limit; elsewhere the deadline has to do
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + memory
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))
