"""Progress in words: a line that changes on a terminal, a new one every so often elsewhere, a table at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TextIO

from victorpy.batch.inputs import Mark, Survey
from victorpy.batch.outcome import Outcome, Status
from victorpy.batch.records import Record
from victorpy.batch.shards import Counts

TERMINAL_SECONDS = 0.5
PLAIN_SECONDS = 30.0
MOST_NAMED = 20
"""Failures that are named as they come; the others are in failed.jsonl."""


class Progress:
    """Tells on a stream how a run is going."""

    def __init__(
        self, stream: TextIO, survey: Survey | None, quiet: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._survey = survey
        self._quiet = quiet
        self._clock = clock
        self._terminal = stream.isatty()
        self._begun = self._shown = clock()
        self._width = 0
        self._named = 0
        self._pages = self._bytes = 0
        self._source_bytes = 0
        """Of files that are done."""
        self._file = (-1, 0)
        """The file that is being read, and how far."""
        self._expected: int | None = None

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return self._clock() - self._begun

    def add(self, mark: Mark, record: Record, outcome: Outcome, counts: Counts) -> None:
        """Take notice of a record; `counts` has those of earlier runs too."""
        self._pages += 1
        self._bytes += outcome.size
        if mark.file != self._file[0]:
            self._source_bytes += self._file[1]
        self._file = (mark.file, record.reached)
        if outcome.status is Status.FAILED and self._named <= MOST_NAMED:
            self._name(record, outcome)
        self.tell(lambda: self.line(counts))

    def tell(self, line: Callable[[], str]) -> None:
        """Show a line, where the last one was shown long enough ago."""
        wait = TERMINAL_SECONDS if self._terminal else PLAIN_SECONDS
        if not self._quiet and self._clock() - self._shown >= wait:
            self._shown = self._clock()
            self._show(line())

    def skip(self, size: int) -> None:
        """Take notice of files, of this size together, that were done before."""
        self._source_bytes += size

    def expect(self, pages: int) -> None:
        """Take notice of how many pages there are in all, where that is known."""
        self._expected = pages

    def say(self, words: str) -> None:
        """Say something in a line of its own."""
        self._clear()
        self._stream.write(f"clean: {words}\n")
        self._stream.flush()

    def line(self, counts: Counts) -> str:
        """How far the run is, in a line."""
        seconds = max(self.seconds, 1e-9)
        parts = [
            f"{counts.pages:,} pages{self._left(counts)}",
            f"{self._pages / seconds:,.1f} pages/s",
            f"{self._bytes / 1e6 / seconds:,.2f} MB/s",
            f"{counts.statuses['failed']:,} failed",
        ]
        return ", ".join(parts)

    def close(self) -> None:
        """Leave the terminal's line empty."""
        self._clear()

    def _left(self, counts: Counts) -> str:
        survey = self._survey
        expected = survey.pages if survey is not None and not survey.sources else self._expected
        if expected is not None:
            return f" of {expected:,}, {max(expected - counts.pages, 0):,} left"
        if survey is None:
            return ""
        left = max(survey.size - self._source_bytes - self._file[1], 0)
        return f", {left / 1e6:,.1f} of {survey.size / 1e6:,.1f} MB left"

    def _name(self, record: Record, outcome: Outcome) -> None:
        self._named += 1
        if self._named <= MOST_NAMED:
            self.say(f"{record.name}: failed: {outcome.reason}")
        else:
            self.say("more pages failed; all of them are in failed.jsonl")

    def _show(self, line: str) -> None:
        if self._terminal:
            self._stream.write(f"\r{line:<{self._width}}")
            self._width = len(line)
            self._stream.flush()
        else:
            self.say(line)

    def _clear(self) -> None:
        if self._terminal and self._width:
            self._stream.write(f"\r{'':<{self._width}}\r")
            self._width = 0


def summary_table(summary: dict[str, Any]) -> str:
    """The counts in the end, a line each, with the reasons below those that were not cleaned.

    >>> print(summary_table({"pages": 3, "kept": 2, "empty": 0, "skipped": 0, "failed": 1, "seconds": 2.0,
    ...                      "bytes": 4_000_000, "kinds": {"timeout": 1}}))
    pages          3     1.5 pages/s, 2.00 MB/s in 2.0 s
    kept           2
    empty          0
    skipped        0
    failed         1     timeout 1
    """
    from victorpy.batch.reasons import Kind

    seconds = max(summary["seconds"], 1e-9)
    done, size = summary.get("pages-now", summary["pages"]), summary.get("bytes-now", summary["bytes"])
    notes = {"pages": f"{done / seconds:,.1f} pages/s, {size / 1e6 / seconds:,.2f} MB/s in {summary['seconds']:,.1f} s"}
    for status in (Status.SKIPPED, Status.FAILED):
        kinds = [f"{kind} {count}" for kind, count in summary["kinds"].items() if Kind(kind).status is status]
        notes[str(status)] = ", ".join(kinds)
    if "dedup" in summary:
        notes[str(Status.REPLICA)] = summary["dedup"]
    names = ["pages", *(str(status) for status in Status if status is not Status.REPLICA or "dedup" in summary)]
    return "\n".join(f"{name:<8}{summary[name]:>8,}     {notes.get(name, '')}".rstrip() for name in names)
