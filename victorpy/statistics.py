"""What many pages' scores come to: means, intervals, and whether one cleaner beats another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RESAMPLES = 2000
_CHUNK = 200  # resamples at a time, so that thousands of pages fit in memory


@dataclass(frozen=True, slots=True)
class Summary:
    """A measure over pages: its mean with a 95 % interval, its median, and how many pages there are."""

    mean: float
    low: float
    high: float
    median: float
    count: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of one cleaner less that of another on the same pages."""

    mean: float
    low: float
    high: float
    p_value: float
    """How often chance alone, swapping the two on each page at will, makes a difference as large."""


def summarise(values: Sequence[float], weights: Sequence[float] | None = None, seed: int = 1) -> Summary:
    """Summarise a measure; the interval is that of resampling the pages. Weights make it a weighted mean.

    >>> summary = summarise([1.0, 1.0, 0.0, 1.0])
    >>> summary.mean, summary.median, summary.count
    (0.75, 1.0, 4)
    """
    array = np.asarray(values, dtype=float)
    if not len(array):
        return Summary(float("nan"), float("nan"), float("nan"), float("nan"), 0)
    weight = np.ones(len(array)) if weights is None else np.asarray(weights, dtype=float)
    low, high = np.quantile(_resampled_means(array, weight, seed), [0.025, 0.975])
    mean = float((array * weight).sum() / max(float(weight.sum()), 1e-12))
    return Summary(mean, float(low), float(high), float(np.median(array)), len(array))


def compare(ours: Sequence[float], theirs: Sequence[float], seed: int = 1) -> Difference:
    """Compare two cleaners page by page: a bootstrap interval and a sign-flip test of the mean difference.

    >>> compare([0.9, 0.8, 0.95], [0.9, 0.8, 0.95]).p_value
    1.0
    """
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} scores cannot be compared with {len(theirs)}: they must be of the same pages")
    difference = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    if not len(difference):
        return Difference(float("nan"), float("nan"), float("nan"), 1.0)
    low, high = np.quantile(_resampled_means(difference, np.ones(len(difference)), seed), [0.025, 0.975])
    mean = float(difference.mean())
    flipped = _flipped_means(difference, seed)
    extreme = int((np.abs(flipped) >= abs(mean) - 1e-12).sum())
    return Difference(mean, float(low), float(high), (extreme + 1) / (RESAMPLES + 1))


def _resampled_means(
    values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], seed: int
) -> npt.NDArray[np.float64]:
    random = np.random.default_rng(seed)
    means = []
    for _ in range(RESAMPLES // _CHUNK):
        chosen = random.integers(len(values), size=(_CHUNK, len(values)))
        total = np.maximum(weights[chosen].sum(axis=1), 1e-12)
        means.append((values * weights)[chosen].sum(axis=1) / total)
    return np.concatenate(means)


def _flipped_means(values: npt.NDArray[np.float64], seed: int) -> npt.NDArray[np.float64]:
    random = np.random.default_rng(seed)
    means = [
        (values * random.choice([-1.0, 1.0], size=(_CHUNK, len(values)))).mean(axis=1)
        for _ in range(RESAMPLES // _CHUNK)
    ]
    return np.concatenate(means)
