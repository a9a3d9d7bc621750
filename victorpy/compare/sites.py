"""A site's pages, shared out: those that a method learns from, those whose labels it is told, those it is scored on."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from victorpy.cleaner import read_document
from victorpy.config import Config
from victorpy.datasets import GoldPage
from victorpy.document import Document, Elements, Label
from victorpy.errors import ConfigError, VictorError
from victorpy.gold import label_page
from victorpy.labellers.site_style_tree import SAMPLE


@dataclass(frozen=True, slots=True)
class Plan:
    """How every site's pages are shared out."""

    sample: int = SAMPLE
    tune: int = 0
    """Of how many pages of a site the labels are told; no method is scored on those."""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.sample < 1 or not 0 <= self.tune <= self.sample:
            raise ConfigError(
                f"sample {self.sample}, tune {self.tune}: a site is learned from at least 1 page, and the pages whose "
                "labels are told are among them"
            )


class Shares(NamedTuple):
    """Places of a site's pages, in order."""

    learned: list[int]
    """What a method may learn from."""
    tuned: list[int]
    """Those among them whose labels are told."""
    scored: list[int]


def share_out(count: int, plan: Plan, site: str = "") -> Shares:
    """Share a site's pages out, the same way at every run.

    Pages whose labels are told lie evenly apart and are at most half of the site's; a sample has them all.

    >>> share_out(6, Plan(sample=4, tune=2))
    Shares(learned=[1, 3, 4, 5], tuned=[1, 4], scored=[0, 2, 3, 5])
    """
    chance = random.Random(f"{plan.seed} {site}")
    tuned = _evenly(count, min(plan.tune, count // 2), chance.random())
    others = [place for place in range(count) if place not in tuned]
    room = max(min(plan.sample - len(tuned), len(others)), 0)
    return Shares(sorted([*tuned, *chance.sample(others, room)]), tuned, others)


def _evenly(count: int, wanted: int, offset: float) -> list[int]:
    return [int((number + offset) * count / wanted) for number in range(wanted)]


class SiteDocuments:
    """A site's pages as documents, read one by one whenever they are asked for, so that none has to be held."""

    def __init__(self, pages: Sequence[GoldPage], config: Config) -> None:
        self._pages = pages
        self._config = config
        self.reads = 0
        """How many documents were asked for: a method that asks for none does not learn from sites."""

    def __iter__(self) -> Iterator[Document]:
        for page in self._pages:
            self.reads += 1
            yield self._read(page)

    def _read(self, page: GoldPage) -> Document:
        """Read a page; one that is none (a picture, say) is as good as empty."""
        try:
            return read_document(page.html, self._config, page.url or None, source=page.name)
        except VictorError:
            return Document((), Elements())


def tell_labels(pages: Sequence[GoldPage], shares: Shares, config: Config) -> list[tuple[Label, ...] | None] | None:
    """The labels of a site's pages as far as they are told, in the order of those that are learned from."""
    if not shares.tuned:
        return None
    return [_labels(pages[place], config) if place in shares.tuned else None for place in shares.learned]


def _labels(page: GoldPage, config: Config) -> tuple[Label, ...] | None:
    try:
        return label_page(page, "", config).labels
    except VictorError:
        return None
