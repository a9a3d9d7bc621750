"""The whole study: clean, cluster, classify, count what survives, and check the order of methods that papers report."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from victorpy.errors import DataError, missing
from victorpy.methods import Method
from victorpy.research.mining.classification import CONFIGURATIONS, Cases, averages, classify
from victorpy.research.mining.cleaning import Matrix, clean_all
from victorpy.research.mining.clustering import cluster, statistics, tfidf
from victorpy.research.mining.pages import NONE, MinedPage, check_pages
from victorpy.research.statistics import compare
from victorpy.sites.grouping import SAMPLE, draw_sample

STEPS: tuple[tuple[str, ...], ...] = (
    (NONE,),
    ("pagelets", "dom-template", "text-template", "rtdm"),
    ("sst",),
    ("sentence-entropy",),
)
"""The papers' methods from the worst to the best. Those of one step are not compared with each other."""

_MAY_BE_EQUAL = frozenset([("sst", "sentence-entropy")])
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
    pages: Sequence[MinedPage],
    methods: Sequence[Method],
    settings: Settings,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Mine pages before cleaning and after each method, and return the content of scores.json; shares are in 0..1."""
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
        # If the removed text separates verticals by itself, mining has lost something.
        removed = method_pages.removed.matrix()
        results.append(
            {
                "method": name,
                "cost": method_pages.cost(),
                "survival": method_pages.survival_by_group(cleaned.pages),
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


def _cluster(counts: Matrix, verticals: Sequence[str], settings: Settings) -> list[float]:
    """Cluster all pages, or a sample that is the same for every method, and return the F of every run."""
    size = settings.cluster_pages or len(verticals)
    chosen = draw_sample(range(len(verticals)), size, random.Random(settings.seed))
    names = sorted(set(verticals))
    if len(chosen) < len(names):
        raise DataError(f"{len(chosen)} pages do not make {len(names)} clusters: raise `cluster_pages`")
    classes = np.array([names.index(verticals[page]) for page in chosen])
    points = tfidf(counts[chosen])
    return cluster(points, classes, len(names), settings.runs, settings.dimensions, settings.seed, settings.jobs)


def expected_pairs(methods: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of methods of which the papers say that the second is better.

    >>> expected_pairs(["sst", "none", "crf", "pagelets"])
    [('none', 'pagelets'), ('none', 'sst'), ('pagelets', 'sst')]
    """
    steps = [[name for name in methods if name.partition("(")[0] in step] for step in STEPS]
    step_of = {name: number for number, step in enumerate(steps) for name in step}
    return [(worse, better) for worse, better in combinations(step_of, 2) if step_of[worse] < step_of[better]]


def check_order(runs: Mapping[str, Sequence[float]], cases: Mapping[str, Cases]) -> list[dict[str, Any]]:
    """Check the papers' order, none < template < SST <= sentence entropy, by the F of clustering, and F and accuracy.

    Methods are compared on the same runs or cases, and the interval of a difference resamples these. They share their
    pages, so it is valid for these sites only.
    """
    measures: dict[str, Mapping[str, Sequence[float]]] = {"clustering F": runs}
    for (name, title), number in product((("f", "F"), ("accuracy", "A")), CONFIGURATIONS):
        measures[f"{title}{number}"] = {
            method: [getattr(case, name) for pair in by_pair.values() for case in pair[number]]
            for method, by_pair in cases.items()
        }
    comparisons = []
    for (measure, values), (worse, better) in product(measures.items(), expected_pairs(list(runs))):
        if not values.get(worse):
            continue
        difference = compare(values[better], values[worse])
        may_be_equal = (worse.partition("(")[0], better.partition("(")[0]) in _MAY_BE_EQUAL
        comparisons.append(
            {
                "measure": measure,
                "worse": worse,
                "better": better,
                "may_be_equal": may_be_equal,
                "holds": difference.mean >= 0 if may_be_equal else difference.mean > 0,
                "difference": difference.mean,
                "low": difference.low,
                "high": difference.high,
            }
        )
    return comparisons
