"""A run on this machine: read, clean and write records, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from victorpy.batch.inputs import (
    HIDDEN,
    Stamps,
    Survey,
    Wanted,
    find_files,
    input_warnings,
    read_failed,
    read_files,
    size_before,
    survey,
)
from victorpy.batch.local.dedup import INDEX, AsideSink, aside_directory, remove_aside, without_replicas
from victorpy.batch.local.guard import Ended, Unguarded, cleaning_guard, cleaning_tasks, has_pebble, run_tasks
from victorpy.batch.local.previous import Previous, update_tasks
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.reading import file_reader
from victorpy.batch.local.signals import Stopped, check_signals, stopping_signals
from victorpy.batch.plan import Plan
from victorpy.batch.sinks import SINKS, Folder, Sink, Write
from victorpy.batch.store import (
    INPUT_FILES,
    MANIFEST,
    Counts,
    Store,
    other_settings,
    read_head,
    refuse_gone_files,
    refuse_other_settings,
    side_of,
)
from victorpy.errors import DataError, OutputError, VictorError, install_command
from victorpy.outputs import find_output


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

    If `guarded` is False, pages are cleaned in this process instead of worker processes. With `force`, pages are
    cleaned again that an earlier run has cleaned. `log` is a file for events as JSON lines, and `seen` describes the
    inputs if they were surveyed already.
    """
    plan.check()
    if seen is None and plan.retry is None:
        seen = survey(plan.inputs)
    total, in_bytes = None, False
    if seen is not None and not plan.by_site:
        in_bytes = seen.sources > 0
        total = seen.size if in_bytes else seen.pages
    progress = Progress(stream, total, in_bytes, quiet, every_page=plan.plain, log=log)
    with closing(progress), _logging(progress), stopping_signals():
        if seen is not None and not quiet:
            for warning in input_warnings(plan.inputs, seen):
                progress.say(warning)
        run = _Run(plan, progress, guarded, seen.stamps if seen else Stamps(), force)
        if plan.output is None:
            summary = run.stream(write)
        else:
            directory = Path(plan.output)
            is_there = seen is None or seen.is_there or plan.plain or (side_of(directory, plan.to) / MANIFEST).exists()
            if not is_there:
                raise DataError(f"{', '.join(plan.inputs)}: cannot be read: No such file or directory")
            summary = run.store(directory)
        progress.log("end", **summary)
        return summary


@contextmanager
def _logging(progress: Progress) -> Iterator[None]:
    """Log why a run ended early."""
    try:
        yield
    except VictorError as error:
        progress.log("error", text=str(error))
        raise
    except KeyboardInterrupt:
        progress.log("stopped")
        raise


@dataclass(frozen=True, slots=True)
class _Run:
    plan: Plan
    progress: Progress
    guarded: bool
    stamps: Stamps
    force: bool

    def stream(self, write: Write | None) -> dict[str, Any]:
        """Clean records for a function that receives them in order. An interrupted run cannot be resumed."""
        dedup, counts = self.plan.dedup, Counts()
        with ExitStack() as stack:
            if dedup is None:
                ended = stack.enter_context(self.cleaned(None))
            else:
                import tempfile

                place = stack.enter_context(tempfile.TemporaryDirectory(prefix="victor-replicas-"))
                aside = stack.enter_context(closing(Store(Path(place), {})))
                aside.begin({})
                self.clean_into(aside, AsideSink(aside.directory))
                ended = stack.enter_context(closing(without_replicas(dedup, aside)))
            for mark, record, outcome in ended:
                counts.add(outcome)
                if dedup is None:
                    self.progress.add(mark, record, outcome, counts)
                if write is not None:
                    write(record, outcome)
        return self.summary(counts, Counts())

    def store(self, directory: Path) -> dict[str, Any]:
        """Clean records into the parts of an output directory."""
        plan = self.plan
        if directory.exists() and not directory.is_dir():
            raise OutputError(f"{directory}: this is a file; give a directory for many pages")
        store = self.open_store(directory)
        try:
            self.prepare(store)
            earlier = store.done
            sink = SINKS.get(plan.to)(plan.to, directory, find_output(plan.format), plan.inputs)
            is_update = (store.previous / MANIFEST).exists()
            if is_update or not store.complete:
                sink.resume(store.finished_parts())
            if store.complete:
                remove_aside(store)  # an earlier run may have been killed just before it did this
                self.progress.note(f"{directory}: the run is already complete; --force cleans all pages again")
            else:
                previous = Previous(store, sink, self.stamps) if is_update else None
                self.fill(store, sink, previous)
                if previous is not None:
                    earlier.add_stored(previous.reused.as_dict())
            if is_update:
                old_parts = sorted(store.previous.rglob("*part-*"))
                if isinstance(sink, Folder):
                    sink.delete_old(old_parts, lambda name: not plan.plain or self.stamps.number_of(name) >= 0)
                shutil.rmtree(store.previous)
            if plan.plain and (len(self.stamps) == 1 or plan.make):
                store.discard()
        except VictorError:
            store.give_back()
            raise
        except KeyboardInterrupt:
            self.progress.say(
                f"stopped: {store.safe_pages:,} pages are safe in {directory}; run the same command to resume"
            )
            raise
        except OSError as error:
            store.check_directory()
            raise OutputError(
                f"{error.filename or directory}: {error.strerror or error}; {store.safe_pages:,} pages are safe in "
                f"{directory}; solve the problem and run the same command to resume"
            ) from error
        finally:
            store.close()
        return self.summary(store.counts, earlier)

    def open_store(self, directory: Path) -> Store:
        plan = self.plan
        settings = run_settings(plan, self.stamps)
        try:
            if plan.plain:  # several plain runs may write into the directory at the same time
                label = hashlib.sha256(json.dumps([plan.inputs, plan.format]).encode()).hexdigest()[:12]
                return Store(directory / HIDDEN, settings, f"{label}-", plain=True)
            side = side_of(directory, plan.to)
            return Store(directory, settings, _retry_label(side, settings) if plan.retry else "", side=side)
        except OSError as error:
            raise OutputError(f"{error.filename or directory}: cannot be written: {error.strerror or error}") from error

    def prepare(self, store: Store) -> None:
        """Start a run, or resume it, or set its parts aside if files or settings have changed."""
        plan, earlier, settings = self.plan, store.earlier, store.settings
        if earlier is not None:
            if not (self.force or plan.plain):
                refuse_other_settings(store.directory, earlier, settings)
            is_other = self.force or bool(other_settings(earlier, settings))
            has_changed = earlier.get(INPUT_FILES) != settings[INPUT_FILES]
            is_half_moved = store.previous.exists() and not (store.previous / MANIFEST).exists()
            if is_other or has_changed or is_half_moved or (plan.plain and store.complete):
                is_reusable = SINKS.get(plan.to).reusable and not (plan.by_site or plan.dedup or plan.make)
                if not is_other:
                    self.report_changes(store, is_reusable)
                store.set_aside(reuse=is_reusable and not is_other)
        if not store.is_begun:
            store.begin(plan.notes(), self.stamps.as_bytes())

    def report_changes(self, store: Store, is_reusable: bool) -> None:
        """Say how many input files have changed. Raise if a batch run has cleaned files that are gone."""
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
        """Write all missing parts. With deduplication, clean all pages into a temporary store first."""
        plan = self.plan
        with ExitStack() as stack:
            if plan.dedup is not None:
                store.aside = stack.enter_context(closing(Store(aside_directory(store), store.settings)))
                if not store.aside.is_begun:
                    store.aside.begin({})
            if store.safe_pages:
                self.progress.note(f"{store.directory}: resuming after {store.safe_pages:,} pages")
            if plan.dedup is None or store.aside is None:
                self.clean_into(store, sink, previous)
                return
            if not store.aside.complete:
                self.clean_into(store.aside, AsideSink(store.aside.directory))
            index = store.side / INDEX
            ended = without_replicas(plan.dedup, store.aside, store.done.pages, index, store.label)
            self.write_parts(store, sink, stack.enter_context(closing(ended)))
        remove_aside(store)

    def clean_into(self, store: Store, sink: Sink, previous: Previous | None = None) -> None:
        """Clean all records that a store does not contain yet."""
        if store.after is not None and not (self.plan.by_site or self.plan.retry):
            self.progress.skip(size_before(self.plan.inputs, store.after.file) or store.done.pages)
        with self.cleaned(store, previous) as ended:
            self.write_parts(store, sink, ended, store.done)

    def write_parts(self, store: Store, sink: Sink, ended: Iterable[Ended], counts: Counts | None = None) -> None:
        """Write records, part by part. With `counts`, which include earlier runs, report the progress."""
        store.resume_part(sink)
        try:
            for mark, record, outcome in ended:
                if store.write(sink, mark, record, outcome) == self.plan.shard_records:
                    store.commit()
                if counts is not None:
                    counts.add(outcome)
                    self.progress.add(mark, record, outcome, counts)
                else:
                    check_signals()
        except Stopped:
            store.commit(interrupted=True)
            raise
        store.finish()

    @contextmanager
    def cleaned(self, store: Store | None, previous: Previous | None = None) -> Iterator[Iterator[Ended]]:
        """Clean the records that a store does not contain yet."""
        plan = self.plan
        after = store.after if store else None
        wanted = None
        if plan.retry:
            wanted = Wanted(read_failed(plan.retry))
        is_guarded = self.guarded and (has_pebble() or plan.limits.jobs > 1)
        if self.guarded and not is_guarded:
            install = install_command("batch")
            self.progress.note(f"pages are cleaned in one process, without guarded workers; to change this: {install}")
        self.progress.start()
        workers = cleaning_guard(plan) if is_guarded else nullcontext(Unguarded(plan))
        with workers as guard, file_reader(plan.limits) as read:
            if plan.by_site and store is not None:
                from victorpy.batch.local.by_site import site_tasks

                spilled = store.side / f".{store.label}spill"
                yield run_tasks(site_tasks(plan, spilled, self.progress, guard, after, read, wanted), guard)
                shutil.rmtree(spilled, ignore_errors=True)
            elif previous is not None:
                files = find_files(plan.inputs)
                yield run_tasks(update_tasks(previous, files, plan, read, after, in_batches=is_guarded), guard)
            else:
                files = iter(wanted.files()) if wanted else find_files(plan.inputs)
                records = read_files(files, plan.read, after, wanted.select(read) if wanted else read)
                yield run_tasks(cleaning_tasks(records, in_batches=is_guarded), guard)

    def summary(self, counts: Counts, earlier: Counts) -> dict[str, Any]:
        """Return the counts of all runs, and the counts of this run under other names."""
        summary = {
            **counts.as_dict(),
            "seconds": round(self.progress.seconds, 3),
            "pages-now": counts.pages - earlier.pages,
            "bytes-now": counts.bytes - earlier.bytes,
        }
        return summary | ({"dedup": str(self.plan.dedup)} if self.plan.dedup else {})


def failed_path(plan: Plan, directory: Path) -> Path:
    """Return the path of the failed.jsonl that a run writes."""
    side = side_of(directory, plan.to)
    label = _retry_label(side, run_settings(plan)) if plan.retry else ""
    return side / f"{label}failed.jsonl"


def _retry_label(directory: Path, settings: Mapping[str, Any]) -> str:
    """Return the prefix of a retry's files: ``retry-1-``, or the next one if a retry with other settings used it."""
    number = 1
    while read_head(directory / f"retry-{number}-manifest.jsonl").get("settings") not in (None, settings):
        number += 1
    return f"retry-{number}-"


def run_settings(plan: Plan, stamps: Stamps | None = None) -> dict[str, Any]:
    """Return the settings that a resumed run must share, including a digest of the input files or failed records."""
    if plan.retry:
        return plan.identity(hashlib.sha256(plan.retry.read_bytes()).hexdigest())
    learned_from = [name for name in plan.learned_from if name]
    digests = (stamps or Stamps()).digest + (survey(learned_from).stamps.digest if learned_from else "")
    return plan.identity(digests)
