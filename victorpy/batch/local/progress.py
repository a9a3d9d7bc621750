"""Progress of a run: a bar in a terminal or occasional lines elsewhere, and a table of counts at the end."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TextIO

from victorpy.base.files import open_output
from victorpy.base.terminal import SafeStream
from victorpy.batch.outcome import Counts, Outcome, describe_failure
from victorpy.batch.record import Kind, Record, Status
from victorpy.cleaner import BUILT_BY_SCRIPTS
from victorpy.errors import visible

TERMINAL_SECONDS, PLAIN_SECONDS, LOG_SECONDS = 0.2, 30.0, 1.0
"""Seconds between updates of the bar, between lines if there is no terminal, and between lines of the log."""
_BAR, _SHORTEST_BAR = 20, 5
"""Width of the bar. If it would become narrower than the second width, words are left out."""
SHOWN = (Status.KEPT, Status.EMPTY, Status.SKIPPED, Status.FAILED)
FEW_PAGES = 50
MOST_NAMED = 20
"""Maximum number of failures that a batch run reports. All failures are in failed.jsonl."""

SURE = 0.98
"""If the confidence of an empty page is lower, the report includes a hint."""


class Progress:
    """Reports the progress of a run on a stream, and in a log of JSON lines."""

    def __init__(
        self,
        stream: TextIO,
        total: int | None = None,
        in_bytes: bool = False,
        quiet: bool = False,
        every_page: bool = False,
        interval: float | None = None,
        log: Path | None = None,
    ) -> None:
        """Show the bar. `total` counts pages or bytes of the inputs, and `interval` is in seconds.

        With `every_page`, all warnings are shown, and a single page has no bar.
        """
        self._stream = SafeStream(stream)
        self._quiet, self._every_page = quiet, every_page
        self._is_shown = not (quiet or (every_page and total == 1))
        self._has_bar = self._is_shown and stream.isatty()
        self._interval = (TERMINAL_SECONDS if self._has_bar else PLAIN_SECONDS) if interval is None else interval
        self._failures = 0
        self.counts = Counts()
        """Counts of the pages, including those of earlier runs."""
        self.now = Counts()
        """Counts of the pages that this run has cleaned."""
        self._start = self._logged_at = time.monotonic()
        self.began = datetime.now(UTC).isoformat()
        self._log_path = log
        self._log: TextIO | None = None
        self.begin("", total, in_bytes)
        if log is not None:
            self._log = open_output(log, self.say, "a")

    def begin(self, description: str, total: int | None = None, in_bytes: bool = False) -> None:
        """Start a new stage, which counts from zero."""
        self._description, self.total, self.in_bytes = description, total, in_bytes
        self._learned = 0
        self._n = self._initial = 0  # pages or bytes, including those of earlier runs
        self._stage_start = self._drawn_at = time.monotonic()
        self._draw()
        self.log("stage", name=description, total=total, unit=self._unit)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    @property
    def _unit(self) -> str:
        return "bytes" if self.in_bytes else "pages"

    def start(self) -> None:
        """Print that cleaning begins, unless a bar shows it or there are only a few pages."""
        self.log("start", total=self.total, unit=self._unit)
        is_long = self.total is not None and (self.total > FEW_PAGES or not self._every_page)
        if self._is_shown and is_long and not self._has_bar:
            self._stream.write(f"clean: reading {self.total:,} {self._unit if self.total != 1 else self._unit[:-1]}\n")
            self._stream.flush()

    def advance(self, statuses: Mapping[str, int], size: int, read: int) -> None:
        """Add pages by status, their size, and the bytes read from files with many pages."""
        for counts in (self.now, self.counts):
            counts.statuses.update(statuses)
            counts.bytes += size
        self.move(read if self.in_bytes else sum(statuses.values()))

    def learned(self, pages: int) -> None:
        """Count pages that sites were learned from."""
        self._learned += pages
        self.move(0)

    def found(self, counts: Mapping[str, Any]) -> None:
        """Count pages that an earlier run has cleaned."""
        if "kinds" in counts:
            self.counts.add_stored(counts)
            self.move(0 if self.in_bytes else int(counts["pages"]))

    def move(self, count: int) -> None:
        """Move the bar by some pages or bytes."""
        now = time.monotonic()
        self._n = self._n + count if self.total is None else min(self._n + count, self.total)
        if now - self._drawn_at >= self._interval:
            self._drawn_at = now
            self._draw(is_line=True)
        if self._log is not None and now - self._logged_at >= LOG_SECONDS:
            self._logged_at = now
            self.log("progress", **self._measures(), **self.counts.as_dict())

    def _measures(self) -> dict[str, Any]:
        """Return the counts and the rate, and the percentage and the time left if the total is known."""
        rate = (self._n - self._initial) / max(time.monotonic() - self._stage_start, 1e-9)
        measures: dict[str, Any] = {"done": self._n, "total": self.total, "per_second": round(rate, 3)}
        if self._learned:
            measures["learned"] = self._learned
        if self.total and rate > 0:
            measures["percent"] = round(100 * self._n / self.total, 2)
            measures["seconds_left"] = round(max(self.total - self._n, 0) / rate, 1)
        return measures

    def _draw(self, is_line: bool = False) -> None:
        """Draw the bar. Without a bar, write a line if `is_line`."""
        if not (self._has_bar or (is_line and self._is_shown)):
            return
        measures = self._measures()
        unit, size = ("MB", 1e6) if self.in_bytes else ("pages", 1)
        percent = measures.get("percent", 0.0)
        done = f"{self._n / size:,.0f}"
        of_all = f" of {self.total / size:,.0f}" if self.total else ""
        rest = f" {unit} ({percent:.0f} %)" if self.total else f" {unit}"
        rate = f"{measures['per_second'] / size:,.1f} {unit}/s"
        words = []
        if "seconds_left" in measures:
            words.append(f"{timedelta(seconds=round(measures['seconds_left']))} left")
        words += [f"{self.counts.statuses[str(status)]:,} {status}" for status in SHOWN]
        if self._learned:
            words.append(f"{self._learned:,} read to learn sites")
        name = self._description or "clean"
        starts = [done + of_all + rest, rate], [done + of_all + rest], [done + rest]
        lines = [f"{name}: {', '.join([*start, *words])}" for start in starts]
        line = lines[0]
        if self._has_bar:
            width = self._width
            line = next((line for line in lines if len(line) + _SHORTEST_BAR < width), lines[-1])
            length = max(min(_BAR, width - len(line) - 1), 0)
            bar = "█" * round(length * percent / 100)
            self._stream.write(f"\r{f'{bar:░<{length}} {line}'[:width]:<{width}}\r")
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()

    def log(self, event: str, **fields: Any) -> None:
        if self._log is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            self._log.write(json.dumps({"event": event, "time": now, **fields}) + "\n")
            self._log.flush()
        except OSError as error:
            self._log = None
            self.say(f"{self._log_path}: cannot be written: {error.strerror}; the run continues without this log")

    def skip(self, counts: Counts, count: int) -> None:
        """Skip pages or bytes that an earlier run has processed."""
        self.counts = Counts(counts.as_dict())
        self._n += count
        self._initial += count

    def note(self, words: str) -> None:
        """Write a line, unless quiet."""
        if not self._quiet:
            self.say(words)

    def say(self, words: str) -> None:
        """Write a line, even if quiet."""
        words = visible(words)
        self.log("message", text=words)
        self._clear()
        self._stream.write(f"clean: {words}\n")
        self._draw()
        self._stream.flush()

    @property
    def _width(self) -> int:
        """Usable width of the terminal. The last column stays free, because writing to it may start a new line."""
        columns = 0  # also if the terminal does not report its size
        with suppress(OSError):
            columns = os.get_terminal_size(self._stream.fileno()).columns
        return (columns or shutil.get_terminal_size().columns) - 1

    def _clear(self) -> None:
        if self._has_bar:
            self._stream.write(f"\r{'':<{self._width}}\r")

    def close(self) -> None:
        """Close the log. The bar stays visible if pages were processed."""
        if self._log is not None:
            self._log.close()
            self._log = None
        if self._n > self._initial:
            self._draw()
            self._stream.write("\n" if self._has_bar else "")
        else:
            self._clear()
        self._has_bar = self._is_shown = False

    def failed(self, failure: Mapping[str, Any]) -> None:
        """Report a failed record, even if quiet."""
        self._failures += 1
        self.log("failed", **{name: failure[name] for name in ("url", "name", "source", "position", "kind", "reason")})
        if self._every_page or self._failures <= MOST_NAMED:
            self.say(f"{failure['name']}: failed: {failure['reason']}")
        elif self._failures == MOST_NAMED + 1:
            self.say("more pages failed; all of them are in failed.jsonl")

    def report(self, record: Record, outcome: Outcome) -> None:
        """Report a failure. With `every_page`, also report losses and pages without text."""
        if outcome.status is Status.FAILED:
            self.failed(describe_failure(record, outcome))
        elif self._every_page and not self._quiet:
            for loss in outcome.losses:
                self.say(f"{record.name}: {loss}")
            if outcome.status is Status.SKIPPED:
                self.say(f"{record.name}: skipped: {outcome.reason}")
            if outcome.status is Status.EMPTY and not outcome.size:
                self.say(f"{record.name}: the page is empty (0 bytes)")
            elif outcome.status is Status.EMPTY and BUILT_BY_SCRIPTS not in outcome.losses:
                hint = ""
                if outcome.confidence is not None and outcome.confidence <= SURE:
                    sure = f"{100 * outcome.confidence:.0f} % sure"
                    hint = f"; the model is {sure} of that (--favor recall gives its best guess)"
                self.say(f"{record.name}: no content was found{hint}")


def summary_table(summary: dict[str, Any]) -> str:
    """Return a table of the counts, with the reasons why records were skipped or failed.

    >>> print(summary_table({"pages": 3, "kept": 2, "empty": 0, "skipped": 0, "failed": 1, "seconds": 2.0,
    ...                      "bytes": 4_000_000, "kinds": {"timeout": 1}}))
    pages          3     1.5 pages/s, 2.00 MB/s in 2.0 s
    kept           2
    empty          0
    skipped        0
    failed         1     timeout 1
    """
    seconds, pages, size = (summary.get(f"{name}-now", summary[name]) for name in ("seconds", "pages", "bytes"))
    rates = f"{pages / max(seconds, 1e-9):,.1f} pages/s, {size / 1e6 / max(seconds, 1e-9):,.2f} MB/s"
    times = [f"{rates} in {seconds:,.1f} s"] if pages else []
    if len(summary.get("runs", ())) > 1:
        times.append(f"{summary['seconds']:,.1f} s in {len(summary['runs'])} runs")
    notes = {"pages": "; ".join(times)}
    for status in (Status.SKIPPED, Status.FAILED):
        kinds = [f"{kind} {count}" for kind, count in summary["kinds"].items() if Kind(kind).status is status]
        notes[str(status)] = ", ".join(kinds)
    names = ["pages", *map(str, SHOWN)]
    if "dedup" in summary:
        names.append(str(Status.REPLICA))
        notes[str(Status.REPLICA)] = summary["dedup"]
    lines = [f"{name:<8}{summary[name]:>8,}     {notes.get(name, '')}".rstrip() for name in names]
    return "\n".join([*lines, *(f"warning: {visible(warning)}" for warning in summary.get("warnings", ()))])
