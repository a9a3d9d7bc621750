"""The whole evaluation: read, clean, cluster, classify, count what survives; `mine` gives what scores.json holds."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from victorpy.errors import DataError, VictorError
from victorpy.labellers.site_style_tree import SAMPLE
from victorpy.mining.classification import Cases, averages, classify
from victorpy.mining.cleaned import Cleaned
from victorpy.mining.cleaning import clean_sites
from victorpy.mining.clustering import Runs, cluster, statistics, tfidf
from victorpy.mining.methods import Method
from victorpy.mining.order import as_scores, check_order
from victorpy.mining.pages import MinedPage, by_site, check_pages
from victorpy.mining.words import Counts

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How pages are mined."""

    sample: int = SAMPLE
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


def require_sklearn() -> None:
    """Say what to install where the library that mines is missing."""
    if importlib.util.find_spec("sklearn") is None:
        raise VictorError("mining needs scikit-learn: pip install 'victorpy[research]'")


def mine(
    pages: Sequence[MinedPage], methods: Sequence[Method], settings: Settings, progress: Progress = lambda _: None
) -> dict[str, Any]:
    """Mine pages before cleaning and after each method, and give all numbers by name; shares are in 0..1."""
    require_sklearn()
    settings.check()
    check_pages(pages)
    cleaned = clean_all(pages, methods, settings, progress)
    check_pages(cleaned.pages)
    return {
        "settings": asdict(settings),
        "methods": [method.name for method in methods],
        "parameters": {method.name: list(method.settings) for method in methods},
        **scores_of(cleaned, settings, progress),
    }


def scores_of(cleaned: Cleaned, settings: Settings, progress: Progress) -> dict[str, Any]:
    """All numbers of cleaned pages."""
    matrices = {name: bags.matrix() for name, bags in cleaned.bags.items()}
    runs = {name: _cluster(counts, cleaned.pages, settings, name, progress) for name, counts in matrices.items()}
    cases = {name: _classify(counts, cleaned.pages, name, progress) for name, counts in matrices.items()}
    return {
        "data": cleaned.data_scores(),
        "results": [_result(name, cleaned, runs[name], cases[name]) for name in matrices],
        "order": as_scores(check_order(runs, cases)),
        "warnings": cleaned.warnings,
    }


def clean_all(pages: Sequence[MinedPage], methods: Sequence[Method], settings: Settings, progress: Progress) -> Cleaned:
    """Clean all sites and keep the counts."""
    found = Cleaned.of([method.name for method in methods])
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
    if len(chosen) < len(verticals):
        raise DataError(f"{len(chosen)} pages do not make {len(verticals)} clusters: raise --cluster-pages")
    classes = np.array([verticals.index(pages[at].vertical) for at in chosen])
    runs = Runs(settings.runs, settings.seed, settings.jobs)
    found = cluster(tfidf(counts[chosen]), classes, len(verticals), runs, settings.dimensions)
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


def _result(name: str, cleaned: Cleaned, runs: Sequence[float], cases: Cases) -> dict[str, Any]:
    return {
        "method": name,
        "cost": cleaned.cost[name].scores(),
        "survival": cleaned.survival_scores(name),
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
