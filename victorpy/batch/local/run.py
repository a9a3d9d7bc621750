"""A run over any number of records: they are read, cleaned and written, and an interrupted run can be resumed."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from victorpy.base.files import write_atomically
from victorpy.base.version import __version__
from victorpy.batch.inputs import Survey, find_files, passed_over, read_files, size_before, survey
from victorpy.batch.local import by_site as sites
from victorpy.batch.local.dedup import INDEX, AsideSink, Dedup, Ended, aside_directory, remove_aside, without_replicas
from victorpy.batch.local.guard import Guard, Limits, Task, Unguarded, cleaning_tasks, has_pebble
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.reading import Reader
from victorpy.batch.local.worker import Work
from victorpy.batch.outcome import Outcome
from victorpy.batch.record import Record
from victorpy.batch.retry import Wanted, head_settings, read_failed
from victorpy.batch.sinks import SINKS, Sink
from victorpy.batch.sources import ReadOptions
from victorpy.batch.store import MANIFEST, Counts, Store
from victorpy.cleaner import Cleaner
from victorpy.errors import DataError, OutputError, VictorError, install_command
from victorpy.methods import Method
from victorpy.outputs import find_output

SHARD_RECORDS = 1_000
MOST_COUNTED = 1_000

Write = Callable[[Record, Outcome], None]


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that a run needs to know."""

    inputs: tuple[str, ...]
    directory: Path | None
    """Output directory; None if a writer receives the texts instead."""
    to: str = "folder"
    """Kind of output."""
    format: str = "text"
    """Format of the texts."""
    choice: Method = field(default_factory=Method)
    make: Callable[[], Cleaner] | None = None
    """Returns the cleaner, if it has learned from a site or was loaded before."""
    site: tuple[str, ...] = ()
    """Pages that the cleaner has learned from, if they are not the inputs."""
    learned: bool = False
    """Whether the cleaner has learned from `sample` pages."""
    url: str | None = None
    content_type: str | None = None
    limits: Limits = field(default_factory=Limits)
    read: ReadOptions = field(default_factory=ReadOptions)
    shard_records: int = SHARD_RECORDS
    retry: Path | None = None
    """The failed.jsonl whose records are cleaned again. With `by_site`, `inputs` has the other pages of their sites."""
    by_site: bool = False
    site_key: str = "domain"
    """What pages of a site have in common, with `by_site`: a key of `grouping.SITE_KEYS`."""
    sample: int = sites.SAMPLE
    dedup: Dedup | None = None
    """How replicas are found, if they are to be left out."""
    summary: Path | None = None
    quiet: bool = False
    plain: bool = False
    """Whether only the texts are wanted: no limit of size, all warnings, and no manifest or index that stays."""
    guarded: bool = True
    """Whether pages are cleaned in workers, and not in this process."""

    def work(self) -> Work:
        """Return what workers have to know."""
        most_bytes = None if self.plain else self.read.most_bytes
        make = self.make or self.choice.load
        return Work(make, self.format, self.url, self.content_type, most_bytes, self.dedup)

    def settings(self, input_digest: str) -> dict[str, Any]:
        """Return what decides the output's bytes. The number of workers and the limits of a page do not."""
        settings = {
            "victorpy": __version__,
            "inputs": list(self.inputs),
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
        if self.by_site:
            settings["site key"] = self.site_key
        if self.learned:
            settings["sample"] = self.sample
        if self.dedup:
            settings["dedup"] = self.dedup.identity()
        if self.retry:  # here the limits count, because another retry usually raises them
            settings |= {"retry": str(self.retry), "timeout": self.limits.deadline, "memory": self.limits.memory}
        return settings


def run_job(job: Job, stream: TextIO, write: Write | None = None) -> dict[str, Any]:
    """Run a job to its end and return the counts. Progress goes to the stream."""
    find_output(job.format)
    if job.make is None:
        job.choice.load()  # errors are reported here, and not by workers
    if job.dedup is not None:
        job.dedup.check()
    seen = survey(job.inputs) if job.retry is None else None
    total = in_bytes = None
    if seen is not None and not job.by_site:
        in_bytes = seen.sources > 0
        total = seen.size if in_bytes else seen.pages
    with closing(Progress(stream, total, bool(in_bytes), job.quiet, every_page=job.plain)) as progress:
        if seen is not None and not job.quiet:
            _warn_about_inputs(job, seen, progress)
        if job.directory is None:
            summary = _stream(job, progress, write)
        else:
            is_there = seen is None or seen.is_there or job.plain or (job.directory / MANIFEST).exists()
            if not is_there:
                raise DataError(f"{', '.join(job.inputs)}: cannot be read: No such file or directory")
            summary = _store(job, job.directory, seen, progress)
    if job.summary is not None:
        write_summary(job.summary, summary)
    return summary


def _warn_about_inputs(job: Job, seen: Survey, progress: Progress) -> None:
    others = list(islice(passed_over(job.inputs), MOST_COUNTED))
    if others:
        count = f"{len(others):,}" if len(others) < MOST_COUNTED else f"{MOST_COUNTED:,} or more"
        progress.say(
            f"{count} files of lines or tables beside pages or archives are not read, such as {others[0]}; "
            "name them if they are meant"
        )
    if len(seen.empty) == 1:
        progress.say(f"{seen.empty[0]}: has no bytes, and so no pages")
    elif seen.empty:
        progress.say(f"{len(seen.empty):,} files have no bytes, and so no pages, such as {seen.empty[0]}")


def _stream(job: Job, progress: Progress, write: Write | None) -> dict[str, Any]:
    """Clean records for a writer that takes them in order. An interrupted run cannot be resumed."""
    counts = Counts()
    with ExitStack() as stack:
        if job.dedup is None:
            ended = stack.enter_context(_cleaning(job, None, progress))
        else:
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="victor-replicas-"))
            aside = stack.enter_context(closing(Store(Path(place), {})))
            _clean_into(job, aside, AsideSink(aside.directory), progress)
            ended = stack.enter_context(closing(without_replicas(job.dedup, aside)))
        for mark, record, outcome in ended:
            counts.add(outcome)
            if job.dedup is None:
                progress.add(mark, record, outcome, counts)
            if write is not None:
                write(record, outcome)
    return _summary(job, counts, Counts(), progress)


def _store(job: Job, directory: Path, seen: Survey | None, progress: Progress) -> dict[str, Any]:
    """Clean records into the parts of an output directory."""
    settings = job.settings(seen.digest if seen else _file_digest(job.retry))
    store = _open_store(job, directory, settings)
    earlier = Counts(store.counts.as_dict())
    try:
        if store.complete:
            remove_aside(store)  # if an earlier run was killed just before this
            if not job.quiet:
                progress.say(f"{directory}: all is done already")
        else:
            _fill(job, store, progress)
        if job.plain:
            store.discard()
    except VictorError:
        store.give_back()
        raise
    except KeyboardInterrupt:
        progress.say(f"stopped: {store.safe_pages:,} pages are safe in {directory}; the same command goes on")
        raise
    except OSError as error:
        place = error.filename or directory
        raise OutputError(
            f"{place}: {error.strerror or error}; {store.safe_pages:,} pages are safe in {directory}: "
            "when there is room, the same command goes on with the others"
        ) from error
    finally:
        store.close()
    return _summary(job, store.counts, earlier, progress)


def _open_store(job: Job, directory: Path, settings: dict[str, Any]) -> Store:
    label = ""
    if job.retry:
        label = retry_label(directory, settings)
    elif job.plain:  # other plain runs may write into the directory at the same time
        label = f".{hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:12]}-"
    if directory.exists() and not directory.is_dir():
        raise OutputError(f"{directory}: is a file; many pages go into a directory")
    try:
        return Store(directory, settings, label, {"choice": asdict(job.choice)})
    except OSError as error:
        raise OutputError(f"{error.filename or directory}: cannot be written: {error.strerror or error}") from error


def _fill(job: Job, store: Store, progress: Progress) -> None:
    """Write all parts that are missing. With --dedup, clean all pages into a store aside first."""
    sink = SINKS.get(job.to)(job.to, store.directory, find_output(job.format), job.inputs)
    sink.resume(store.finished_parts())
    with ExitStack() as stack:
        if job.dedup is not None:
            store.aside = stack.enter_context(closing(Store(aside_directory(store), store.settings)))
        if store.safe_pages and not job.quiet:
            progress.say(f"{store.directory}: going on after {store.safe_pages:,} pages")
        if job.dedup is None or store.aside is None:
            _clean_into(job, store, sink, progress)
            return
        if not store.aside.complete:
            _clean_into(job, store.aside, AsideSink(store.aside.directory), progress)
        index = store.directory / INDEX
        ended = without_replicas(job.dedup, store.aside, store.counts.pages, index, store.label)
        _write_parts(job, store, sink, stack.enter_context(closing(ended)), None)
    remove_aside(store)


def _clean_into(job: Job, store: Store, sink: Sink, progress: Progress) -> None:
    """Clean all records that a store does not have yet."""
    if store.last is not None and not (job.by_site or job.retry):
        progress.skip(size_before(job.inputs, store.last.file) or store.counts.pages)
    with _cleaning(job, store, progress) as ended:
        _write_parts(job, store, sink, ended, progress)


def _write_parts(job: Job, store: Store, sink: Sink, ended: Iterator[Ended], progress: Progress | None) -> None:
    """Write records as they come, part after part."""
    counts = Counts(store.counts.as_dict())
    for mark, record, outcome in ended:
        in_part = store.write(sink, mark, record, outcome)
        counts.add(outcome)
        if progress is not None:
            progress.add(mark, record, outcome, counts)
        if in_part == job.shard_records:
            store.commit()
    store.finish()


@contextmanager
def _cleaning(job: Job, store: Store | None, progress: Progress) -> Iterator[Iterator[Ended]]:
    """Clean the records that a store does not have yet. At the end, delete the records spilled by site."""
    after = store.last if store else None
    wanted = Wanted(read_failed(job.retry)) if job.retry else None
    reader = Reader(job.limits)
    guard: Guard | Unguarded
    if job.guarded and (has_pebble() or job.limits.jobs > 1):
        guard = Guard(job.work(), job.limits)
    else:
        if job.guarded and not job.quiet:
            progress.say(f"pages are cleaned without guard, by one process; for more: {install_command('batch')}")
        guard = Unguarded(job.work())
    try:
        if job.by_site and store is not None:
            place = store.directory / f".{store.label}{sites.SPILL}"
            feed = sites.SiteFeed(
                job.inputs, job.read, place, job.sample, job.limits, reader.read, wanted, progress, job.site_key
            )
            yield _outcomes(feed.tasks(after, guard), guard)
            feed.close()
        else:
            files = wanted.files() if wanted else find_files(job.inputs)
            read = wanted.select(reader.read) if wanted else reader.read
            records = read_files(files, job.read, after, read)
            yield _outcomes(cleaning_tasks(records, in_batches=isinstance(guard, Guard)), guard)
        guard.close()
    except BaseException:
        guard.stop()
        raise
    finally:
        reader.close()


def _outcomes(tasks: Iterator[Task[Any]], guard: Guard | Unguarded) -> Iterator[Ended]:
    for task, outcomes in guard.map(tasks):
        for (mark, record), outcome in zip(task.records, outcomes, strict=True):
            yield mark, record, outcome
        if task.cleanup is not None:
            task.cleanup()


def retry_label(directory: Path, settings: Mapping[str, Any]) -> str:
    """Return the prefix of a retry's files: ``retry-1-``, or the first that no retry with other settings has."""
    number = 1
    while head_settings(directory / f"retry-{number}-manifest.jsonl") not in ({}, settings):
        number += 1
    return f"retry-{number}-"


def failed_path(job: Job, directory: Path) -> Path:
    """Return the path of the failed.jsonl that a job writes."""
    label = retry_label(directory, job.settings(_file_digest(job.retry))) if job.retry else ""
    return directory / f"{label}failed.jsonl"


def _file_digest(path: Path | None) -> str:
    return hashlib.sha256(path.read_bytes() if path else b"").hexdigest()


def _summary(job: Job, counts: Counts, earlier: Counts, progress: Progress) -> dict[str, Any]:
    """Return the counts of all runs, and apart from them those of this one."""
    summary = {
        **counts.as_dict(),
        "seconds": round(progress.seconds, 3),
        "pages-now": counts.pages - earlier.pages,
        "bytes-now": counts.bytes - earlier.bytes,
    }
    return summary | ({"dedup": str(job.dedup)} if job.dedup else {})


def check_summary(path: Path) -> None:
    """Raise if a summary cannot be written, before hours are spent on the run."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise OutputError(f"--summary {path}: cannot be written: {error.strerror or error}") from error


def write_summary(path: Path, summary: dict[str, Any]) -> None:
    """Write the counts as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(summary, indent=2).encode() + b"\n")
