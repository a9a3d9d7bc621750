"""Every method cleans every page, in one process and page by page in turn; both learning and cleaning are timed.

Cleaning a page is timed from bytes to text, for every method. Time is CPU time, and no method always goes first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from victorpy.base.score import Score
from victorpy.cleaner import Cleaner, read_document
from victorpy.config import Config
from victorpy.document import Document, Elements
from victorpy.errors import DataError, VictorError
from victorpy.labellers.base import Labels
from victorpy.methods import Method
from victorpy.outputs import OUTPUTS
from victorpy.peers import load_peer
from victorpy.research.compare.data import DataSet
from victorpy.research.compare.measures import Cleaned, Outcome, Ruler
from victorpy.research.datasets import GoldPage
from victorpy.research.gold import label_page
from victorpy.research.site_runs import Plan, Shares, learn_site, share_out, timed

Progress = Callable[[str], object]
"""Called with the name of every finished page."""


class ComparedPage(NamedTuple):
    """A page and what every method made of it."""

    name: str
    page_type: str
    ceiling: Score | None
    """Values that are in the page's text at all, if the gold is values."""
    outcomes: dict[str, Outcome]


class Learned(NamedTuple):
    """What it cost a method to learn a site."""

    pages: int = 0
    """Number of pages it read; 0 if it does not learn from sites."""
    seconds: float = 0.0
    error: str = ""


class ComparedSite(NamedTuple):
    """A site of a data set, and what every method made of its pages."""

    data: str
    site: str
    tuned: int
    learned: dict[str, Learned]
    pages: list[ComparedPage]


def compare_methods(
    sets: Sequence[DataSet], methods: Sequence[Method], plan: Plan, progress: Progress
) -> list[ComparedSite]:
    """Compare methods on data sets, one site at a time."""
    valued = [data.source for data in sets if data.has_values]
    if plan.tune and valued:
        raise DataError(
            f"{', '.join(valued)}: its gold is values, not texts: no labels can be told of it, leave out tune"
        )
    compared: list[ComparedSite] = []
    turns = itertools.count()
    for data in sets:
        for site, pages in data.read_sites():
            if not compared:  # load now what is loaded at first use, before anything is timed
                for method in methods:
                    MethodAtSite(method, pages[:1], Shares([0], [], [0])).clean(pages[0])
            shares = share_out(len(pages), plan, f"{data.source} {site}")
            at_site = [MethodAtSite(method, pages, shares) for method in methods]
            compared_pages = []
            for index in shares.scored:
                compared_pages.append(_compare_page(pages[index], at_site, next(turns), data.has_values))
                progress(pages[index].name)
            learned = {method.name: method.learned for method in at_site}
            compared.append(ComparedSite(data.name, site, len(shares.tuned), learned, compared_pages))
    return compared


class MethodAtSite:
    """A method that has learned from a site's pages and the given labels; if that fails, it fails on all pages."""

    def __init__(self, method: Method, pages: Sequence[GoldPage], shares: Shares) -> None:
        self.name = method.name
        self.learned = Learned()
        self.config: Config | None = None
        """Config that pages are cut by; other programs have none."""
        if method.is_peer:
            extract = load_peer(str(method.method), method.parameters)
            self._run: Callable[[GoldPage], Cleaned] = lambda gold: Cleaned(extract(gold.html))
            return
        cleaner = method.load()
        self.config = cleaner.config
        if cleaner.labeller.wants_site:
            documents = SiteDocuments([pages[index] for index in shares.learned], cleaner.config)
            labels = _given_labels(pages, shares, cleaner.config)
            labeller, seconds = learn_site(cleaner.labeller, documents, labels)
            error = _describe(labeller) if isinstance(labeller, Exception) else ""
            self.learned = Learned(min(documents.reads, len(shares.learned)), seconds, error)
            if not isinstance(labeller, Exception):
                cleaner = Cleaner(labeller, cleaner.config)
        self._run = partial(_clean, cleaner)

    def clean(self, gold: GoldPage) -> tuple[Cleaned, float, str]:
        """Clean a page; returns the output, the seconds and the error. A method that fails returns an empty text."""
        if self.learned.error:
            return Cleaned(""), 0.0, f"the site could not be learned: {self.learned.error}"
        output, seconds = timed(lambda: self._run(gold))
        if isinstance(output, Exception):
            return Cleaned(""), seconds, _describe(output)
        return output, seconds, ""


def _clean(cleaner: Cleaner, gold: GoldPage) -> Cleaned:
    page = cleaner.document(gold.html, gold.url or None)
    return Cleaned(OUTPUTS.get("text").render(page), page)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


class SiteDocuments:
    """A site's pages as documents, read one by one whenever they are iterated over, so that none has to be held."""

    def __init__(self, pages: Sequence[GoldPage], config: Config) -> None:
        self._pages = pages
        self._config = config
        self.reads = 0
        """Number of documents that were read: a method that reads none does not learn from sites."""

    def __iter__(self) -> Iterator[Document]:
        for page in self._pages:
            self.reads += 1
            try:
                yield read_document(page.html, self._config, page.url or None, source=page.name)
            except VictorError:  # not a page (a picture, say)
                yield Document((), Elements())


def _given_labels(pages: Sequence[GoldPage], shares: Shares, config: Config) -> Labels:
    """Return the gold labels of the tuned pages, and None for the other pages that are learned from."""
    if not shares.tuned:
        return None
    labels: list[Sequence[str] | None] = []
    for index in shares.learned:
        try:
            labels.append(label_page(pages[index], "", config).labels if index in shares.tuned else None)
        except VictorError:  # not a page
            labels.append(None)
    return labels


def _compare_page(gold: GoldPage, methods: Sequence[MethodAtSite], turn: int, has_values: bool) -> ComparedPage:
    """Clean a page with every method, starting with another one at every page, then score all."""
    first = turn % len(methods)
    cleaned = {method.name: method.clean(gold) for method in [*methods[first:], *methods[:first]]}
    ruler = Ruler(gold, has_values)
    outcomes = {}
    for method in methods:
        output, seconds, error = cleaned[method.name]
        outcomes[method.name] = ruler.measure(output, method.config)._replace(seconds=seconds, error=error)
    return ComparedPage(gold.name, gold.page_type, ruler.ceiling, outcomes)
