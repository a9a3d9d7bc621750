"""A run on this machine: read, clean and write records, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from victorpy.batch.inputs import Wanted, find_files, input_warnings, read_failed, read_files, size_before, survey
from victorpy.batch.local.dedup import INDEX, AsideSink, aside_directory, remove_aside, without_replicas
from victorpy.batch.local.guard import Ended, Unguarded, cleaning_guard, cleaning_tasks, has_pebble, run_tasks
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.reading import file_reader
from victorpy.batch.plan import Plan
from victorpy.batch.sinks import SINKS, Sink, Write
from victorpy.batch.store import MANIFEST, Counts, Store, read_head
from victorpy.errors import DataError, OutputError, VictorError, install_command
from victorpy.outputs import find_output


def run_plan(
    plan: Plan, stream: TextIO, write: Write | None = None, quiet: bool = False, guarded: bool = True
) -> dict[str, Any]:
    """Run a plan and return the counts. Progress is reported on `stream`.

    If `guarded` is False, pages are cleaned in this process instead of worker processes.
    """
    plan.check()
    seen = survey(plan.inputs) if plan.retry is None else None
    total, in_bytes = None, False
    if seen is not None and not plan.by_site:
        in_bytes = seen.sources > 0
        total = seen.size if in_bytes else seen.pages
    with closing(Progress(stream, total, in_bytes, quiet, every_page=plan.plain)) as progress:
        if seen is not None and not quiet:
            for warning in input_warnings(plan.inputs, seen):
                progress.say(warning)
        run = _Run(plan, progress, guarded)
        if plan.output is None:
            return run.stream(write)
        directory = Path(plan.output)
        is_there = seen is None or seen.is_there or plan.plain or (directory / MANIFEST).exists()
        if not is_there:
            raise DataError(f"{', '.join(plan.inputs)}: cannot be read: No such file or directory")
        return run.store(directory, plan.identity(seen.digest if seen else _retry_digest(plan)))


@dataclass(frozen=True, slots=True)
class _Run:
    plan: Plan
    progress: Progress
    guarded: bool

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
                self.clean_into(aside, AsideSink(aside.directory))
                ended = stack.enter_context(closing(without_replicas(dedup, aside)))
            for mark, record, outcome in ended:
                counts.add(outcome)
                if dedup is None:
                    self.progress.add(mark, record, outcome, counts)
                if write is not None:
                    write(record, outcome)
        return self.summary(counts, Counts())

    def store(self, directory: Path, settings: dict[str, Any]) -> dict[str, Any]:
        """Clean records into the parts of an output directory."""
        store = self.open_store(directory, settings)
        earlier = Counts(store.counts.as_dict())
        try:
            if store.complete:
                remove_aside(store)  # an earlier run may have been killed just before it did this
                self.progress.note(f"{directory}: the run is already complete")
            else:
                self.fill(store)
            if self.plan.plain:
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
            raise OutputError(
                f"{error.filename or directory}: {error.strerror or error}; {store.safe_pages:,} pages are safe in "
                f"{directory}; solve the problem and run the same command to resume"
            ) from error
        finally:
            store.close()
        return self.summary(store.counts, earlier)

    def open_store(self, directory: Path, settings: dict[str, Any]) -> Store:
        label = ""
        if self.plan.retry:
            label = _retry_label(directory, settings)
        elif self.plan.plain:  # several plain runs may write into the directory at the same time
            label = f".{hashlib.sha256(json.dumps(settings).encode()).hexdigest()[:12]}-"
        if directory.exists() and not directory.is_dir():
            raise OutputError(f"{directory}: this is a file; give a directory for many pages")
        try:
            return Store(directory, settings, label, self.plan.notes())
        except OSError as error:
            raise OutputError(f"{error.filename or directory}: cannot be written: {error.strerror or error}") from error

    def fill(self, store: Store) -> None:
        """Write all missing parts. With deduplication, clean all pages into a temporary store first."""
        plan = self.plan
        sink = SINKS.get(plan.to)(plan.to, store.directory, find_output(plan.format), plan.inputs)
        sink.resume(store.finished_parts())
        with ExitStack() as stack:
            if plan.dedup is not None:
                store.aside = stack.enter_context(closing(Store(aside_directory(store), store.settings)))
            if store.safe_pages:
                self.progress.note(f"{store.directory}: resuming after {store.safe_pages:,} pages")
            if plan.dedup is None or store.aside is None:
                self.clean_into(store, sink)
                return
            if not store.aside.complete:
                self.clean_into(store.aside, AsideSink(store.aside.directory))
            index = store.directory / INDEX
            ended = without_replicas(plan.dedup, store.aside, store.counts.pages, index, store.label)
            self.write_parts(store, sink, stack.enter_context(closing(ended)))
        remove_aside(store)

    def clean_into(self, store: Store, sink: Sink) -> None:
        """Clean all records that a store does not contain yet."""
        if store.last is not None and not (self.plan.by_site or self.plan.retry):
            self.progress.skip(size_before(self.plan.inputs, store.last.file) or store.counts.pages)
        with self.cleaned(store) as ended:
            self.write_parts(store, sink, ended, Counts(store.counts.as_dict()))

    def write_parts(self, store: Store, sink: Sink, ended: Iterable[Ended], counts: Counts | None = None) -> None:
        """Write records, part by part. With `counts`, which include earlier runs, report the progress."""
        for mark, record, outcome in ended:
            if store.write(sink, mark, record, outcome) == self.plan.shard_records:
                store.commit()
            if counts is not None:
                counts.add(outcome)
                self.progress.add(mark, record, outcome, counts)
        store.finish()

    @contextmanager
    def cleaned(self, store: Store | None) -> Iterator[Iterator[Ended]]:
        """Clean the records that a store does not contain yet."""
        plan = self.plan
        after = store.last if store else None
        wanted = None
        if plan.retry:
            wanted = Wanted(read_failed(plan.retry))
        is_guarded = self.guarded and (has_pebble() or plan.limits.jobs > 1)
        if self.guarded and not is_guarded:
            install = install_command("batch")
            self.progress.note(f"pages are cleaned in one process, without guarded workers; to change this: {install}")
        workers = cleaning_guard(plan) if is_guarded else nullcontext(Unguarded(plan))
        with workers as guard, file_reader(plan.limits) as read:
            if plan.by_site and store is not None:
                import shutil

                from victorpy.batch.local.by_site import site_tasks

                spilled = store.directory / f".{store.label}spill"
                yield run_tasks(site_tasks(plan, spilled, self.progress, guard, after, read, wanted), guard)
                shutil.rmtree(spilled, ignore_errors=True)
            else:
                files = wanted.files() if wanted else find_files(plan.inputs)
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
    label = _retry_label(directory, plan.identity(_retry_digest(plan))) if plan.retry else ""
    return directory / f"{label}failed.jsonl"


def _retry_label(directory: Path, settings: Mapping[str, Any]) -> str:
    """Return the prefix of a retry's files: ``retry-1-``, or the next one if a retry with other settings used it."""
    number = 1
    while read_head(directory / f"retry-{number}-manifest.jsonl").get("settings") not in (None, settings):
        number += 1
    return f"retry-{number}-"


def _retry_digest(plan: Plan) -> str:
    return hashlib.sha256(plan.retry.read_bytes() if plan.retry else b"").hexdigest()
