"""Do methods come in the order that the papers report: none < template < SST <= sentence entropy?

Every method of one step is held against every method of a later one, measure by measure, on the same runs or cases.
The interval of a difference resamples these; they share their pages, so that it speaks of these sites only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from victorpy.mining.classification import CONFIGURATIONS, Cases
from victorpy.mining.methods import NONE
from victorpy.statistics import compare

STEPS: tuple[tuple[str, ...], ...] = (
    (NONE,),
    ("pagelets", "dom-template", "text-template", "rtdm"),
    ("sst",),
    ("sentence-entropy",),
)
"""The papers' methods from the worst to the best; those of one step are not held against each other."""

_MAY_BE_EQUAL = frozenset([("sst", "sentence-entropy")])


@dataclass(frozen=True, slots=True)
class Comparison:
    """A method against one that should be better."""

    measure: str
    worse: str
    better: str
    may_be_equal: bool
    holds: bool
    difference: float
    """The better one's mean less the worse one's."""
    low: float
    high: float


def _base(name: str) -> str:
    """A method's name without its parameters."""
    return name.partition("(")[0]


def expected_pairs(methods: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of these methods of which the papers say that the second is better.

    >>> expected_pairs(["sst", "none", "crf", "pagelets"])
    [('none', 'pagelets'), ('none', 'sst'), ('pagelets', 'sst')]
    """
    steps = [[name for name in methods if _base(name) in step] for step in STEPS]
    return [
        (worse, better)
        for number, step in enumerate(steps)
        for worse in step
        for later in steps[number + 1 :]
        for better in later
    ]


def check_order(runs: Mapping[str, Sequence[float]], cases: Mapping[str, Cases]) -> list[Comparison]:
    """Compare all pairs of methods by the F of clustering, and by F and accuracy in each configuration."""
    measures: dict[str, Mapping[str, Sequence[float]]] = {"clustering F": runs}
    for name, title in (("f", "F"), ("accuracy", "A")):
        for number in CONFIGURATIONS:
            measures[f"{title}{number}"] = {method: case_values(found, number, name) for method, found in cases.items()}
    return [
        found
        for measure, values in measures.items()
        for pair in expected_pairs(list(runs))
        if (found := _compared(measure, *pair, values))
    ]


def case_values(cases: Cases, configuration: int, name: str) -> list[float]:
    """One measure of all cases of a configuration, pair after pair of verticals."""
    return [getattr(case, name) for found in cases.values() for case in found[configuration]]


def _compared(measure: str, worse: str, better: str, values: Mapping[str, Sequence[float]]) -> Comparison | None:
    if not values.get(worse):
        return None
    found = compare(values[better], values[worse])
    equal = (_base(worse), _base(better)) in _MAY_BE_EQUAL
    holds = found.mean >= 0 if equal else found.mean > 0
    return Comparison(measure, worse, better, equal, holds, found.mean, found.low, found.high)


def as_scores(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """The comparisons as plain data."""
    return [asdict(each) for each in comparisons]
