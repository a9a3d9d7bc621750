"""Statistics of page scores: means, bootstrap intervals and paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
_CHUNK = 200  # number of resamples at a time, so that thousands of pages fit in memory
_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Summary:
    """A measure over pages, with the 95 % interval of its mean."""

    mean: float
    low: float
    high: float
    median: float
    count: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference between two cleaners on the same pages, with its 95 % interval."""

    mean: float
    low: float
    high: float
    p_value: float  # probability of at least this difference if the two cleaners were swapped at random on each page


def mean(values: Sequence[float]) -> float | None:
    """Return the mean, or None without values."""
    return sum(values) / len(values) if values else None


def interval(values: Sequence[float], weights: Sequence[float] | None = None) -> list[float] | None:
    """Return the bounds of the 95 % interval of a mean, or None without values."""
    summary = summarise(values, weights)
    return [summary.low, summary.high] if summary.count else None


def summarise(values: Sequence[float], weights: Sequence[float] | None = None, seed: int = 1) -> Summary:
    """Summarise a measure. The interval comes from resampling pages; weights give a weighted mean.

    >>> summary = summarise([1.0, 1.0, 0.0, 1.0])
    >>> summary.mean, summary.median, summary.count
    (0.75, 1.0, 4)
    """
    array = np.asarray(values, dtype=float)
    if not len(array):
        return Summary(_NAN, _NAN, _NAN, _NAN, 0)
    weight = np.ones(len(array)) if weights is None else np.asarray(weights, dtype=float)
    average = float((array * weight).sum() / max(float(weight.sum()), 1e-12))
    return Summary(average, *_resampled_bounds(array, weight, seed), float(np.median(array)), len(array))


def compare(ours: Sequence[float], theirs: Sequence[float], seed: int = 1) -> Difference:
    """Compare two cleaners page by page, with a bootstrap interval and a sign-flip test of the mean difference.

    >>> compare([0.9, 0.8, 0.95], [0.9, 0.8, 0.95]).p_value
    1.0
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} scores cannot be compared with {len(theirs)}; both must be of the same pages")
    difference = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    if not len(difference):
        return Difference(_NAN, _NAN, _NAN, 1.0)
    average = float(difference.mean())
    random = np.random.default_rng(seed)
    flipped = [
        (difference * random.choice([-1.0, 1.0], size=(_CHUNK, len(difference)))).mean(axis=1)
        for _ in range(RESAMPLES // _CHUNK)
    ]
    extreme = int((np.abs(np.concatenate(flipped)) >= abs(average) - 1e-12).sum())
    bounds = _resampled_bounds(difference, np.ones(len(difference)), seed)
    return Difference(average, *bounds, (extreme + 1) / (RESAMPLES + 1))


def _resampled_bounds(
    values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], seed: int
) -> tuple[float, float]:
    random = np.random.default_rng(seed)
    means = []
    for _ in range(RESAMPLES // _CHUNK):
        chosen = random.integers(len(values), size=(_CHUNK, len(values)))
        total = np.maximum(weights[chosen].sum(axis=1), 1e-12)
        means.append((values * weights)[chosen].sum(axis=1) / total)
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)
