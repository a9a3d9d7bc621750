"""Runs site by site: spill records to disk, learn a model from some pages of each site, and clean its pages.

Neither pages nor sites are held in memory. The positions of records are written to bucket files with a few sites each,
and only one bucket at a time is in memory.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from victorpy.base.files import write_atomically
from victorpy.base.plain import from_json, to_json
from victorpy.batch.inputs import Group, InputFile, Wanted, find_files, group_files, read_failed
from victorpy.batch.local.flow import Flow
from victorpy.batch.local.logs import SPILL, Stretch, read_spilled, spilled_page, unpack
from victorpy.batch.local.pool import Here, Report, Task, Workers
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.stretches import allow_seconds, spill_stretch, state
from victorpy.batch.plan import Plan
from victorpy.batch.record import Kind, Problem, ProblemError
from victorpy.batch.site_model import at_site_bytes, with_sample
from victorpy.cleaner import read_document
from victorpy.document import Document
from victorpy.errors import VictorError
from victorpy.sites.grouping import draw_sample

BUCKETS = 64
SPILLED_RECORDS = 1_000
"""Records in a spill file."""
EARLY = 4
"""Number of first pages of a site that the sample is drawn from, as a multiple of the sample size."""
_MOST_EARLY = 1_000_000
"""Maximum number of pages whose positions are in memory, for sites that are learned while pages are still read."""
_DONE = "done"
_PAGES_PER_DEADLINE = 50
"""Number of pages that may be learned from within the deadline for cleaning one page."""

Pool = Workers | Here


def bucket_of(site: str) -> int:
    """Return the number of the bucket for a site's records. Sites are cleaned in the order of their buckets."""
    return hashlib.sha256(site.encode("utf-8", "surrogatepass")).digest()[0] % BUCKETS


class _Learning(Task):
    """Learns the model of a site, and reports the number of pages."""

    def __init__(self, progress: Progress, function: Callable[..., object], *arguments: object) -> None:
        super().__init__(function, *arguments)
        self._progress = progress

    def heard(self, message: int) -> None:
        self._progress.learned(message)


@dataclass(slots=True)
class Sites:
    """The sites of a run, in a directory of spilled records."""

    plan: Plan
    directory: Path
    progress: Progress
    pool: Pool
    _models: dict[str, Task] = field(default_factory=dict)
    """Tasks that learn a site while pages are still read."""
    _last: str | None = None
    """The model of the last cleaned site."""
    give: Callable[[int], Task | None] = lambda worker: None
    """Returns tasks for other workers while a site is being learned."""

    def spill(self) -> None:
        """Write every record to a spill file, and its position to the list of its bucket.

        In a retry, all pages of the sites of the wanted records are spilled, because a site is learned from all its
        pages.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        self.progress.begin("sorting pages by site", self.progress.total, self.progress.in_bytes)
        wanted_sites = None  # all sites, because the sites in an unreadable file are unknown
        if self.plan.retry:
            wanted = Wanted(read_failed(self.plan.retry))
            if not wanted.rests:
                wanted_sites = {record.site(self.plan.site_key) for record in wanted.failed}
        groups = group_files(find_files(self.plan.inputs), SPILLED_RECORDS)
        flow = Flow(self.pool, groups, self.directory, SPILL, self.progress, function=spill_stretch)
        early: dict[str, list[InputFile]] = {}
        pages = held = 0
        with ExitStack() as stack:
            lists = [stack.enter_context(self._list(bucket).open("w", encoding="utf-8")) for bucket in range(BUCKETS)]
            for segment in flow.segments():
                name = f"{segment.stretch.name}{SPILL}"
                for site, offset, is_wanted in segment.tally["pages"]:
                    if wanted_sites is not None and site not in wanted_sites:
                        continue
                    lists[bucket_of(site)].write(json.dumps([site, name, offset, is_wanted]) + "\n")
                    pages += is_wanted
                    if site not in self._models and held < _MOST_EARLY:
                        early.setdefault(site, []).append(spilled_page(self.directory / name, offset))
                        held += 1
                        if len(early[site]) == EARLY * self.plan.sample:
                            held -= len(early[site])
                            self._models[site] = self.learn(site, early.pop(site))
                if not self.progress.in_bytes:
                    self.progress.move(len(segment.tally["pages"]))
        write_atomically(self.directory / _DONE, to_json(pages), alone=True)

    def _list(self, bucket: int) -> Path:
        return self.directory / f"{bucket:02d}.list"

    def _model(self, site: str) -> Path:
        return self.directory / f"{hashlib.sha256(site.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.model"

    def learn(self, site: str, pages: Sequence[InputFile]) -> Task:
        """Start to learn a model from a sample of the first pages. The sample is always the same.

        A resumed run learns models again, so no run reads a pickle that another run has written.
        """
        chosen = draw_sample(pages[: EARLY * self.plan.sample], self.plan.sample)
        task = _Learning(self.progress, learn, str(self._model(site)), chosen)
        self.pool.queue.append(task)
        return task

    def groups(self, records: int, done: Stretch | None) -> Iterator[Group]:
        """Spill all records, and yield groups of pages, site by site. Some models are learned ahead of time."""
        if not (self.directory / _DONE).exists():
            self.spill()
        counts = self.progress.counts
        done_file = self.directory / _DONE
        self.progress.begin("", from_json(done_file.read_bytes(), int, done_file))
        self.progress.skip(counts, counts.pages)
        numbers = count()
        ahead: deque[tuple[str, Task | None, list[Group]]] = deque()
        for site, pages, wanted in self._sites():
            files = [wanted[at : at + records] for at in range(0, len(wanted), records)]
            groups = [Group(next(numbers), tuple(some), records) for some in files]
            is_done = done is not None and groups[-1].number < done.group
            learning = None if is_done else self._models.pop(site, None) or self.learn(site, pages)
            ahead.append((site, learning, groups))
            if len(ahead) > 2 * self.pool.jobs:
                yield from self._with_model(*ahead.popleft())
        while ahead:
            yield from self._with_model(*ahead.popleft())

    def _sites(self) -> Iterator[tuple[str, list[InputFile], list[InputFile]]]:
        """Yield each site with all its pages and the pages to be cleaned, in an order that depends on names only."""
        for bucket in range(BUCKETS):
            pages: dict[str, list[InputFile]] = {}
            wanted: dict[str, list[InputFile]] = {}
            with self._list(bucket).open("rb") as lines:
                for line in lines:
                    site, name, offset, is_wanted = from_json(line, tuple[str, str, int, bool], lines.name)
                    page = spilled_page(self.directory / name, offset)
                    pages.setdefault(site, []).append(page)
                    if is_wanted:
                        wanted.setdefault(site, []).append(page)
            for site in sorted(wanted):
                yield site, pages[site], wanted[site]

    def _with_model(self, site: str, learning: Task | None, groups: list[Group]) -> Iterator[Group]:
        model = None if learning is None else self.wait_for_model(site, learning)
        for group in groups:
            yield group._replace(model=model)

    def wait_for_model(self, site: str, learning: Task) -> str | Problem:
        """Return the model file, or why learning failed. A page that crashed learning is left out of a second attempt.

        Raises OSError if the model could not be written. This stops the run, but no page fails.
        """
        result = self._result(learning)
        if isinstance(result, Problem) and result.kind not in {Kind.SITE, Kind.INTERNAL}:
            model, chosen = learning.arguments
            checks = [Task(check, page) for page in chosen]
            self.pool.queue.extend(checks)
            harmless = [task.arguments[0] for task in checks if not isinstance(self._result(task), Problem)]
            again = _Learning(self.progress, learn, model, harmless)
            self.pool.queue.append(again)
            result = self._result(again)
        if isinstance(result, Problem):
            return Problem(result.kind, f"the model of the site {site!r} could not be saved: {result.words}")
        return str(self._model(site))

    def _result(self, task: Task) -> object:
        while not task.is_done:
            self.pool.step(self.give)
        return task.result

    def forget(self, group: Group) -> None:
        """Delete the models of all sites before the site of a group."""
        if self._last not in (group.model, None):
            Path(str(self._last)).unlink(missing_ok=True)
        self._last = group.model if isinstance(group.model, str) else None


# These functions run in workers.


def learn(model: str, pages: Sequence[InputFile], report: Report) -> Problem | None:
    """Learn the model of a site from some of its pages, and write it to a file."""
    worker = state()
    allow_seconds(worker.plan.limits.deadline * (1 + len(pages) / _PAGES_PER_DEADLINE))

    def documents() -> Iterator[Document]:
        for page in pages:
            document = _document(page)
            report(1)
            if document is not None:
                yield document

    try:
        cleaner = with_sample(worker.pages.cleaner, worker.plan.sample).at_site(documents())
        write_atomically(Path(model), at_site_bytes(cleaner, worker.pages.cleaner), alone=True)
    except VictorError as error:
        return Problem(Kind.SITE, str(error))
    return None


def check(page: InputFile, report: Report) -> None:
    """Learn from a single page, to find out whether it crashes the worker."""
    worker = state()
    allow_seconds(worker.plan.limits.deadline)
    document = _document(page)
    with suppress(VictorError):
        worker.pages.cleaner.at_site([document] if document is not None else [])


def _document(page: InputFile) -> Document | None:
    worker = state()
    record = unpack(read_spilled(page))
    try:
        content = record.read(worker.plan.most_bytes)
        place = record.url or None, record.content_type or None
        return read_document(content, worker.pages.cleaner.config, *place, annotation=record.is_annotation)
    except (VictorError, OSError, ProblemError):
        return None
