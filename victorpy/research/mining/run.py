"""The whole evaluation: clean, cluster, classify, count what survives; `mine` returns what scores.json contains."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from victorpy.errors import DataError, missing
from victorpy.labellers.site_style_tree import SAMPLE
from victorpy.methods import Method
from victorpy.research.mining.classification import averages, classify
from victorpy.research.mining.cleaning import clean_all
from victorpy.research.mining.clustering import cluster, statistics, tfidf
from victorpy.research.mining.order import check_order
from victorpy.research.mining.pages import MinedPage, check_pages
from victorpy.sites.grouping import draw_sample

Progress = Callable[[str], None]

_LEAST = {"sample": 1, "limit": 0, "runs": 1, "dimensions": 0, "cluster_pages": 0, "seed": 0, "jobs": 1}


@dataclass(frozen=True, slots=True)
class Settings:
    """How pages are mined."""

    sample: int = SAMPLE
    """Maximum number of pages of a site that a method for sites learns from."""
    limit: int = 0
    """Maximum number of pages of a site and vertical; 0 for all."""
    runs: int = 800
    dimensions: int = 100
    """Dimensions that pages are reduced to before they are clustered; 0 for no reduction."""
    cluster_pages: int = 0
    """Number of randomly drawn pages that are clustered; 0 for all."""
    seed: int = 1
    jobs: int = 1

    def check(self) -> None:
        """Raise if a number makes no sense."""
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise DataError(f"`{name}` must be at least {least}, not {getattr(self, name)}")


def require_sklearn() -> None:
    """Raise with a hint if scikit-learn is not installed."""
    if importlib.util.find_spec("sklearn") is None:
        raise missing("scikit-learn", "research", "mining")


def mine(
    pages: Sequence[MinedPage], methods: Sequence[Method], settings: Settings, progress: Progress = lambda _: None
) -> dict[str, Any]:
    """Mine pages before cleaning and after each method, and return all numbers by name; shares are in 0..1."""
    require_sklearn()
    settings.check()
    check_pages(pages)
    cleaned = clean_all(pages, methods, settings.sample, settings.seed, settings.jobs, progress)
    check_pages(cleaned.pages)
    verticals, sites = [page.vertical for page in cleaned.pages], [page.site for page in cleaned.pages]
    runs, cases, results = {}, {}, []
    for name, method_pages in cleaned.methods.items():
        counts = method_pages.kept.matrix()
        runs[name] = _cluster(counts, verticals, settings)
        progress(f"clustered: {name}")
        cases[name] = classify(counts, verticals, sites)
        progress(f"classified: {name}")
        # How well the removed text by itself separates verticals: if it does, mining has lost something.
        removed = method_pages.removed.matrix()
        results.append(
            {
                "method": name,
                "cost": method_pages.cost(),
                "survival": method_pages.survival_scores(cleaned.pages),
                "clustering": statistics(runs[name]),
                "classification": averages(cases[name]),
                "removed": averages(classify(removed, verticals, sites))["average"] if removed.nnz else None,
            }
        )
    return {
        "settings": asdict(settings),
        "methods": [method.name for method in methods],
        "parameters": {method.name: list(method.parameters) for method in methods},
        "data": {
            "pages": len(cleaned.pages),
            "sites": len(set(sites)),
            "verticals": sorted(set(verticals)),
            "values": sum(len(page.values) for page in cleaned.pages),
        },
        "results": results,
        "order": check_order(runs, cases),
        "warnings": cleaned.warnings,
    }


def _cluster(counts: Any, verticals: Sequence[str], settings: Settings) -> list[float]:
    """Cluster all pages, or a sample that is the same for every method, and return the F of every run."""
    size = settings.cluster_pages or len(verticals)
    chosen = draw_sample(range(len(verticals)), size, random.Random(settings.seed))
    names = sorted(set(verticals))
    if len(chosen) < len(names):
        raise DataError(f"{len(chosen)} pages do not make {len(names)} clusters: raise `cluster_pages`")
    classes = np.array([names.index(verticals[page]) for page in chosen])
    points = tfidf(counts[chosen])
    return cluster(points, classes, len(names), settings.runs, settings.dimensions, settings.seed, settings.jobs)
