"""The whole evaluation: read, clean, cluster, classify, count what survives; `mine` gives what scores.json holds."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from victorpy.errors import DataError, VictorError
from victorpy.mining.classification import Cases, averages, classify
from victorpy.mining.cleaning import NONE, CleanedSite, Cost, Method, clean_sites
from victorpy.mining.clustering import Runs, cluster, statistics, tfidf
from victorpy.mining.order import as_scores, check_order
from victorpy.mining.pages import MinedPage, by_site, check_pages
from victorpy.mining.survival import Survival
from victorpy.mining.words import Bags, Counts

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How pages are mined."""

    sample: int = 500
    """How many pages of a site a site-level method learns from."""
    limit: int = 0
    """How many pages of a site and vertical are read; 0 for all."""
    runs: int = 800
    dimensions: int = 100
    """What pages are reduced to before they are clustered; 0 for not at all."""
    cluster_pages: int = 0
    """How many pages are clustered, drawn by chance; 0 for all."""
    seed: int = 1
    jobs: int = 1

    def check(self) -> None:
        """Refuse numbers that make no sense."""
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                shown = name.replace("_", "-")
                raise DataError(f"--{shown} must be at least {least}, not {getattr(self, name)}")


_LEAST = {"sample": 1, "limit": 0, "runs": 1, "dimensions": 0, "cluster_pages": 0, "seed": 0, "jobs": 1}


@dataclass(slots=True)
class Cleaned:
    """All pages after cleaning, as counts, in one order for all methods."""

    pages: list[MinedPage] = field(default_factory=list)
    bags: dict[str, Bags] = field(default_factory=dict)
    removed: dict[str, Bags] = field(default_factory=dict)
    survival: dict[str, list[Survival]] = field(default_factory=dict)
    cost: dict[str, Cost] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, names: Sequence[str]) -> Cleaned:
        """Nothing yet of these methods."""
        bags, removed = ({name: Bags() for name in names} for _ in range(2))
        return cls([], bags, removed, {name: [] for name in names}, dict.fromkeys(names, Cost()))

    def add(self, site: CleanedSite) -> None:
        """Add a site's pages."""
        self.pages += site.pages
        self.warnings += site.warnings
        for name in self.bags:
            for bags, counts in ((self.bags[name], site.terms[name]), (self.removed[name], site.removed[name])):
                for page in counts:
                    bags.add(page)
            self.survival[name] += site.survival[name]
            self.cost[name] += site.cost[name]


def require_sklearn() -> None:
    """Say what to install where the library that mines is missing."""
    if importlib.util.find_spec("sklearn") is None:
        raise VictorError("mining needs scikit-learn: pip install 'victorpy[research]'")


def parse_methods(names: str, settings: Sequence[str]) -> list[Method]:
    """Read ``none,sst`` and settings ``sst:t=0.3``; no cleaning always comes first, for all is held against it."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    twice = sorted({name for name in wanted if wanted.count(name) > 1})
    if twice:
        raise DataError(f"methods named twice: {', '.join(twice)}")
    found: dict[str, list[str]] = {name: [] for name in [NONE, *wanted]}
    for setting in settings:
        name, colon, parameter = setting.partition(":")
        if not colon or name not in wanted or name == NONE:
            raise DataError(f"{setting!r}: give a parameter as METHOD:NAME=VALUE; methods are {', '.join(wanted)}")
        found[name].append(parameter)
    methods = [Method(name, tuple(given)) for name, given in found.items()]
    for method in methods:
        method.load()  # a wrong name or parameter should show before the pages are read
    return methods


def mine(
    pages: Sequence[MinedPage], methods: Sequence[Method], settings: Settings, progress: Progress = lambda _: None
) -> dict[str, Any]:
    """Mine pages before cleaning and after each method, and give all numbers by name; shares are in 0..1."""
    require_sklearn()
    settings.check()
    check_pages(pages)
    cleaned = clean_all(pages, methods, settings, progress)
    check_pages(cleaned.pages)
    names = [method.name for method in methods]
    matrices = {name: cleaned.bags[name].matrix() for name in names}
    runs = {name: _cluster(matrices[name], cleaned.pages, settings, name, progress) for name in names}
    cases = {name: _classify(matrices[name], cleaned.pages, name, progress) for name in names}
    return {
        "settings": asdict(settings),
        "methods": names,
        "parameters": {method.name: list(method.settings) for method in methods},
        "data": _data(cleaned),
        "results": [_result(name, cleaned, runs[name], cases[name]) for name in names],
        "order": as_scores(check_order(runs, cases)),
        "warnings": cleaned.warnings,
    }


def clean_all(pages: Sequence[MinedPage], methods: Sequence[Method], settings: Settings, progress: Progress) -> Cleaned:
    """Clean all sites and keep the counts."""
    names = [method.name for method in methods]
    found = Cleaned.of(names)
    sites = by_site(pages)
    for done, site in enumerate(clean_sites(sites, methods, settings.sample, settings.seed, settings.jobs), 1):
        found.add(site)
        progress(f"cleaned: site {done} of {len(sites)}")
    return found


def _cluster(
    counts: Counts, pages: Sequence[MinedPage], settings: Settings, name: str, progress: Progress
) -> list[float]:
    verticals = sorted({page.vertical for page in pages})
    chosen = _clustered(len(pages), settings)
    classes = np.array([verticals.index(pages[at].vertical) for at in chosen])
    runs = Runs(settings.runs, settings.seed, settings.jobs)
    found = cluster(tfidf(counts[chosen]), classes, runs, settings.dimensions)
    progress(f"clustered: {name}")
    return found


def _clustered(pages: int, settings: Settings) -> list[int]:
    """Which pages are clustered, the same ones for every method."""
    if not settings.cluster_pages or settings.cluster_pages >= pages:
        return list(range(pages))
    return sorted(random.Random(settings.seed).sample(range(pages), settings.cluster_pages))


def _classify(counts: Counts, pages: Sequence[MinedPage], name: str, progress: Progress) -> Cases:
    found = _classes(counts, pages)
    progress(f"classified: {name}")
    return found


def _classes(counts: Counts, pages: Sequence[MinedPage]) -> Cases:
    return classify(counts, [page.vertical for page in pages], [page.site for page in pages])


def _data(cleaned: Cleaned) -> dict[str, Any]:
    pages = cleaned.pages
    return {
        "pages": len(pages),
        "sites": len({page.site for page in pages}),
        "verticals": sorted({page.vertical for page in pages}),
        "values": sum(len(page.values) for page in pages),
    }


def _result(name: str, cleaned: Cleaned, runs: Sequence[float], cases: Cases) -> dict[str, Any]:
    return {
        "method": name,
        "cost": cleaned.cost[name].scores(),
        "survival": _survival(cleaned, name),
        "clustering": statistics(runs),
        "classification": averages(cases),
        "removed": _removed(cleaned, name),
    }


def _removed(cleaned: Cleaned, name: str) -> dict[str, Any] | None:
    """How well the removed text by itself tells verticals apart: what does is no loss to noise, but to mining."""
    counts = cleaned.removed[name].matrix()
    if not counts.nnz:
        return None
    found: dict[str, Any] = averages(_classes(counts, cleaned.pages))["average"]
    return found


def _survival(cleaned: Cleaned, name: str) -> dict[str, Any]:
    """What is removed and what survives: of all pages, of each vertical, and of each vertical at each site."""
    verticals: dict[str, list[Survival]] = {}
    cells: dict[tuple[str, str], list[Survival]] = {}
    for page, found in zip(cleaned.pages, cleaned.survival[name], strict=True):
        verticals.setdefault(page.vertical, []).append(found)
        cells.setdefault((page.vertical, page.site), []).append(found)
    return {
        "all": Survival.sum(cleaned.survival[name]).scores(),
        "verticals": {vertical: Survival.sum(found).scores() for vertical, found in sorted(verticals.items())},
        "sites": [
            {"vertical": vertical, "site": site, **Survival.sum(found).scores()}
            for (vertical, site), found in sorted(cells.items())
        ],
    }
