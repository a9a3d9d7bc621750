"""What runs in a worker: a model loaded once, and lists of records cleaned with it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from victorpy.batch.dedup import Dedup
from victorpy.batch.outcome import Outcome, clean_record
from victorpy.batch.reasons import Kind
from victorpy.batch.records import Record
from victorpy.cleaner import Cleaner
from victorpy.methods import load_method
from victorpy.outputs import Output, find_output

MEMORY_EXIT = 86
"""How a worker ends that has run out of memory: what it holds cannot be trusted to be freed."""

_COPIES = 3
"""Of a page, while a worker receives it: memory for these is there in any case, or it would end before it can tell."""

_SMALL_PAGE = """<script type="application/ld+json">{"@type": "Article"}</script><h1>Tea</h1><p>May 17, 2024</p>
<p>Tea is made by pouring hot water over the leaves of the tea bush. It is drunk hot or cold, with milk or lemon, in the
morning and in the afternoon, all over the world.</p>"""


@dataclass(frozen=True, slots=True)
class Work:
    """How records are cleaned, as a worker has to know it."""

    make: Callable[[], Cleaner]
    """Loads the model; it is called once in each worker, and has to pickle."""
    format: str = "text"
    url: str | None = None
    content_type: str | None = None
    most_bytes: int | None = None
    dedup: Dedup | None = None
    """How replicas are told, where they are looked for."""


class Tools:
    """A model and an output, ready to run."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.cleaner = work.make()
        self.output: Output = find_output(work.format)
        self.detector = work.dedup.detector() if work.dedup else None
        self._load_libraries()

    def _load_libraries(self) -> None:
        """Make a record of a small page: what is loaded when first needed would be at the cost of the first record.

        That has a deadline and an amount of memory of its own, and a machine under load may take long to load.
        """
        if self.output.wants_metadata:
            self.output.render(load_method("everything").document(_SMALL_PAGE, metadata=True))
        if self.detector:
            self.detector.sign(_SMALL_PAGE)

    def clean(self, record: Record, cleaner: Cleaner | None = None) -> Outcome:
        """Clean one record."""
        work = self.work
        told = (work.url, work.content_type, work.most_bytes)
        return clean_record(record, cleaner or self.cleaner, self.output, *told, detector=self.detector)


class _Worker:
    """What this process has loaded."""

    tools: Tools | None = None
    guarded = False


def start(work: Work, memory: int | None = None, guarded: bool = True) -> None:
    """Load the model, and let this process have no more than so much memory besides."""
    _Worker.guarded = guarded
    if guarded:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # also where C code hangs, and no handler of Python's would run
    _Worker.tools = Tools(work)
    if memory:
        _limit_memory(memory + _COPIES * (work.most_bytes or 0))


def tools() -> Tools:
    """What `start` has loaded."""
    if _Worker.tools is None:
        raise RuntimeError("the worker was not started")
    return _Worker.tools


def clean_batch(records: Sequence[Record]) -> list[Outcome]:
    """Clean some records, one after the other."""
    return [clean_checked(record) for record in records]


def clean_checked(record: Record, cleaner: Cleaner | None = None) -> Outcome:
    """Clean a record, and end the worker where memory runs out: the record is tried again in a new one, alone.

    Not where it ran out before, when the record was read: that is what is to be told of it.
    """
    outcome = tools().clean(record, cleaner)
    if outcome.kind is Kind.MEMORY and record.problem is None and _Worker.guarded:
        os._exit(MEMORY_EXIT)
    return outcome


def _limit_memory(memory: int) -> None:
    """Limit what this process may ask for to what it has now and so many bytes more."""
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return  # other systems have no such limit: the deadline has to do
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = used + memory
    resource.setrlimit(resource.RLIMIT_AS, (wanted if hard < 0 else min(wanted, hard), hard))
