"""Progress of a run: a bar in a terminal or occasional lines elsewhere, and a table of counts at the end."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from victorpy.base.terminal import SafeStream
from victorpy.batch.counts import Counts, describe_failure
from victorpy.batch.outcome import Outcome
from victorpy.batch.record import Kind, Record, Status
from victorpy.errors import visible

TERMINAL_SECONDS = 0.2
PLAIN_SECONDS = 30.0
LOG_SECONDS = 1.0
PLAIN_LINE = "{n_fmt} of {total_fmt} ({percentage:.0f} %), {rate_fmt}, {remaining} left{postfix}"
PLAIN_LINE_WITHOUT_TOTAL = "{n_fmt} {unit}s, {rate_fmt}{postfix}"
SHOWN = (Status.KEPT, Status.EMPTY, Status.SKIPPED, Status.FAILED)
FEW_PAGES = 50
MOST_NAMED = 20
"""Maximum number of failures that a batch run reports. All failures are in failed.jsonl."""

SURE = 0.98
"""An empty page with a lower confidence is reported with a hint."""


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
        self._quiet = quiet
        self._every_page = every_page
        self._failures = 0
        self.counts = Counts()
        """Counts of the pages, including those of earlier runs."""
        self.now = Counts()
        """Counts of the pages that this run has cleaned."""
        self._start = time.monotonic()
        self.began = datetime.now(UTC).isoformat()
        self._log_path = log
        self._log = log.open("a", encoding="utf-8") if log else None
        self._logged = self._start  # time of the last line in the log
        self._begin(total, in_bytes)
        self._bar: Any = None
        if quiet or (every_page and total == 1):
            return
        from tqdm import tqdm

        tqdm.set_lock(threading.RLock())  # tqdm's multiprocessing lock is slow to create, and workers do not write
        tqdm.monitor_interval = 0
        is_terminal = stream.isatty()
        interval = (TERMINAL_SECONDS if is_terminal else PLAIN_SECONDS) if interval is None else interval
        self._bar = tqdm(
            total=total,
            unit="B" if in_bytes else "page",
            unit_scale=in_bytes,
            file=self._stream if is_terminal else _PlainLines(stream),
            bar_format=None if is_terminal else PLAIN_LINE if total else PLAIN_LINE_WITHOUT_TOTAL,
            mininterval=interval,
            miniters=1,
            delay=0 if is_terminal else interval,
            dynamic_ncols=is_terminal,
            leave=is_terminal,
        )

    def _begin(self, total: int | None, in_bytes: bool) -> None:
        self._total, self._in_bytes = total, in_bytes
        self._n = self._initial = 0  # pages or bytes, including those of earlier runs
        self._stage_start = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    def start(self) -> None:
        """Say that cleaning begins, unless a bar shows it, or there are only a few pages."""
        unit = "bytes" if self._in_bytes else "pages"
        self.log("start", total=self._total, unit=unit)
        is_long = self._total is not None and (self._total > FEW_PAGES or not self._every_page)
        if self._bar is not None and is_long and not self._stream.isatty():
            self._stream.write(f"clean: reading {self._total:,} {unit}\n")
            self._stream.flush()

    def advance(self, statuses: Mapping[str, int], size: int, read: int) -> None:
        """Count pages by status, their size, and the bytes that were read of files with many pages."""
        self.now.statuses.update(statuses)
        self.now.bytes += size
        self.counts.statuses.update(statuses)
        self.counts.bytes += size
        if self._bar is not None:
            shown = ", ".join(f"{self.counts.statuses[str(status)]:,} {status}" for status in SHOWN)
            self._bar.set_postfix_str(shown, refresh=False)
        self.move(read if self._in_bytes else sum(statuses.values()))

    def found(self, counts: Mapping[str, Any]) -> None:
        """Count pages that an earlier run has cleaned."""
        if "kinds" in counts:
            self.counts.add_stored(counts)
            self.move(0 if self._in_bytes else int(counts["pages"]))

    def move(self, count: int) -> None:
        """Move the bar by some pages or bytes."""
        self._n += count
        if self._total is not None:
            self._n = min(self._n, self._total)
        if self._bar is not None:
            self._bar.update(self._n - self._bar.n)
        if self._log is not None and time.monotonic() - self._logged >= LOG_SECONDS:
            self._logged = time.monotonic()
            self.log("progress", **self._measures(), **self.counts.as_dict())

    def _measures(self) -> dict[str, Any]:
        """Return the counts and the rate, and the percentage and the time left if the total is known."""
        rate = (self._n - self._initial) / max(time.monotonic() - self._stage_start, 1e-9)
        measures: dict[str, Any] = {"done": self._n, "total": self._total, "per_second": round(rate, 3)}
        if self._total and rate > 0:
            measures["percent"] = round(100 * self._n / self._total, 2)
            measures["seconds_left"] = round(max(self._total - self._n, 0) / rate, 1)
        return measures

    def log(self, event: str, **fields: Any) -> None:
        """Add a line to the log."""
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
        if self._bar is not None:
            self._bar.initial += count
            self._bar.n += count

    def begin(self, description: str, total: int | None = None, in_bytes: bool = False) -> None:
        """Start a new stage, which counts from zero."""
        self._begin(total, in_bytes)
        self.log("stage", name=description, total=total, unit="bytes" if in_bytes else "pages")
        if self._bar is not None:
            self._bar.unit, self._bar.unit_scale = "B" if in_bytes else "page", in_bytes
            self._bar.set_description_str(description, refresh=self._stream.isatty())
            self._bar.total, self._bar.n, self._bar.initial, self._bar.start_t = total, 0, 0, time.time()
            if self._bar.bar_format:
                self._bar.bar_format = PLAIN_LINE if total else PLAIN_LINE_WITHOUT_TOTAL

    def note(self, words: str) -> None:
        """Write a line, unless quiet."""
        if not self._quiet:
            self.say(words)

    def say(self, words: str) -> None:
        """Write a line, even if quiet."""
        words = visible(words)
        self.log("message", text=words)
        if self._bar is not None and self._stream.isatty():
            self._bar.write(f"clean: {words}", file=self._stream)
        else:
            self._stream.write(f"clean: {words}\n")
        self._stream.flush()

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None
        if self._bar is not None:
            self._bar.leave &= self._bar.n > self._bar.initial  # remove the bar if no page was processed
            self._bar.close()

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
            elif outcome.status is Status.EMPTY:
                hint = ""
                if outcome.confidence is not None and outcome.confidence <= SURE:
                    hint = f" (confidence {outcome.confidence:.2f}; --favor recall gives the best guess)"
                self.say(f"{record.name}: no content was found{hint}")


class _PlainLines:
    """A stream for tqdm that writes the bar as lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.flush = stream.flush

    def write(self, text: str) -> None:
        words = text.strip()
        if words:
            self._stream.write(f"clean: {words}\n")


def summary_table(summary: dict[str, Any]) -> str:
    """Return the counts, one per line, with the reasons why records were skipped or failed.

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
    notes = {"pages": f"{rates} in {seconds:,.1f} s"}
    if len(summary.get("runs", ())) > 1:
        notes["pages"] += f"; {summary['seconds']:,.1f} s in {len(summary['runs'])} runs"
    for status in (Status.SKIPPED, Status.FAILED):
        kinds = [f"{kind} {count}" for kind, count in summary["kinds"].items() if Kind(kind).status is status]
        notes[str(status)] = ", ".join(kinds)
    names = ["pages", *map(str, SHOWN)]
    if "dedup" in summary:
        names.append(str(Status.REPLICA))
        notes[str(Status.REPLICA)] = summary["dedup"]
    lines = [f"{name:<8}{summary[name]:>8,}     {notes.get(name, '')}".rstrip() for name in names]
    return "\n".join([*lines, *(f"warning: {visible(warning)}" for warning in summary.get("warnings", ()))])
