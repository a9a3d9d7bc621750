"""A run over many records: read, cleaned in guarded workers, written in parts, to be gone on with after a break."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from victorpy.batch import by_site as sites
from victorpy.batch.choice import Choice
from victorpy.batch.feeds import Feed, InputFeed, RetryFeed
from victorpy.batch.guard import Guard, Limits, Unguarded, has_pebble
from victorpy.batch.inputs import Mark, survey
from victorpy.batch.outcome import Outcome
from victorpy.batch.progress import Progress, summary_table
from victorpy.batch.records import Record
from victorpy.batch.shards import Counts, Part, Store
from victorpy.batch.sinks import SINKS
from victorpy.batch.sources import ReadOptions
from victorpy.batch.worker import Work
from victorpy.cleaner import Cleaner
from victorpy.errors import OutputError
from victorpy.outputs import find_output

SHARD_RECORDS = 1_000


@dataclass(frozen=True, slots=True)
class Job:
    """All that says what a run is to do."""

    inputs: tuple[str, ...]
    directory: Path | None
    """Where parts go; None where a writer takes the texts instead."""
    to: str = "folder"
    """Which kind of output."""
    format: str = "text"
    """How the texts are written."""
    choice: Choice = field(default_factory=Choice)
    make: Callable[[], Cleaner] | None = None
    """How to have the cleaner, where it is not only to be loaded ..."""
    site: tuple[str, ...] = ()
    """... but to learn from these."""
    url: str | None = None
    content_type: str | None = None
    limits: Limits = field(default_factory=Limits)
    read: ReadOptions = field(default_factory=ReadOptions)
    shard_records: int = SHARD_RECORDS
    retry: Path | None = None
    by_site: bool = False
    sample: int = sites.SAMPLE
    summary: Path | None = None
    quiet: bool = False

    def work(self) -> Work:
        """What workers have to know."""
        make = self.make or self.choice.load
        return Work(make, self.format, self.url, self.content_type, self.read.most_bytes)

    def settings(self, input_digest: str) -> dict[str, Any]:
        """What decides about the output's bytes: not how many workers there are, nor how patient we are."""
        from victorpy import __version__

        return {
            "victorpy": __version__,
            "inputs": list(self.inputs) if self.retry is None else [str(self.retry)],
            "input files": input_digest,
            **self.choice.identity(),
            "format": self.format,
            "to": self.to,
            "url": self.url,
            "content type": self.content_type,
            "records a part": self.shard_records,
            "html field": self.read.html_field,
            "url field": self.read.url_field,
            "check digests": self.read.check_digests,
            "largest page": self.read.most_bytes,
            "site": list(self.site) if any(self.site) else None,
            "by site": [self.sample] if self.by_site else None,
        }


Write = Callable[[Record, Outcome], None]


def run_job(job: Job, stream: TextIO, write: Write | None = None) -> dict[str, Any]:
    """Run a job to its end and give the counts; progress goes to the stream."""
    find_output(job.format)
    (job.make or job.choice.load)()  # whatever is wrong with it is said here, not by workers
    seen = survey(job.inputs) if job.retry is None else None
    progress = Progress(stream, None if job.by_site else seen, job.quiet)
    if job.directory is None:
        summary = _streamed(job, progress, write)
    else:
        digest = seen.digest if seen else _file_digest(job.retry)
        summary = _stored(job, job.directory, job.settings(digest), progress)
    if job.summary is not None:
        write_summary(job.summary, summary)
    return summary


def _streamed(job: Job, progress: Progress, write: Write | None) -> dict[str, Any]:
    """Clean records for a writer that takes them in order; there is nothing to go on with after a break."""
    counts = Counts()
    feed: Feed = InputFeed(job.inputs, job.read) if job.retry is None else RetryFeed(job.retry, job.read)
    guard = _guard(job, progress)
    try:
        for mark, record, outcome in _outcomes(feed, guard, None):
            counts.add(outcome)
            progress.add(mark, record, outcome, counts)
            if write is not None:
                write(record, outcome)
        guard.close()
    except BaseException:
        guard.stop()
        raise
    finally:
        progress.close()
    return _summary(counts, progress, Counts())


def _stored(job: Job, directory: Path, settings: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Clean records into parts."""
    store = _opened(directory, settings, retry_label(job.retry) if job.retry else "")
    before = Counts()
    before.add_stored(store.counts.as_dict())
    try:
        if store.complete and not job.quiet:
            progress.say(f"{directory}: all is done already")
        if not store.complete:
            if store.parts and not job.quiet:
                progress.say(f"{directory}: going on after {store.counts.pages:,} pages")
            _fill(job, store, progress)
    except KeyboardInterrupt:
        progress.say(f"stopped: {store.counts.pages:,} pages are safe in {directory}; the same command goes on")
        raise
    except OSError as error:
        place = error.filename or directory
        raise OutputError(
            f"{place}: {error.strerror or error}; {store.counts.pages:,} pages are safe in {directory}: "
            "when there is room, the same command goes on with the others"
        ) from error
    finally:
        progress.close()
        store.close()
    return _summary(store.counts, progress, before)


def _opened(directory: Path, settings: dict[str, Any], label: str) -> Store:
    if directory.exists() and not directory.is_dir():
        raise OutputError(f"{directory}: is a file; many pages go into a directory")
    try:
        return Store(directory, settings, label)
    except OSError as error:
        raise OutputError(f"{error.filename or directory}: cannot be written: {error.strerror or error}") from error


def _fill(job: Job, store: Store, progress: Progress) -> None:
    """Write all parts that are missing."""
    sink = SINKS.get(job.to)(store.directory, find_output(job.format))
    sink.resume(store.finished_parts())
    feed = _feed(job, store)
    guard = _guard(job, progress)
    part: Part | None = None
    counts = Counts()
    counts.add_stored(store.counts.as_dict())
    in_part = 0
    try:
        for mark, record, outcome in _outcomes(feed, guard, store.last):
            part = part or store.begin(sink)
            part.write(mark, record, outcome)
            in_part += 1
            counts.add(outcome)
            progress.add(mark, record, outcome, counts)
            if in_part == job.shard_records:
                part.commit()
                part, in_part = None, 0
        if part is not None:
            part.commit()
            part = None
        store.finish()
        feed.close()
        guard.close()
    except BaseException:
        guard.stop()
        if part is not None:
            part.abandon()
        raise


def _feed(job: Job, store: Store) -> Feed:
    if job.retry is not None:
        return RetryFeed(job.retry, job.read)
    if job.by_site:
        return sites.SiteFeed(job.inputs, job.read, store.directory / sites.SPILL, job.sample, job.limits)
    return InputFeed(job.inputs, job.read)


def _guard(job: Job, progress: Progress) -> Guard | Unguarded:
    if has_pebble() or job.limits.jobs > 1:
        return Guard(job.work(), job.limits)
    if not job.quiet:
        progress.say("pages are cleaned without guard, by one process: pip install 'victorpy[batch]' for more")
    return Unguarded(job.work())


def _outcomes(feed: Feed, guard: Guard | Unguarded, after: Mark | None) -> Iterator[tuple[Mark, Record, Outcome]]:
    for task, outcomes in guard.map(feed.tasks(after, guard)):
        for (mark, record), outcome in zip(task.told, outcomes, strict=True):
            yield mark, record, outcome
        if task.cleanup is not None:
            task.cleanup()


def settings_beside(retry: Path) -> dict[str, Any]:
    """The settings of the run that a failed.jsonl is of; nothing where it has been taken elsewhere."""
    manifest = retry.with_name(retry.name.replace("failed.jsonl", "manifest.jsonl"))
    try:
        with manifest.open("rb") as lines:
            return dict(json.loads(lines.readline())["settings"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def retry_label(retry: Path) -> str:
    """How the files of a retry begin: the first of failed.jsonl, the next of what failed again.

    >>> retry_label(Path("out/failed.jsonl")), retry_label(Path("out/retry-1-failed.jsonl"))
    ('retry-1-', 'retry-2-')
    """
    parts = retry.name.split("-")
    before = int(parts[1]) if len(parts) > 2 and parts[0] == "retry" and parts[1].isdigit() else 0
    return f"retry-{before + 1}-"


def _file_digest(path: Path | None) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes() if path else b"").hexdigest()


def _summary(counts: Counts, progress: Progress, before: Counts) -> dict[str, Any]:
    told = counts.as_dict()
    now = {"pages-now": counts.pages - before.pages, "bytes-now": counts.bytes - before.bytes}
    return {**told, "seconds": round(progress.seconds, 3), **now}


def write_summary(path: Path, summary: dict[str, Any]) -> None:
    """Write the counts as JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


__all__ = ["Job", "run_job", "summary_table", "write_summary"]
