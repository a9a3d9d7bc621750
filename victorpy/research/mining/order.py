"""Do methods come in the order that the papers report: none < template < SST <= sentence entropy?

Every method of one step is compared with every method of a later one, measure by measure, on the same runs or cases.
The interval of a difference resamples these. They share their pages, so it is valid for these sites only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

from victorpy.research.mining.classification import CONFIGURATIONS, Cases
from victorpy.research.mining.methods import NONE
from victorpy.research.statistics import compare

STEPS: tuple[tuple[str, ...], ...] = (
    (NONE,),
    ("pagelets", "dom-template", "text-template", "rtdm"),
    ("sst",),
    ("sentence-entropy",),
)
"""The papers' methods from the worst to the best; those of one step are not compared with each other."""

_MAY_BE_EQUAL = frozenset([("sst", "sentence-entropy")])


def _base(name: str) -> str:
    """Return a method's name without its parameters."""
    return name.partition("(")[0]


def expected_pairs(methods: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of these methods of which the papers say that the second is better.

    >>> expected_pairs(["sst", "none", "crf", "pagelets"])
    [('none', 'pagelets'), ('none', 'sst'), ('pagelets', 'sst')]
    """
    steps = [[name for name in methods if _base(name) in step] for step in STEPS]
    step_of = {name: number for number, step in enumerate(steps) for name in step}
    return [(worse, better) for worse, better in combinations(step_of, 2) if step_of[worse] < step_of[better]]


def check_order(runs: Mapping[str, Sequence[float]], cases: Mapping[str, Cases]) -> list[dict[str, Any]]:
    """Compare all pairs of methods by the F of clustering, and by F and accuracy in each configuration."""
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
        may_be_equal = (_base(worse), _base(better)) in _MAY_BE_EQUAL
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
