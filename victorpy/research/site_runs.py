"""Running methods at a site: which of its pages they learn from, and how long learning and labelling take.

`victor compare`, `victor mine`, `victor evaluate` and cross-validation all use these functions. Times are CPU seconds.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from victorpy.config import Config, Cuts
from victorpy.document import Document, Labelling
from victorpy.errors import ConfigError
from victorpy.labellers.base import Labeller
from victorpy.research.gold import LabelledPage
from victorpy.sites.grouping import SAMPLE, draw_sample

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Plan:
    """How the pages of every site are divided."""

    sample: int = SAMPLE
    """Maximum number of pages of a site that a method learns from."""
    tune: int = 0
    """Number of pages of a site whose labels are given to methods. No method is scored on those."""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.sample < 1 or not 0 <= self.tune <= self.sample:
            raise ConfigError(
                f"sample {self.sample}, tune {self.tune}: sample must be at least 1, and tune from 0 to sample"
            )


class Shares(NamedTuple):
    """Indices of a site's pages, in order."""

    learned: list[int]
    """Pages that a method may learn from."""
    tuned: list[int]
    """Those among them whose labels are given."""
    scored: list[int]


def share_out(count: int, plan: Plan, site: str = "") -> Shares:
    """Divide the pages of a site, in the same way in every run.

    Pages whose labels are given are evenly spaced, and at most half of the site's. A sample contains all of them.

    >>> share_out(6, Plan(sample=4, tune=2))
    Shares(learned=[1, 3, 4, 5], tuned=[1, 4], scored=[0, 2, 3, 5])
    """
    chance = random.Random(f"{plan.seed} {site}")
    labelled, offset = min(plan.tune, count // 2), chance.random()
    tuned = [int((number + offset) * count / labelled) for number in range(labelled)]
    others = [page for page in range(count) if page not in tuned]
    unlabelled = draw_sample(others, max(plan.sample - labelled, 0), chance)
    return Shares(sorted([*tuned, *unlabelled]), tuned, others)


class Timed(NamedTuple, Generic[Result]):
    """What a function returned or raised, and its CPU seconds."""

    value: Result | Exception
    seconds: float

    def get(self) -> Result:
        """Return the value, or raise the exception."""
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


def timed(function: Callable[[], Result]) -> Timed[Result]:
    """Call a function and measure its time, even if it raises."""
    value: Result | Exception
    began = time.process_time()
    try:
        value = function()
    except Exception as error:  # other programs may raise anything
        value = error
    return Timed(value, time.process_time() - began)


def label_site(
    labeller: Labeller, documents: Sequence[Document], learned: Sequence[int]
) -> tuple[list[Labelling], float, float]:
    """Label the pages of a site after learning from some of them, given by index.

    Returns the labels, and the seconds of learning and of labelling.
    """
    at_site = timed(lambda: labeller.at_site([documents[page] for page in learned]))
    site_labeller = at_site.get()
    labelled = timed(lambda: [site_labeller.label(document) for document in documents])
    return labelled.get(), at_site.seconds, labelled.seconds


def label_by_site(
    labeller: Labeller, pages: Sequence[LabelledPage], plan: Plan | None = None
) -> Iterator[dict[int, Labelling]]:
    """Label gold pages site by site, and yield the labels of each site's pages by index.

    A site in two data sets counts as two sites. Without a plan, a site is learned from all its pages.
    """
    sites: dict[str, list[int]] = {}
    for index, page in enumerate(pages):
        sites.setdefault(f"{page.data} {page.site}", []).append(index)
    for site, indices in sites.items():
        learned = share_out(len(indices), plan, site).learned if plan else range(len(indices))
        labellings, _, _ = label_site(labeller, [pages[index].document for index in indices], learned)
        yield dict(zip(indices, labellings, strict=True))


def map_in_jobs(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Call a function for all items, in several processes if `jobs` is greater than 1, and yield results in order."""
    if jobs == 1:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        yield from pool.map(function, items)


def cut_key(config: Config) -> tuple[Cuts, tuple[str, ...]]:
    """Return the settings that decide how a page is split into blocks: configs with equal keys split pages alike."""
    return config.cuts, config.get("tag-delete")
