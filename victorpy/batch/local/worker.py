"""What runs in a worker: a model that is loaded once, and batches of records that are cleaned with it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from victorpy.batch.local.dedup import Dedup
from victorpy.batch.outcome import Outcome, clean_record
from victorpy.batch.reasons import Kind
from victorpy.batch.record import Record
from victorpy.cleaner import Cleaner
from victorpy.methods import load_method
from victorpy.outputs import Output, find_output

MEMORY_EXIT = 86
"""Exit code of a worker that ran out of memory. It ends, because what C libraries hold then may never be freed."""

_COPIES = 3
"""Copies of a page in memory while a worker receives it. They do not count as memory that the page takes."""

_SMALL_PAGE = """<script type="application/ld+json">{"@type": "Article"}</script><h1>Tea</h1><p>May 17, 2024</p>
<p>Tea is made by pouring hot water over the leaves of the tea bush. It is drunk hot or cold, with milk or lemon, in the
morning and in the afternoon, all over the world.</p>"""


@dataclass(frozen=True, slots=True)
class Work:
    """How records are cleaned, as plain data that pickles."""

    make: Callable[[], Cleaner]
    """Loads the model; called once in each worker."""
    format: str = "text"
    url: str | None = None
    content_type: str | None = None
    most_bytes: int | None = None
    dedup: Dedup | None = None
    """How replicas are detected, if they are."""


class Tools:
    """A model and an output, ready to run."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.cleaner = work.make()
        self.output: Output = find_output(work.format)
        self.detector = work.dedup.detector() if work.dedup else None
        # Some libraries are imported when they are first needed. Process a small page now, so that the first record
        # does not pay for the imports: it has a deadline and a memory limit, and a busy machine may take long.
        if self.output.wants_metadata:
            self.output.render(load_method("everything").document(_SMALL_PAGE, metadata=True))
        if self.detector:
            self.detector.sign(_SMALL_PAGE)

    def clean(self, record: Record, cleaner: Cleaner | None = None) -> Outcome:
        work = self.work
        return clean_record(
            record,
            cleaner or self.cleaner,
            self.output,
            work.url,
            work.content_type,
            work.most_bytes,
            detector=self.detector,
        )


class _Worker:
    """What this process has loaded."""

    tools: Tools | None = None
    guarded = False


def start(work: Work, memory: int | None = None, guarded: bool = True) -> None:
    """Load the model, and limit this process to `memory` bytes more than it uses now."""
    _Worker.guarded = guarded
    if guarded:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # while C code hangs, a Python handler would not run
    _Worker.tools = Tools(work)
    if memory:
        _limit_memory(memory + _COPIES * (work.most_bytes or 0))


def tools() -> Tools:
    """Return what `start` has loaded."""
    if _Worker.tools is None:
        raise RuntimeError("the worker was not started")
    return _Worker.tools


def clean_batch(records: Sequence[Record]) -> list[Outcome]:
    """Clean some records, one after the other."""
    return [clean_checked(record) for record in records]


def clean_checked(record: Record, cleaner: Cleaner | None = None) -> Outcome:
    """Clean a record. End the worker if it runs out of memory: a new one tries the record again, alone.

    A record that already ran out of memory when it was read keeps that problem.
    """
    outcome = tools().clean(record, cleaner)
    if outcome.kind is Kind.MEMORY and record.problem is None and _Worker.guarded:
        os._exit(MEMORY_EXIT)
    return outcome


def _limit_memory(memory: int) -> None:
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return  # only Linux has this limit; elsewhere the deadline has to do
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + memory
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))
