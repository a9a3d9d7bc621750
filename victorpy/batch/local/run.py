"""Run a plan on this machine: read, clean and write records. Interrupted runs can be resumed."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from victorpy.base.files import read_regular
from victorpy.batch.inputs import (
    HIDDEN,
    Group,
    Stamps,
    Survey,
    Wanted,
    find_files,
    group_files,
    input_warnings,
    read_failed,
    read_files,
    size_before,
    survey,
)
from victorpy.batch.local.flow import Flow
from victorpy.batch.local.logs import Segment, Stretch, log_length, read_log, read_logs
from victorpy.batch.local.parts import PartWriter
from victorpy.batch.local.pool import Here, Workers, start_server
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.signals import check_signals, stopping_signals, waiting
from victorpy.batch.local.stretches import Previous, clean_checked, start_worker
from victorpy.batch.outcome import Counts, Outcome
from victorpy.batch.plan import Plan
from victorpy.batch.record import Record
from victorpy.batch.replicas import DECISIONS, INDEX, decide_records, dedup_summary
from victorpy.batch.sinks import SINKS, Folder, Sink, Write, make_sink
from victorpy.batch.store import (
    INPUT_FILES,
    MANIFEST,
    Store,
    other_settings,
    read_head,
    refuse_gone_files,
    refuse_mixed_parts,
    refuse_other_settings,
    side_of,
    split_label,
    summarise,
)
from victorpy.dedup.find import Loss
from victorpy.errors import DataError, OutputError, VictorError, plural

STRETCH_RECORDS, STRETCH_BYTES = 16, 1_000_000
"""Maximum number of records in a stretch, and their approximate size in an archive.

Stretches are short, because at the end all workers wait for the last one.
"""


def run_plan(
    plan: Plan,
    stream: TextIO,
    write: Write | None = None,
    quiet: bool = False,
    guarded: bool = True,
    force: bool = False,
    log: Path | None = None,
    seen: Survey | None = None,
) -> dict[str, Any]:
    """Run a plan and return the counts. Progress is reported on `stream`.

    If `guarded` is False, pages are cleaned in this process instead of worker processes. With `force`, pages of an
    earlier run are cleaned again. `log` is a file for events as JSON lines. Pass the survey of the inputs as `seen` if
    there is one.
    """
    plan.check()
    if guarded and plan.wants_metadata:
        start_server(metadata=True)
    if seen is None and plan.retry is None:
        seen = survey(plan.inputs)
    in_bytes = seen is not None and seen.sources > 0
    total = None if seen is None else seen.size if in_bytes else seen.pages
    progress = Progress(stream, total, in_bytes, quiet, every_page=plan.plain, log=log)
    with closing(progress), _logging(progress), stopping_signals():
        if seen is not None and not quiet:
            for warning in input_warnings(plan.inputs, seen):
                progress.say(warning)
        run = _Run(plan, progress, guarded, seen.stamps if seen else Stamps(), force)
        directory = None if plan.output is None else Path(plan.output)
        has_run = directory is not None and (side_of(directory, plan.to) / MANIFEST).exists()
        if not (seen is None or seen.is_there or plan.plain or has_run):
            raise DataError(f"{', '.join(plan.inputs)}: cannot be read: No such file or directory")
        summary = run.stream(write) if directory is None else run.store(directory)
        progress.log("end", **summary)
        return summary


@contextmanager
def _logging(progress: Progress) -> Iterator[None]:
    """Log the reason if the run ends early."""
    try:
        yield
    except VictorError as error:
        progress.log("error", text=str(error))
        raise
    except KeyboardInterrupt:
        progress.log("stopped")
        raise


@dataclass(slots=True)
class _Run:
    plan: Plan
    progress: Progress
    guarded: bool
    stamps: Stamps
    force: bool
    losses: list[Loss] = field(default_factory=list)
    """Sites that lose many of their pages as replicas."""
    cpu: float = 0.0
    """CPU seconds of the workers."""
    writer: PartWriter | None = None

    # Runs that pass texts to a function.

    def stream(self, write: Write | None) -> dict[str, Any]:
        """Clean records and pass the texts to a function, in order. An interrupted run cannot be resumed."""
        counts = Counts()
        is_here = not self.guarded and self.plan.dedup is None
        for record, outcome in self.clean_here() if is_here else self.clean_into_logs():
            counts.count(outcome)
            self.progress.report(record, outcome)
            if write is not None:
                write(record, outcome)
        return self.summary(counts, [self.this_run()])

    def clean_here(self) -> Iterator[tuple[Record, Outcome]]:
        """Clean all records in this process, one after the other."""
        start_worker(self.plan, None, is_guarded=False)
        self.progress.start()
        reached = 0
        for record in read_files(find_files(self.plan.inputs), self.plan.read):
            with waiting():
                outcome = clean_checked(record)
            yield record, outcome
            self.progress.advance({str(outcome.status): 1}, outcome.size, max(record.reached - reached, 0))
            reached = record.reached

    def clean_into_logs(self) -> Iterator[tuple[Record, Outcome]]:
        """Clean all records in workers, and read their logs. With deduplication, all records are cleaned first."""
        plan = self.plan
        with tempfile.TemporaryDirectory(prefix="victor-") as place:
            directory = Path(place)
            self.progress.start()
            with self.pool() as pool:
                for segment in Flow(pool, self.groups(plan), directory, ".log", self.progress).segments():
                    if plan.dedup is None:
                        log = directory / f"{segment.stretch.name}.log"
                        yield from read_log(log)
                        log.unlink()
            if plan.dedup is not None:
                logs = sorted(directory.glob("*.log"))
                self.losses = decide_records(plan.dedup, read_logs(logs), directory, None, "", plan.site_key)
                yield from read_logs(logs, plan.dedup, directory)

    # Runs that write to a directory.

    def store(self, directory: Path) -> dict[str, Any]:
        """Clean records, and write them to the parts of an output directory."""
        plan = self.plan
        if directory.exists() and not directory.is_dir():
            raise OutputError(f"{directory}: this is a file; give a directory for many pages")
        store = self.open_store(directory)
        try:
            self.prepare(store)
            sink = make_sink(plan)
            is_update = (store.previous / MANIFEST).exists()
            if isinstance(sink, Folder):
                sink.protect(plan.inputs)
                if is_update or not store.complete:
                    sink.resume(store.finished_parts())
            if store.complete:
                store.delete_temporary()  # an earlier run may have been killed just before this
                self.progress.note(f"{directory}: the run is already complete; --force cleans all pages again")
                for failure in store.failures():
                    self.progress.failed(failure)
            else:
                self.fill(store, sink, Previous(store, self.stamps) if is_update else None)
            if is_update:
                old_parts = sorted(store.previous.rglob("*part-*"))
                if isinstance(sink, Folder):
                    sink.delete_old(old_parts, lambda name: not plan.plain or self.stamps.number_of(name) >= 0)
                shutil.rmtree(store.previous)
            store.add_run(self.this_run())
            summary = self.summary(store.counts, store.runs())
            if plan.plain and (len(self.stamps) == 1 or plan.make):
                store.discard()
        except VictorError:
            store.give_back()
            raise
        except KeyboardInterrupt:
            self.progress.say(f"stopped: {self.pages_so_far(store, directory)}; run the same command to resume")
            with suppress(OSError):
                store.add_run(self.this_run())
            raise
        except OSError as error:
            store.check_directory()
            raise OutputError(
                f"{error.filename or directory}: {error.strerror or error}; {self.pages_so_far(store, directory)}; "
                "solve the problem and run the same command to resume"
            ) from error
        finally:
            store.close()
        return summary

    def pages_so_far(self, store: Store, directory: Path) -> str:
        """Describe how many pages are in the output, and how many finished pages wait for the resumed run."""
        written = self.writer.written if self.writer else store.counts.pages
        kept = safe_pages(store) - written
        waiting_pages = f", and {plural(kept, 'finished page')} kept in {store.segments}" if kept else ""
        return f"{written:,} pages are written to {directory}{waiting_pages}"

    def open_store(self, directory: Path) -> Store:
        plan = self.plan
        settings = run_settings(plan, self.stamps)
        try:
            if plan.plain:  # several plain runs may write into the directory at the same time
                label = hashlib.sha256(json.dumps(plan.inputs).encode()).hexdigest()[:12]
                return Store(directory / HIDDEN, settings, f"{label}-", shared=True)
            side = side_of(directory, plan.to)
            refuse_mixed_parts(directory, side, is_part=plan.part is not None)
            if plan.part:
                return Store(directory, settings, split_label(*plan.part), shared=True, side=side)
            return Store(directory, settings, _retry_label(side, settings) if plan.retry else "", side=side)
        except OSError as error:
            raise OutputError(f"{error.filename or directory}: cannot be written: {error.strerror or error}") from error

    def prepare(self, store: Store) -> None:
        """Start or resume a run. If files or settings have changed, set the parts of the earlier run aside."""
        plan, earlier, settings = self.plan, store.earlier, store.settings
        if earlier is not None:
            if not (self.force or plan.plain):
                refuse_other_settings(store.directory, earlier, settings)
            is_other = self.force or bool(other_settings(earlier, settings))
            has_changed = earlier.get(INPUT_FILES) != settings[INPUT_FILES]
            is_half_moved = store.previous.exists() and not (store.previous / MANIFEST).exists()
            if is_other or has_changed or is_half_moved or (plan.plain and store.complete):
                is_mixed = bool(plan.by_site or plan.dedup or plan.make or read_head(store.manifest_path).get("merged"))
                is_reusable = SINKS.get(plan.to).reusable and not is_mixed
                if not is_other:
                    self.report_changes(store, is_reusable)
                elif earlier["format"] != plan.format and not self.force:
                    self.progress.note(f"the texts of the last run ({earlier['format']}) are replaced")
                store.set_aside(reuse=is_reusable and not is_other)
        if not store.is_begun:
            store.begin(plan.notes(), self.stamps.as_bytes())

    def report_changes(self, store: Store, is_reusable: bool) -> None:
        """Report how many input files have changed. Raises an error if input files of a batch run no longer exist."""
        old, count = store.previous_stamps(), len(self.stamps)
        if not self.plan.plain:
            refuse_gone_files(store.directory, old, self.stamps)
        changed = int((self.stamps.unchanged_from(old) < 0).sum())
        if changed or not self.plan.plain:
            consequence = "only their pages are" if is_reusable else "all pages are"
            self.progress.note(f"new or changed input files: {changed:,} of {count:,}; {consequence} cleaned again")
        elif count > 1 and is_reusable:
            self.progress.note(f"all {count:,} pages are unchanged since the last run; --force cleans them again")

    def fill(self, store: Store, sink: Sink, previous: Previous | None) -> None:
        """Write all missing parts."""
        safe = safe_pages(store)
        if safe:
            self.progress.note(f"{store.directory}: resuming after {safe:,} pages")
        store.segments.mkdir(exist_ok=True)
        with self.pool(previous) as pool:
            decisions = store.segments if self.plan.dedup else None
            self.writer = writer = PartWriter(self.plan, store, sink, pool, self.progress, decisions)
            writer.committed = lambda: store.add_run(self.this_run())
            segments = self.without_replicas(store, sink, pool) if self.plan.dedup else self.clean(store, sink, pool)
            for segment in segments:
                writer.add(segment)
                check_signals()
            writer.finish()
        store.finish()

    def without_replicas(self, store: Store, sink: Sink, pool: Workers | Here) -> Iterator[Segment]:
        """Clean all records, decide which of them are replicas, and yield the segments."""
        plan, directory = self.plan, store.segments
        assert plan.dedup is not None
        if not (directory / DECISIONS).exists():
            for _ in self.clean(store, sink, pool):
                check_signals()
        logs = sorted(directory.glob("*.log"))
        index = store.side / INDEX
        self.losses = decide_records(plan.dedup, read_logs(logs), directory, index, store.label, plan.site_key)
        first = Stretch(*store.next).name if store.next else ""
        for log in logs:
            if log.stem >= first:
                segment = Segment.load(log)
                if segment is None:
                    raise OutputError(f"{log}: the file is damaged; --force cleans all pages again")
                yield segment

    def clean(self, store: Store, sink: Sink, pool: Workers | Here) -> Iterator[Segment]:
        """Clean all records that are not in the output yet, or all records if replicas have to be found."""
        plan = self.plan
        first = Stretch(*store.next) if store.next and not plan.dedup else None
        if first is not None:
            size = store.counts.pages
            if plan.by_site or plan.retry:
                size = 0
            elif self.progress.in_bytes:
                size = size_before(plan.inputs, store.last[0])
            self.progress.skip(store.counts, size)
        self.progress.start()
        records = stretch_size(plan.shard_records or sink.shard_records or STRETCH_RECORDS)
        has_pieces = plan.dedup is None and not isinstance(sink, Folder)
        groups, sites = self.groups(plan, records), None
        if plan.by_site:
            from victorpy.batch.local.by_site import Sites

            sites = Sites(plan, store.side / f".{store.label}spill", self.progress, pool)
            groups = sites.groups(records, first)
        flow = Flow(pool, groups, store.segments, ".log", self.progress, first, has_pieces=has_pieces)
        if sites is not None:
            sites.give, flow.after = flow.give, sites.forget
        elif plan.part and not self.is_split_by_files(records):
            number, count = plan.part
            flow.wants = lambda stretch: (stretch.group + stretch.number) % count == number - 1
        return flow.segments()

    def groups(self, plan: Plan, records: int = STRETCH_RECORDS) -> Iterator[Group]:
        """Yield the groups of files to be cleaned."""
        files = Wanted(read_failed(plan.retry)).files() if plan.retry else find_files(plan.inputs)
        groups = group_files(files, records)
        if plan.part and self.is_split_by_files(records):
            number, count = plan.part
            return (group for group in groups if group.number % count == number - 1)
        return groups

    def is_split_by_files(self, records: int) -> bool:
        """Whether `part` divides the inputs by files. With too few files, it divides them by stretches."""
        assert self.plan.part is not None
        return sum(1 for _ in group_files(find_files(self.plan.inputs), records)) >= 4 * self.plan.part[1]

    @contextmanager
    def pool(self, previous: Previous | None = None) -> Iterator[Workers | Here]:
        """Start workers, or run everything in this process."""
        start = partial(start_worker, self.plan, previous, self.guarded)
        stretches = 1 + (self.progress.total or 0) // (STRETCH_BYTES if self.progress.in_bytes else STRETCH_RECORDS)
        with Workers(start, self.plan.limits, stretches) if self.guarded else Here(start) as pool:
            yield pool
            self.cpu += pool.cpu

    def this_run(self) -> dict[str, Any]:
        """Return the seconds, pages and bytes of this run so far."""
        return {
            "began": self.progress.began,
            "seconds": round(self.progress.seconds, 3),
            "cpu": round(self.cpu + time.process_time(), 3),
            "pages": self.progress.now.pages,
            "bytes": self.progress.now.bytes,
        }

    def summary(self, counts: Counts, runs: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the counts and times of all runs, including this run."""
        return summarise(counts, runs) | (dedup_summary(self.plan.dedup, self.losses) if self.plan.dedup else {})


def stretch_size(most: int) -> int:
    """Return the number of records in a stretch, given that of a part, which has a whole number of stretches."""
    sizes = range(min(most, STRETCH_RECORDS // 2), min(most, STRETCH_RECORDS) + 1)
    return max(sizes, key=lambda size: (most - most % size, size))


def safe_pages(store: Store) -> int:
    """Return the number of finished pages, which a resumed run will not clean again."""
    first = Stretch(*store.next).name if store.next else ""
    return store.counts.pages + sum(log_length(log) for log in store.segments.glob("*.log") if log.stem >= first)


def failed_path(plan: Plan, directory: Path) -> Path:
    """Return the path of the failed.jsonl that a run writes."""
    side = side_of(directory, plan.to)
    label = _retry_label(side, run_settings(plan)) if plan.retry else ""
    return side / f"{label}failed.jsonl"


def _retry_label(directory: Path, settings: Mapping[str, Any]) -> str:
    """Return the prefix of a retry's files: ``retry-1-``, or the next number if a retry with other settings used it."""
    number = 1
    while read_head(directory / f"retry-{number}-manifest.jsonl").get("settings") not in (None, settings):
        number += 1
    return f"retry-{number}-"


def run_settings(plan: Plan, stamps: Stamps | None = None) -> dict[str, Any]:
    """Return the settings that a resumed run must share, including a digest of the input files or failed records."""
    if plan.retry:
        return plan.identity(hashlib.sha256(read_regular(plan.retry)).hexdigest())
    learned_from = [name for name in plan.learned_from if name]
    digests = (stamps or Stamps()).digest + (survey(learned_from).stamps.digest if learned_from else "")
    return plan.identity(digests)
