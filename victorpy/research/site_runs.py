"""Run methods on the pages of a site: choose the pages to learn from, and measure CPU time.

`victor compare`, `victor mine`, `victor evaluate` and cross-validation all use these functions.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

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
    """How the pages of each site are divided."""

    sample: int = SAMPLE  # maximum number of pages per site that a method learns from
    tune: int = 0
    """Number of pages per site whose labels are given to methods. These pages are not scored."""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.sample < 1 or not 0 <= self.tune <= self.sample:
            raise ConfigError(
                f"sample {self.sample}, tune {self.tune}: sample must be at least 1, and tune from 0 to sample"
            )


class Shares(NamedTuple):
    """Indices of a site's pages, in order."""

    learned: list[int]
    """Pages that a method may learn from. They include the tuned pages."""
    tuned: list[int]  # pages whose labels are given
    scored: list[int]


def share_out(count: int, plan: Plan, site: str = "") -> Shares:
    """Divide the pages of a site, in the same way in every run.

    Tuned pages are evenly spaced, and are at most half of the pages.

    >>> share_out(6, Plan(sample=4, tune=2))
    Shares(learned=[1, 3, 4, 5], tuned=[1, 4], scored=[0, 2, 3, 5])
    """
    chance = random.Random(f"{plan.seed} {site}")
    labelled, offset = min(plan.tune, count // 2), chance.random()
    tuned = [int((number + offset) * count / labelled) for number in range(labelled)]
    others = [page for page in range(count) if page not in tuned]
    unlabelled = draw_sample(others, max(plan.sample - labelled, 0), chance)
    return Shares(sorted([*tuned, *unlabelled]), tuned, others)


def label_site(
    labeller: Labeller, documents: Sequence[Document], learned: Sequence[int]
) -> tuple[list[Labelling], float, float]:
    """Label a site's pages after learning from the pages with the indices `learned`.

    Returns the labels, the CPU seconds of learning, and the CPU seconds of labelling.
    """
    start = time.process_time()
    site_labeller = labeller.at_site([documents[page] for page in learned])
    middle = time.process_time()
    labellings = [site_labeller.label(document) for document in documents]
    return labellings, middle - start, time.process_time() - middle


def label_by_site(
    labeller: Labeller, pages: Sequence[LabelledPage], plan: Plan | None = None
) -> Iterator[dict[int, Labelling]]:
    """Label gold pages site by site. Yield the labels of each site's pages by index.

    A site in two data sets counts as two sites. Without a plan, methods learn from all pages of a site.
    """
    sites: dict[str, list[int]] = {}
    for index, page in enumerate(pages):
        sites.setdefault(f"{page.data} {page.site}", []).append(index)
    for site, indices in sites.items():
        learned = share_out(len(indices), plan, site).learned if plan else range(len(indices))
        labellings, _, _ = label_site(labeller, [pages[index].document for index in indices], learned)
        yield dict(zip(indices, labellings, strict=True))


def map_in_jobs(function: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """Call a function for all items, in parallel if `jobs` is more than 1. Yield the results in order."""
    if jobs == 1:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        yield from pool.map(function, items)


def cut_key(config: Config) -> tuple[Cuts, tuple[str, ...]]:
    """Return the settings that decide how pages are split into blocks."""
    return config.cuts, config.get("tag-delete")
