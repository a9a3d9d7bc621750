"""Run the whole study: clean, cluster, classify, count surviving values, and check the papers' order of methods."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from victorpy.errors import DataError, missing
from victorpy.methods import Method
from victorpy.research.mining.classification import CONFIGURATIONS, Cases, averages, classify
from victorpy.research.mining.cleaning import NONE, MinedPage, clean_all
from victorpy.research.mining.clustering import cluster, statistics, tfidf
from victorpy.research.statistics import compare
from victorpy.sites.grouping import SAMPLE, draw_sample

STEPS: tuple[tuple[str, ...], ...] = (
    (NONE,),
    ("pagelets", "dom-template", "text-template", "rtdm"),
    ("sst",),
    ("sentence-entropy",),
)
"""The papers' methods from the worst to the best. Methods of the same step are not compared with each other."""

_DIFFERENCE = ("difference", "low", "high")
_MAY_BE_EQUAL = frozenset([("sst", "sentence-entropy")])
_LEAST = {"sample": 1, "limit": 0, "runs": 1, "dimensions": 0, "cluster_pages": 0, "seed": 0, "jobs": 1}


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a mining study."""

    sample: int = SAMPLE  # maximum number of pages per site that a method learns from
    limit: int = 0  # maximum number of pages per site and vertical; 0 for all
    runs: int = 800
    dimensions: int = 100  # dimensions that pages are reduced to before they are clustered; 0 for no reduction
    cluster_pages: int = 0  # number of randomly sampled pages that are clustered; 0 for all
    seed: int = 1
    jobs: int = 1

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise DataError(f"`{name}` must be at least {least}, not {getattr(self, name)}")


def check_pages(pages: Sequence[MinedPage]) -> None:
    """Raise an error if pages cannot be mined: there must be two verticals, and values to keep."""
    verticals = sorted({page.vertical for page in pages})
    if len(verticals) < 2:
        problem = f"only {verticals[0]!r} was found" if verticals else "no page was found"
        raise DataError(f"mining needs pages of at least two verticals; {problem}")
    if not any(page.values for page in pages):
        raise DataError("no page has values to keep; check that the groundtruth directory is there")


def require_sklearn() -> None:
    """Raise an error if scikit-learn is not installed."""
    if importlib.util.find_spec("sklearn") is None:
        raise missing("scikit-learn", "research", "mining")


def mine(
    pages: Sequence[MinedPage],
    methods: Sequence[Method],
    settings: Settings,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Mine pages before cleaning and after each method, and return the content of scores.json."""
    require_sklearn()
    check_pages(pages)
    cleaned = clean_all(pages, methods, settings.sample, settings.seed, settings.jobs, progress)
    check_pages(cleaned.pages)
    verticals, sites = [page.vertical for page in cleaned.pages], [page.site for page in cleaned.pages]
    classes = sorted(set(verticals))
    clustered = draw_sample(  # the same pages for every method
        range(len(verticals)), settings.cluster_pages or len(verticals), random.Random(settings.seed)
    )
    if len(clustered) < len(classes):
        raise DataError(f"{len(clustered)} pages do not make {len(classes)} clusters; raise `cluster_pages`")
    class_of = np.array([classes.index(verticals[page]) for page in clustered])
    how = (len(classes), settings.runs, settings.dimensions, settings.seed, settings.jobs)
    runs, cases, results = {}, {}, []
    for name, method_pages in cleaned.methods.items():
        counts = method_pages.kept.matrix()
        runs[name] = cluster(tfidf(counts[clustered]), class_of, *how)
        progress(f"clustered: {name}")
        cases[name] = classify(counts, verticals, sites)
        progress(f"classified: {name}")
        # If the removed text alone separates the verticals, cleaning has removed information that helps mining.
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
            "verticals": classes,
            "values": sum(len(page.values) for page in cleaned.pages),
        },
        "results": results,
        "order": check_order(runs, cases),
        "rises": measure_rises(runs, cases),
        "warnings": cleaned.warnings,
    }


def expected_pairs(methods: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of methods of which the second is better according to the papers.

    >>> expected_pairs(["sst", "none", "crf", "pagelets"])
    [('none', 'pagelets'), ('none', 'sst'), ('pagelets', 'sst')]
    """
    steps = [[name for name in methods if name.partition("(")[0] in step] for step in STEPS]
    step_of = {name: number for number, step in enumerate(steps) for name in step}
    return [(worse, better) for worse, better in combinations(step_of, 2) if step_of[worse] < step_of[better]]


def check_order(runs: Mapping[str, Sequence[float]], cases: Mapping[str, Cases]) -> list[dict[str, Any]]:
    """Check the papers' order, none < template < SST <= sentence entropy, for every measure."""
    comparisons = []
    for row in _differences(runs, cases, expected_pairs(list(runs))):
        may_be_equal = (row["worse"].partition("(")[0], row["better"].partition("(")[0]) in _MAY_BE_EQUAL
        holds = row["difference"] >= 0 if may_be_equal else row["difference"] > 0
        comparisons.append(row | {"may_be_equal": may_be_equal, "holds": holds})
    return comparisons


def measure_rises(runs: Mapping[str, Sequence[float]], cases: Mapping[str, Cases]) -> list[dict[str, Any]]:
    """Return the difference between every method and no cleaning, for every measure."""
    first, *others = runs
    rows = _differences(runs, cases, [(first, method) for method in others])
    return [{"method": row["better"]} | {name: row[name] for name in ("measure", *_DIFFERENCE)} for row in rows]


def _differences(
    runs: Mapping[str, Sequence[float]], cases: Mapping[str, Cases], pairs: Sequence[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    """Yield the difference between each pair of methods for every measure, on the same runs or cases.

    The interval of a difference resamples runs or cases, which share their pages, so it is valid for these sites only.
    """
    measures: dict[str, Mapping[str, Sequence[float]]] = {"clustering F": runs}
    for (name, title), number in product((("f", "F"), ("accuracy", "A")), CONFIGURATIONS):
        measures[f"{title}{number}"] = {
            method: [getattr(case, name) for pair in by_pair.values() for case in pair[number]]
            for method, by_pair in cases.items()
        }
    for (measure, values), (worse, better) in product(measures.items(), pairs):
        if values.get(worse):
            difference = compare(values[better], values[worse])
            numbers = zip(_DIFFERENCE, (difference.mean, difference.low, difference.high), strict=True)
            yield {"measure": measure, "worse": worse, "better": better, **dict(numbers)}
