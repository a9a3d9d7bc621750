"""Site by site: records are spilled to disk by site, a model is learned from some pages of each, and all are cleaned.

Memory holds neither pages nor sites: records go to bucket files with a few sites in each, and only the positions of
one bucket's records are kept at a time.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from victorpy.base.files import write_atomically
from victorpy.batch.inputs import Mark, Read, read_file, read_inputs
from victorpy.batch.local import worker
from victorpy.batch.local.guard import BATCH_PAGES, Guard, Task, Unguarded
from victorpy.batch.local.progress import Progress
from victorpy.batch.outcome import Outcome, failure
from victorpy.batch.plan import Plan
from victorpy.batch.reasons import Kind, Problem, ProblemError, Status
from victorpy.batch.record import Record
from victorpy.batch.retry import Wanted
from victorpy.batch.site_model import at_site_bytes, from_bytes, with_sample
from victorpy.cleaner import Cleaner, read_document
from victorpy.document import Document
from victorpy.errors import VictorError
from victorpy.sites.grouping import draw_sample

BUCKETS = 64
_DONE = "done"
_PAGES_A_DEADLINE = 50
"""Number of sampled pages that may take as long as cleaning one page."""


class Ref(NamedTuple):
    """Where a record was spilled."""

    path: str
    offset: int
    length: int

    def record(self) -> Record:
        with Path(self.path).open("rb") as file:
            file.seek(self.offset)
            record: Record = pickle.loads(file.read(self.length))  # our own file
        return record


def bucket_of(site: str) -> int:
    """Return the number of the bucket that a site's records are spilled to. Buckets are read in this order."""
    return hashlib.sha256(site.encode("utf-8", "surrogatepass")).digest()[0] % BUCKETS


class SiteFeed:
    """The records of the inputs, grouped by site."""

    def __init__(
        self,
        plan: Plan,
        directory: Path,
        progress: Progress,
        read: Read = read_file,
        wanted: Wanted | None = None,
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._progress = progress
        self._read = read
        self._wanted = wanted
        """The records to clean, if not all. Sites are learned from all of their pages in any case."""

    def tasks(self, after: Mark | None, guard: Guard | Unguarded) -> Iterator[Task[Ref]]:
        """Spill all records, then process site after site. Some models are learned ahead of time."""
        if not (self._directory / _DONE).exists():
            self._spill()
        self._progress.begin("", int((self._directory / _DONE).read_text(encoding="ascii")))
        done = 0 if after is None else after.position
        self._progress.skip(done)
        ahead: deque[_Site] = deque()
        for site in self._sites():
            if site.first + len(site.refs) <= done:
                continue
            site.begin(guard, self._plan)
            ahead.append(site)
            if len(ahead) > 2 * self._plan.limits.jobs:
                yield from ahead.popleft().tasks(guard, done)
        while ahead:
            yield from ahead.popleft().tasks(guard, done)

    def close(self) -> None:
        """Delete the spilled records."""
        shutil.rmtree(self._directory, ignore_errors=True)

    def _spill(self) -> None:
        """Write every record to the file of its bucket, and its position to that bucket's list."""
        shutil.rmtree(self._directory, ignore_errors=True)
        self._directory.mkdir(parents=True)
        self._progress.begin("sorting pages by site")
        key, count = self._plan.site_key, 0
        wanted_sites = None  # all of them: if a file was not read, its sites are unknown
        if self._wanted is not None and not self._wanted.rests:
            wanted_sites = {Record("", item.place, url=item.url).site(key) for item in self._wanted.failed}
        with ExitStack() as stack:
            files = [stack.enter_context(self._bucket(number).open("wb")) for number in range(BUCKETS)]
            lists = [stack.enter_context(self._list(number).open("w", encoding="utf-8")) for number in range(BUCKETS)]
            for _, record in read_inputs(self._plan.inputs, self._plan.read, read=self._read):
                site = record.site(key)
                if wanted_sites is not None and site not in wanted_sites:
                    continue
                number = bucket_of(site)
                content = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
                is_wanted = self._wanted is None or record in self._wanted
                lists[number].write(json.dumps([site, files[number].tell(), len(content), is_wanted]) + "\n")
                files[number].write(content)
                count += is_wanted
                self._progress.advance()
        (self._directory / _DONE).write_text(str(count), encoding="ascii")

    def _sites(self) -> Iterator[_Site]:
        """Yield the sites in an order that depends only on their names."""
        first = 0
        for number in range(BUCKETS):
            pages: dict[str, list[Ref]] = {}
            wanted: dict[str, list[Ref]] = {}
            with self._list(number).open(encoding="utf-8") as lines:
                for line in lines:
                    site, offset, length, is_wanted = json.loads(line)
                    ref = Ref(str(self._bucket(number)), offset, length)
                    pages.setdefault(site, []).append(ref)
                    if is_wanted:
                        wanted.setdefault(site, []).append(ref)
            for site in sorted(wanted):
                yield _Site(site, pages[site], wanted[site], first, self._directory / f"model-{first}")
                first += len(wanted[site])

    def _bucket(self, number: int) -> Path:
        return self._directory / f"{number:02d}.records"

    def _list(self, number: int) -> Path:
        return self._directory / f"{number:02d}.list"


class _Site:
    """A site whose pages are to be cleaned."""

    def __init__(self, name: str, pages: list[Ref], refs: list[Ref], first: int, model: Path) -> None:
        self.name = name
        self.pages = pages
        """Pages to learn from."""
        self.refs = refs
        """Pages to clean."""
        self.first = first
        """Number of its first record among all."""
        self._model = model
        self._learning: Task[Ref] | None = None

    def begin(self, guard: Guard | Unguarded, plan: Plan) -> None:
        """Start to learn the site's model from a sample of its pages, the same ones each time."""
        chosen = draw_sample(self.pages, plan.sample)
        allowance = plan.limits.deadline * len(chosen) / _PAGES_A_DEADLINE
        self._learning = Task(learn, chosen, (str(self._model),), allowance=allowance)
        guard.submit(self._learning)

    def tasks(self, guard: Guard | Unguarded, done: int) -> Iterator[Task[Ref]]:
        """Clean the site's pages with its model, except those that are done."""
        problem = self._wait_for_model(guard)
        function = clean_at_site if problem is None else fail_at_site
        fixed: tuple[Any, ...] = (str(self._model),) if problem is None else (problem,)
        for at in range(max(done - self.first, 0), len(self.refs), BATCH_PAGES):
            refs = self.refs[at : at + BATCH_PAGES]
            records = [
                (Mark(0, number), replace(ref.record(), payload=b""))
                for number, ref in enumerate(refs, start=self.first + at + 1)
            ]
            is_last = at + BATCH_PAGES >= len(self.refs)
            cleanup = partial(self._model.unlink, missing_ok=True) if is_last else None
            yield Task(function, refs, fixed, records=records, cleanup=cleanup)

    def _wait_for_model(self, guard: Guard | Unguarded) -> Problem | None:
        """Wait for the model. If learning failed, try again without the pages that caused it."""
        assert self._learning is not None
        problem = self._result(guard, self._learning)
        if problem is not None and problem.kind not in {Kind.SITE, Kind.INTERNAL}:
            checks = [Task(check, [ref], ()) for ref in self._learning.items]
            harmless = [task.items[0] for task, outcomes in guard.map(checks) if outcomes[0].kind is None]
            retry: Task[Ref] = replace(self._learning, items=harmless)
            guard.submit(retry)
            problem = self._result(guard, retry)
        if problem is None:
            return None
        return Problem(problem.kind, f"the model of the site {self.name!r} could not be made: {problem.words}")

    @staticmethod
    def _result(guard: Guard | Unguarded, learning: Task[Ref]) -> Problem | None:
        """Wait for a model. Raise if it could not be written: then the run stops, and no page has failed."""
        result = guard.result(learning)
        if isinstance(result, OSError):
            raise result
        return result if isinstance(result, Problem) else None


def clean_site(plan: Plan, name: str, refs: list[Ref], model: Path, guard: Guard) -> Iterator[tuple[Record, Outcome]]:
    """Learn the model of one site, whose records are spilled already, and clean all its pages with it."""
    site = _Site(name, refs, refs, 0, model)
    site.begin(guard, plan)
    for task, outcomes in guard.map(site.tasks(guard, 0)):
        for (_, record), outcome in zip(task.records, outcomes, strict=True):
            yield record, outcome
        if task.cleanup is not None:
            task.cleanup()


# These functions run in workers.


def learn(model: str, refs: Sequence[Ref]) -> Problem | OSError | str:
    """Learn the model of a site from some of its pages, and write it to a file. Return what went wrong, if anything."""
    pages = worker.page_cleaner()
    documents = (document for ref in refs if (document := _document(ref)) is not None)
    try:
        cleaner = with_sample(pages.cleaner, pages.plan.sample).at_site(documents)
        write_atomically(Path(model), at_site_bytes(cleaner, pages.cleaner), alone=True)
    except VictorError as error:
        return Problem(Kind.SITE, str(error))
    except OSError as error:
        return error
    return model


def check(refs: Sequence[Ref]) -> list[Outcome]:
    """Learn from each page as if it were a site. A page that crashes learning takes this worker with it."""
    for ref in refs:
        document = _document(ref)
        with suppress(VictorError):
            worker.page_cleaner().cleaner.at_site([document] if document is not None else [])
    return [Outcome(Status.KEPT) for _ in refs]


def clean_at_site(model: str, refs: Sequence[Ref]) -> list[Outcome]:
    """Clean pages of a site with its model."""
    cleaner = _load(model)
    return [worker.clean_checked(ref.record(), cleaner) for ref in refs]


def fail_at_site(problem: Problem, refs: Sequence[Ref]) -> list[Outcome]:
    """Fail the pages of a site that has no model. A page with a problem of its own keeps that one."""
    return [failure(ref.record().problem or problem) for ref in refs]


def _document(ref: Ref) -> Document | None:
    pages = worker.page_cleaner()
    record = ref.record()
    try:
        page = record.read(pages.plan.most_bytes)
        return read_document(page, pages.cleaner.config, record.url or None, record.content_type or None)
    except (VictorError, OSError, ProblemError):
        return None


@lru_cache(maxsize=2)
def _load(model: str) -> Cleaner:
    """Load a site's model. Pages of a site come together, so two are enough."""
    return from_bytes(worker.page_cleaner().cleaner, Path(model).read_bytes())
