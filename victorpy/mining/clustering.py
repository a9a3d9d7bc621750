"""Clustering: does k-means find the verticals? (Yi, Liu and Li 2003, section 4.2.1, figure 9 and table 2)

Pages are tf-idf vectors of length 1. k is the number of verticals. k-means starts from pages drawn by chance and is
run many times, each time from one such start. The F of a run is the mean over the verticals of the F of the cluster
that each is given, with the assignment that makes this mean the largest.

Thousands of runs on tens of thousands of terms would take hours, so that the vectors are first reduced to their
largest singular directions (`reduced`), for every method alike; 0 dimensions leaves them whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.mining.words import Counts

Points = Any
"""A row a page: a sparse matrix, or a dense one after reduction."""
Numbers = npt.NDArray[np.int64]

BINS = 10
_THRESHOLDS = {"from_70": 0.7, "from_80": 0.8, "from_90": 0.9}


def tfidf(counts: Counts) -> Points:
    """Weigh terms by how often they are in a page and how few pages have them; every page has length 1.

    The weight is tf · (1 + ln((1 + pages) / (1 + pages with the term))); a page without any term has length 0.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer().fit_transform(counts)


def reduced(points: Points, dimensions: int) -> Points:
    """Keep the largest singular directions (latent semantic analysis); always the same ones for the same pages."""
    from sklearn.decomposition import TruncatedSVD

    if not dimensions or dimensions >= min(points.shape):
        return points
    return TruncatedSVD(dimensions, random_state=0).fit_transform(points)


def cluster(points: Points, classes: Numbers, runs: int, seed: int, jobs: int = 1) -> list[float]:
    """Run k-means many times and give the F of each run; the same pages start a run whatever the method."""
    parts = [list(range(first, runs, jobs)) for first in range(jobs)]
    work = partial(_run_all, points, classes, seed)
    if jobs == 1:
        return work(parts[0])
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        found = list(pool.map(work, parts))
    return [found[run % jobs][run // jobs] for run in range(runs)]


def _run_all(points: Points, classes: Numbers, seed: int, runs: list[int]) -> list[float]:
    """Do some of the runs on one core: sums are then always made in the same order."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return [f_of_clusters(classes, _kmeans(points, int(classes.max()) + 1, seed + run)) for run in runs]


def _kmeans(points: Points, clusters: int, seed: int) -> Numbers:
    from sklearn.cluster import KMeans

    found: Numbers = KMeans(clusters, init="random", n_init=1, random_state=seed).fit(points).labels_.astype(np.int64)
    return found


def f_of_clusters(classes: Sequence[int] | Numbers, clusters: Sequence[int] | Numbers) -> float:
    """The mean F over classes when each is given a cluster of its own, as well as can be.

    >>> f_of_clusters([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from scipy.optimize import linear_sum_assignment

    shared = np.zeros((int(max(classes)) + 1, int(max(*clusters, *classes)) + 1))
    np.add.at(shared, (np.asarray(classes), np.asarray(clusters)), 1)
    f_scores = 2 * shared / np.maximum(shared.sum(axis=1, keepdims=True) + shared.sum(axis=0, keepdims=True), 1)
    rows, columns = linear_sum_assignment(f_scores, maximize=True)
    return float(f_scores[rows, columns].mean())


def statistics(runs: Sequence[float]) -> dict[str, Any]:
    """Table 2 and figure 9: the mean F, its deviation, shares of bad and good runs, and how runs fall into ten bins."""
    found = np.asarray(runs, dtype=float)
    bins = np.minimum((found * BINS + 1e-9).astype(int), BINS - 1)
    shares = {name: float((found >= least - 1e-12).mean()) for name, least in _THRESHOLDS.items()}
    return {
        "mean": float(found.mean()),
        "deviation": float(found.std()),
        "below_50": float((found < 0.5 - 1e-12).mean()),
        **shares,
        "bins": np.bincount(bins, minlength=BINS).tolist(),
        "runs": [round(float(value), 6) for value in found],
    }
