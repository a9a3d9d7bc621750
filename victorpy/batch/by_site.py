"""Site by site: records are laid aside by their site, a model is made of some of a site's pages, and all are cleaned.

Memory holds neither pages nor sites: records go to files, a few sites in each, and what is kept of one such file is
where its records are.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import random
import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from victorpy.batch import worker
from victorpy.batch.guard import BATCH_PAGES, Guard, Limits, Task, Unguarded
from victorpy.batch.inputs import Mark, Read, read_file, read_inputs
from victorpy.batch.outcome import Outcome, failure
from victorpy.batch.progress import Progress
from victorpy.batch.reasons import Kind, Problem, ProblemError, Status
from victorpy.batch.records import Record
from victorpy.batch.retry import Wanted
from victorpy.batch.site import SEED, seeing
from victorpy.batch.site_models import load_at_site, save_at_site
from victorpy.batch.sources import ReadOptions
from victorpy.cleaner import Cleaner, read_document
from victorpy.document import Document
from victorpy.errors import VictorError
from victorpy.labellers.site_style_tree import SAMPLE

__all__ = ["SAMPLE", "SPILL", "Ref", "SiteFeed", "clean_site", "site_key"]

SPILL = "spill"
BUCKETS = 64
_DONE = "done"
_PAGES_A_DEADLINE = 50
"""So many pages of a sample may take as long as one page may."""


class Ref(NamedTuple):
    """Where a record was laid aside."""

    path: str
    offset: int
    length: int

    def record(self) -> Record:
        """Read it."""
        with Path(self.path).open("rb") as file:
            file.seek(self.offset)
            record: Record = pickle.loads(file.read(self.length))  # our own file
        return record


def site_key(record: Record) -> str:
    """The site of a record: the host of its address, or the folder that it was found in.

    >>> site_key(Record("x", Path("tea.example/a.html"))), site_key(Record("x", Path("a"), url="http://Tea.example:80/"))
    ('tea.example', 'tea.example')
    """
    with suppress(ValueError):
        host = urlsplit(record.url).hostname
        if host:
            return host
    return record.place.parts[0] if len(record.place.parts) > 1 else ""


def bucket_of(site: str) -> int:
    """Which of the files that records are laid aside in a site goes to; they are taken up in this order."""
    return hashlib.sha256(site.encode("utf-8", "surrogatepass")).digest()[0] % BUCKETS


class SiteFeed:
    """The records of the inputs, those of a site together."""

    def __init__(
        self,
        inputs: Sequence[str],
        options: ReadOptions,
        directory: Path,
        sample: int,
        limits: Limits,
        read: Read = read_file,
        wanted: Wanted | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._inputs = inputs
        self._options = options
        self._directory = directory
        self._sample = sample
        self._limits = limits
        self._read = read
        self._progress = progress
        self._wanted = wanted
        """What is to be cleaned, where it is not all; sites are learned from all of their pages in any case."""

    def tasks(self, after: Mark | None, guard: Guard | Unguarded) -> Iterator[Task[Ref]]:
        """Lay all records aside, then take up site after site, some ahead of what is asked for."""
        self._lay_aside()
        if self._progress is not None:
            self._progress.expect(int((self._directory / _DONE).read_text(encoding="ascii")))
        done = 0 if after is None else after.position + 1
        ahead: deque[_Site] = deque()
        for site in self._sites():
            if site.first + len(site.refs) <= done:
                continue
            site.begin(guard, self._sample, self._limits)
            ahead.append(site)
            if len(ahead) > 2 * self._limits.jobs:
                yield from ahead.popleft().tasks(guard, done)
        while ahead:
            yield from ahead.popleft().tasks(guard, done)

    def close(self) -> None:
        """Take the laid aside records away."""
        shutil.rmtree(self._directory, ignore_errors=True)

    def _lay_aside(self) -> None:
        """Write every record to the file of its bucket, and to that bucket's list; once, unless broken off."""
        if (self._directory / _DONE).exists():
            return
        shutil.rmtree(self._directory, ignore_errors=True)
        self._directory.mkdir(parents=True)
        sites = self._wanted_sites()
        count = 0
        with ExitStack() as opened:
            files = [opened.enter_context(self._bucket(number).open("wb")) for number in range(BUCKETS)]
            lists = [opened.enter_context(self._list(number).open("w", encoding="utf-8")) for number in range(BUCKETS)]
            for _, record in read_inputs(self._inputs, self._options, read=self._read):
                site = site_key(record)
                if sites is not None and site not in sites:
                    continue
                number = bucket_of(site)
                content = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
                wanted = self._wanted is None or record in self._wanted
                lists[number].write(json.dumps([site, files[number].tell(), len(content), wanted]) + "\n")
                files[number].write(content)
                count += wanted
                self._tell(count)
        (self._directory / _DONE).write_text(str(count), encoding="ascii")

    def _tell(self, count: int) -> None:
        if self._progress is not None:
            self._progress.tell(lambda: f"{count:,} pages laid aside by their sites")

    def _wanted_sites(self) -> frozenset[str] | None:
        """The sites that are to be laid aside; None for all, as where a file was not read nobody knows its sites."""
        if self._wanted is None or self._wanted.rests:
            return None
        return frozenset(site_key(Record("", each.place, url=each.url)) for each in self._wanted.failed)

    def _sites(self) -> Iterator[_Site]:
        """The sites, in an order that depends on nothing but their names."""
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
        """All that can be learned from."""
        self.refs = refs
        """What is to be cleaned."""
        self.first = first
        """The number of its first record among all."""
        self._model = model
        self._learning: Task[Ref] | None = None

    def begin(self, guard: Guard | Unguarded, sample: int, limits: Limits) -> None:
        """Begin to make the site's model."""
        allowance = limits.deadline * len(self._chosen(sample)) / _PAGES_A_DEADLINE
        self._learning = Task(learn, self._chosen(sample), (str(self._model), sample), allowance=allowance)
        guard.submit(self._learning)

    def _chosen(self, sample: int) -> list[Ref]:
        if len(self.pages) <= sample:
            return self.pages
        return [self.pages[number] for number in sorted(random.Random(SEED).sample(range(len(self.pages)), sample))]

    def tasks(self, guard: Guard | Unguarded, done: int) -> Iterator[Task[Ref]]:
        """Clean the site's pages, but for those that are done, with its model."""
        problem = self._learned(guard)
        function = clean_at_site if problem is None else fail_at_site
        fixed: tuple[Any, ...] = (str(self._model),) if problem is None else (problem,)
        start = max(done - self.first, 0)
        last = range(start, len(self.refs), BATCH_PAGES)[-1]
        for at in range(start, len(self.refs), BATCH_PAGES):
            refs = self.refs[at : at + BATCH_PAGES]
            told = [(Mark(0, self.first + at + number), _light(ref.record())) for number, ref in enumerate(refs)]
            cleanup = partial(self._model.unlink, missing_ok=True) if at == last else None
            yield Task(function, refs, fixed, told=told, cleanup=cleanup)

    def _learned(self, guard: Guard | Unguarded) -> Problem | None:
        """See that the model is there. Where making it failed, leave out the pages that are to blame."""
        assert self._learning is not None
        ended = self._result(guard, self._learning)
        if ended is None:
            return None
        if ended.kind not in {Kind.SITE, Kind.INTERNAL}:
            checks = [Task(check, [ref], ()) for ref in self._learning.items]
            sound = [task.items[0] for task, found in guard.map(checks) if found[0].kind is None]
            again: Task[Ref] = replace(self._learning, items=sound)
            guard.submit(again)
            ended = self._result(guard, again)
            if ended is None:
                return None
        return Problem(ended.kind, f"the model of the site {self.name!r} could not be made: {ended.words}")

    @staticmethod
    def _result(guard: Guard | Unguarded, learning: Task[Ref]) -> Problem | None:
        """Wait for a model; that it cannot be written is not its pages' fault, and ends the run."""
        ended = guard.result(learning)
        if isinstance(ended, OSError):
            raise ended
        return ended if isinstance(ended, Problem) else None


def clean_site(
    name: str, refs: list[Ref], model: Path, sample: int, limits: Limits, guard: Guard | Unguarded
) -> Iterator[tuple[Record, Outcome]]:
    """Make the model of one site, whose records are laid aside, and clean all its pages with it."""
    site = _Site(name, refs, refs, 0, model)
    site.begin(guard, sample, limits)
    for task, outcomes in guard.map(site.tasks(guard, 0)):
        for (_, record), outcome in zip(task.told, outcomes, strict=True):
            yield record, outcome
        if task.cleanup is not None:
            task.cleanup()


def _light(record: Record) -> Record:
    return replace(record, payload=b"")


# What runs in workers.


def learn(model: str, sample: int, refs: Sequence[Ref]) -> Problem | OSError | str:
    """Make the model of a site from some of its pages, and leave it in a file; say what went wrong otherwise."""
    tools = worker.tools()
    documents = (document for ref in refs if (document := _document(ref)) is not None)
    try:
        cleaner = seeing(tools.cleaner, sample).at_site(documents)
        save_at_site(cleaner, tools.cleaner, Path(model))
    except VictorError as error:
        return Problem(Kind.SITE, str(error))
    except OSError as error:
        return error
    return model


def check(refs: Sequence[Ref]) -> list[Outcome]:
    """See whether pages can be learned from, each as a site of its own; whoever cannot takes this worker with it."""
    for ref in refs:
        document = _document(ref)
        with suppress(VictorError):
            worker.tools().cleaner.at_site([document] if document is not None else [])
    return [Outcome(Status.KEPT) for _ in refs]


def clean_at_site(model: str, refs: Sequence[Ref]) -> list[Outcome]:
    """Clean pages of a site with its model."""
    cleaner = _load(model)
    return [worker.clean_checked(ref.record(), cleaner) for ref in refs]


def fail_at_site(problem: Problem, refs: Sequence[Ref]) -> list[Outcome]:
    """Say of every page of a site why it has no model; a page with a problem of its own keeps that."""
    return [failure(ref.record().problem or problem) for ref in refs]


def _document(ref: Ref) -> Document | None:
    tools = worker.tools()
    record = ref.record()
    try:
        return read_document(
            record.read(tools.work.most_bytes), tools.cleaner.config, record.url or None, record.content_type or None
        )
    except (VictorError, OSError, ProblemError):
        return None


@lru_cache(maxsize=2)
def _load(model: str) -> Cleaner:
    """Load a site's model; pages of a site come together."""
    return load_at_site(worker.tools().cleaner, Path(model))
