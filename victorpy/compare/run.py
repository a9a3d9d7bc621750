"""Every method cleans every page, in one process and page by page in turn, with a look at the clock.

Learning a site and cleaning a page are timed apart. Cleaning a page is all the way from bytes to text, for every
method. Time is CPU time, and no method always goes first.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from victorpy.cleaner import Cleaner
from victorpy.compare.data import DataSet
from victorpy.compare.measures import Measured, Ruler
from victorpy.compare.methods import Cleaned, Method
from victorpy.compare.sites import Plan, Shares, SiteDocuments, share_out, tell_labels
from victorpy.datasets import GoldPage
from victorpy.errors import DataError
from victorpy.scores import Score

Progress = Callable[[str], object]
"""Told of every page that is done, by its name."""


class Outcome(NamedTuple):
    """What a method made of a page, and at what cost."""

    measured: Measured
    seconds: float
    error: str = ""


class ComparedPage(NamedTuple):
    """A page and what every method made of it."""

    name: str
    page_type: str
    ceiling: Score | None
    """The values that are in the page's text at all, where the gold is values."""
    outcomes: dict[str, Outcome]


class Learned(NamedTuple):
    """What it cost a method to learn a site."""

    pages: int
    """How many pages it looked at; none, where it does not learn from sites."""
    seconds: float
    error: str = ""


class ComparedSite(NamedTuple):
    """A site of a data set, and what every method made of its pages."""

    data: str
    site: str
    tuned: int
    learned: dict[str, Learned]
    pages: list[ComparedPage]


class Settled(NamedTuple):
    """A method as it is at one site."""

    method: Method
    cleaner: Cleaner | None
    learned: Learned


def compare_methods(
    sets: Sequence[DataSet], methods: Sequence[Method], plan: Plan, progress: Progress
) -> list[ComparedSite]:
    """Compare methods on data sets, one site at a time."""
    _check(sets, plan)
    found: list[ComparedSite] = []
    number = itertools.count()
    for data in sets:
        for site, pages in data.read_sites():
            if not found:  # whatever is loaded at first use is loaded now
                _warm_up(methods, pages[0])
            found.append(_compare_site(data, site, pages, methods, plan, number, progress))
    return found


def _check(sets: Sequence[DataSet], plan: Plan) -> None:
    valued = [data.source for data in sets if data.has_values]
    if plan.tune and valued:
        raise DataError(
            f"{', '.join(valued)}: its gold is values, not texts: no labels can be told of it, leave out tune"
        )


def _warm_up(methods: Sequence[Method], page: GoldPage) -> None:
    for method in methods:
        _clean_page(_settle(method, [page], Shares([0], [], [0])), page)


def _compare_site(
    data: DataSet,
    site: str,
    pages: list[GoldPage],
    methods: Sequence[Method],
    plan: Plan,
    number: Iterator[int],
    progress: Progress,
) -> ComparedSite:
    shares = share_out(len(pages), plan, f"{data.source} {site}")
    settled = [_settle(method, pages, shares) for method in methods]
    compared = []
    for place in shares.scored:
        compared.append(_compare_page(pages[place], settled, next(number), data.has_values))
        progress(pages[place].name)
    learned = {found.method.name: found.learned for found in settled}
    return ComparedSite(data.name, site, len(shares.tuned), learned, compared)


def _settle(method: Method, pages: Sequence[GoldPage], shares: Shares) -> Settled:
    """Let a method learn from a site's pages, and from the labels that are told; what fails there fails there only."""
    if method.cleaner is None or not method.may_learn_sites:
        return Settled(method, method.cleaner, Learned(0, 0.0))
    documents = SiteDocuments([pages[place] for place in shares.learned], method.cleaner.config)
    labels = tell_labels(pages, shares, method.cleaner.config)
    cleaner, error = method.cleaner, ""
    began = time.process_time()
    try:
        cleaner = cleaner.at_site(documents, labels)
    except Exception as failure:  # one method's mistake must not lose the others' results
        error = f"{type(failure).__name__}: {failure}"
    seconds = time.process_time() - began
    learned = Learned(min(documents.reads, len(shares.learned)), seconds, error)
    return Settled(method, cleaner, learned)


def _compare_page(gold: GoldPage, settled: Sequence[Settled], number: int, has_values: bool) -> ComparedPage:
    """Clean a page by every method, another one first at every page, and score them once all are done."""
    first = number % len(settled)
    done = {found.method.name: _clean_page(found, gold) for found in [*settled[first:], *settled[:first]]}
    ruler = Ruler(gold, has_values)
    outcomes = {}
    for found in settled:
        cleaned, seconds, error = done[found.method.name]
        config = found.cleaner.config if found.cleaner else None
        outcomes[found.method.name] = Outcome(ruler.measure(cleaned, config), seconds, error)
    return ComparedPage(gold.name, gold.page_type, ruler.ceiling, outcomes)


def _clean_page(settled: Settled, gold: GoldPage) -> tuple[Cleaned, float, str]:
    """Clean a page; a method that fails gives nothing, and so does one that could not learn the site."""
    if settled.learned.error:
        return Cleaned(""), 0.0, f"the site could not be learned: {settled.learned.error}"
    run = settled.method.runner(settled.cleaner)
    cleaned, error = Cleaned(""), ""
    began = time.process_time()
    try:
        cleaned = run(gold)
    except Exception as failure:  # whatever another program may raise
        error = f"{type(failure).__name__}: {failure}"
    return cleaned, time.process_time() - began, error
