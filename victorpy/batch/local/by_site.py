"""Runs site by site: spill records to disk by site, learn a model from some pages of each site, and clean its pages.

Neither pages nor sites are held in memory. Records are spilled to bucket files with a few sites each, and memory holds
the offsets of one bucket at a time.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from victorpy.base.files import write_atomically
from victorpy.batch.inputs import Mark, Read, Wanted, find_files, read_file, read_files
from victorpy.batch.local.guard import BATCH_PAGES, Ended, Task, Workers, clean_checked, page_cleaner, run_tasks
from victorpy.batch.local.progress import Progress
from victorpy.batch.outcome import Outcome, failure
from victorpy.batch.plan import Plan
from victorpy.batch.record import Kind, Problem, ProblemError, Record, Status
from victorpy.batch.site_model import at_site_bytes, from_bytes, with_sample
from victorpy.cleaner import Cleaner, read_document
from victorpy.document import Document
from victorpy.errors import VictorError
from victorpy.sites.grouping import draw_sample

BUCKETS = 64
_DONE = "done"
_PAGES_PER_DEADLINE = 50
"""Number of pages that may be learned in the time for cleaning one page."""


class Ref(NamedTuple):
    """The place of a spilled record."""

    path: str
    offset: int
    length: int

    def record(self) -> Record:
        with Path(self.path).open("rb") as file:
            file.seek(self.offset)
            record: Record = pickle.loads(file.read(self.length))  # written by `spill`
        return record


def bucket_of(site: str) -> int:
    """Return the number of the bucket for a site's records. Sites are cleaned in the order of their buckets."""
    return hashlib.sha256(site.encode("utf-8", "surrogatepass")).digest()[0] % BUCKETS


def spill(
    plan: Plan, directory: Path, progress: Progress, read: Read = read_file, wanted: Wanted | None = None
) -> None:
    """Write every record to its bucket file, and its offset to the list of that bucket.

    If only some records are `wanted`, all pages of their sites are spilled, because sites are learned from all pages.
    """
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    progress.begin("sorting pages by site")
    count = 0
    wanted_sites = None  # all sites; if a file could not be read, its sites are unknown
    if wanted is not None and not wanted.rests:
        wanted_sites = {record.site(plan.site_key) for record in wanted.failed}
    with ExitStack() as stack:
        buckets = [
            (stack.enter_context(records.open("wb")), stack.enter_context(offsets.open("w", encoding="utf-8")))
            for records, offsets in map(partial(_bucket_paths, directory), range(BUCKETS))
        ]
        for _, record in read_files(find_files(plan.inputs), plan.read, read=read):
            site = record.site(plan.site_key)
            if wanted_sites is not None and site not in wanted_sites:
                continue
            records, offsets = buckets[bucket_of(site)]
            content = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
            is_wanted = wanted is None or record in wanted
            offsets.write(json.dumps([site, records.tell(), len(content), is_wanted]) + "\n")
            records.write(content)
            count += is_wanted
            progress.advance()
    (directory / _DONE).write_text(str(count), encoding="ascii")


def _bucket_paths(directory: Path, number: int) -> tuple[Path, Path]:
    return directory / f"{number:02d}.records", directory / f"{number:02d}.list"


def site_tasks(
    plan: Plan,
    directory: Path,
    progress: Progress,
    guard: Workers,
    after: Mark | None,
    read: Read = read_file,
    wanted: Wanted | None = None,
) -> Iterator[Task[Ref]]:
    """Spill all records, and yield tasks that clean them site by site. Some models are learned ahead of time."""
    if not (directory / _DONE).exists():
        spill(plan, directory, progress, read, wanted)
    progress.begin("", int((directory / _DONE).read_text(encoding="ascii")))
    done = 0 if after is None else after.position
    progress.skip(done)
    ahead: deque[_Site] = deque()
    for site in _sites(directory):
        if site.first + len(site.refs) <= done:
            continue
        site.start_learning(guard, plan)
        ahead.append(site)
        if len(ahead) > 2 * plan.limits.jobs:
            yield from ahead.popleft().tasks(guard, done)
    while ahead:
        yield from ahead.popleft().tasks(guard, done)


def _sites(directory: Path) -> Iterator[_Site]:
    """Yield the sites in an order that depends only on their names."""
    first = 0
    for number in range(BUCKETS):
        pages: dict[str, list[Ref]] = {}
        wanted: dict[str, list[Ref]] = {}
        records, offsets = _bucket_paths(directory, number)
        with offsets.open(encoding="utf-8") as lines:
            for line in lines:
                site, offset, length, is_wanted = json.loads(line)
                ref = Ref(str(records), offset, length)
                pages.setdefault(site, []).append(ref)
                if is_wanted:
                    wanted.setdefault(site, []).append(ref)
        for site in sorted(wanted):
            yield _Site(site, pages[site], wanted[site], directory / f"model-{first}", first)
            first += len(wanted[site])


@dataclass(slots=True)
class _Site:
    """A site whose pages are to be cleaned."""

    name: str
    pages: list[Ref]
    """Pages to learn from."""
    refs: list[Ref]
    """Pages to clean."""
    model: Path
    first: int = 0
    """Number of the first record to clean, counted over all sites."""
    learning: Task[Ref] | None = None

    def start_learning(self, guard: Workers, plan: Plan) -> None:
        """Start to learn a model from a sample of the pages. The sample is always the same."""
        chosen = draw_sample(self.pages, plan.sample)
        allowance = plan.limits.deadline * len(chosen) / _PAGES_PER_DEADLINE
        self.learning = Task(learn, chosen, (str(self.model),), allowance=allowance)
        guard.submit(self.learning)

    def tasks(self, guard: Workers, done: int = 0) -> Iterator[Task[Ref]]:
        """Yield tasks that clean the pages with the site's model, except the first `done` records of the run."""
        model = self._wait_for_model(guard)
        for at in range(max(done - self.first, 0), len(self.refs), BATCH_PAGES):
            refs = self.refs[at : at + BATCH_PAGES]
            records = [
                (Mark(0, number), replace(ref.record(), payload=b""))
                for number, ref in enumerate(refs, start=self.first + at + 1)
            ]
            is_last = at + BATCH_PAGES >= len(self.refs)
            cleanup = partial(self.model.unlink, missing_ok=True) if is_last else None
            yield Task(clean_at_site, refs, (model,), records=records, cleanup=cleanup)

    def _wait_for_model(self, guard: Workers) -> str | Problem:
        """Return the model file, or why learning failed. A page that crashed learning is left out of a second attempt.

        Raises OSError if the model could not be written. Then the run stops, and no page has failed.
        """
        assert self.learning is not None
        result = guard.result(self.learning)
        if isinstance(result, Problem) and result.kind not in {Kind.SITE, Kind.INTERNAL}:
            checks = [Task(check, [ref]) for ref in self.learning.items]
            harmless = [task.items[0] for task, outcomes in guard.map(checks) if outcomes[0].kind is None]
            retry: Task[Ref] = replace(self.learning, items=harmless)
            guard.submit(retry)
            result = guard.result(retry)
        if isinstance(result, OSError):
            raise result
        if isinstance(result, Problem):
            return Problem(result.kind, f"the model of the site {self.name!r} could not be saved: {result.words}")
        return str(self.model)


def clean_site(plan: Plan, name: str, refs: list[Ref], model: Path, guard: Workers) -> Iterator[Ended]:
    """Learn the model of one site whose records are spilled already, and clean all its pages."""
    site = _Site(name, refs, refs, model)
    site.start_learning(guard, plan)
    return run_tasks(site.tasks(guard), guard)


# These functions run in workers.


def learn(model: str, refs: Sequence[Ref]) -> Problem | OSError | None:
    """Learn the model of a site from some of its pages, and write it to a file."""
    pages = page_cleaner()
    documents = (document for ref in refs if (document := _document(ref)) is not None)
    try:
        cleaner = with_sample(pages.cleaner, pages.plan.sample).at_site(documents)
        write_atomically(Path(model), at_site_bytes(cleaner, pages.cleaner), alone=True)
    except VictorError as error:
        return Problem(Kind.SITE, str(error))
    except OSError as error:
        return error
    return None


def check(refs: Sequence[Ref]) -> list[Outcome]:
    """Learn from each page alone, to find the pages that crash the worker."""
    for ref in refs:
        document = _document(ref)
        with suppress(VictorError):
            page_cleaner().cleaner.at_site([document] if document is not None else [])
    return [Outcome(Status.KEPT) for _ in refs]


def clean_at_site(model: str | Problem, refs: Sequence[Ref]) -> list[Outcome]:
    """Clean pages of a site with its model. Without a model, all pages fail."""
    if isinstance(model, Problem):
        return [failure(ref.record().problem or model) for ref in refs]
    cleaner = _load(model)
    return [clean_checked(ref.record(), cleaner) for ref in refs]


def _document(ref: Ref) -> Document | None:
    pages = page_cleaner()
    record = ref.record()
    try:
        page = record.read(pages.plan.most_bytes)
        place = record.url or None, record.content_type or None
        return read_document(page, pages.cleaner.config, *place, annotation=record.is_annotation)
    except (VictorError, OSError, ProblemError):
        return None


@lru_cache(maxsize=2)  # the pages of a site are cleaned one after the other
def _load(model: str) -> Cleaner:
    return from_bytes(page_cleaner().cleaner, Path(model).read_bytes())
