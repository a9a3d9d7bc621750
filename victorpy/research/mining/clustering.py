"""Clustering: does k-means find the verticals? (Yi, Liu and Li 2003, section 4.2.1, figure 9 and table 2)

Pages are tf-idf vectors of length 1. k is the number of verticals. k-means is run many times, each time from other
random starting pages. Each cluster is assigned to a vertical so that the mean F over verticals is highest. This mean is
the F of the run.

Thousands of runs on tens of thousands of terms would take hours. So only the first step of a run, which assigns every
page to the nearest starting page, uses whole vectors. Then k-means continues with vectors that are reduced to their
largest singular directions. Reduction hardly changes the mean of many pages. But it changes single pages, so starting
from reduced pages would give other results (docs/notes/mining.md has the numbers). With 0 dimensions, vectors are not
reduced.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.research.mining.cleaning import Matrix
from victorpy.research.site_runs import map_in_jobs

Points = Any  # a matrix with a row per page: sparse, or dense after reduction
Numbers = npt.NDArray[np.int64]

BINS = 10
_TOGETHER = 25  # number of runs whose first step is computed with one product
_THRESHOLDS = {"from_70": 0.7, "from_80": 0.8, "from_90": 0.9}


def tfidf(counts: Matrix) -> Points:
    """Weigh terms by their frequency in a page and their rarity among pages; every page has length 1.

    The weight is tf · (1 + ln((1 + pages) / (1 + pages with the term))); a page without any term has length 0.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    return TfidfTransformer().fit_transform(counts)


def reduced(points: Points, dimensions: int) -> Points:
    """Keep the largest singular directions (latent semantic analysis). The result is deterministic."""
    from sklearn.decomposition import TruncatedSVD

    if not dimensions or dimensions >= min(points.shape):
        return points
    return TruncatedSVD(dimensions, random_state=0).fit_transform(points)


def cluster(
    points: Points, classes: Numbers, clusters: int, runs: int, dimensions: int, seed: int, jobs: int
) -> list[float]:
    """Run k-means many times and return the F of each run. Runs start from the same pages for every method."""
    smaller = reduced(points, dimensions)
    parts = [list(range(first, runs, jobs)) for first in range(jobs)]
    results = list(map_in_jobs(partial(_run_all, points, smaller, classes, clusters, seed), parts, jobs))
    return [results[run % jobs][run // jobs] for run in range(runs)]


def _run_all(
    points: Points, smaller: Points, classes: Numbers, clusters: int, seed: int, runs: list[int]
) -> list[float]:
    """Do some of the runs with a single thread, so that sums are always computed in the same order."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    scores = []
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # scikit-learn warns about fewer distinct pages than clusters
        warnings.simplefilter("ignore")
        for start in range(0, len(runs), _TOGETHER):
            for centres in _first_centres(points, smaller, clusters, seed, runs[start : start + _TOGETHER]):
                kmeans = KMeans(clusters, init=centres, n_init=1).fit(smaller)
                scores.append(f_of_clusters(classes, kmeans.labels_.astype(np.int64)))
    return scores


def starting_pages(pages: int, clusters: int, seed: int, run: int) -> Numbers:
    """Sample the distinct pages that a run starts from."""
    return np.random.default_rng([seed, run]).choice(pages, clusters, replace=False)


def _first_centres(
    points: Points, smaller: Points, clusters: int, seed: int, runs: Sequence[int]
) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the centres after the first step of each run, which assigns every page to the nearest starting page."""
    starts = [starting_pages(points.shape[0], clusters, seed, run) for run in runs]
    chosen = points[np.concatenate(starts)]
    likeness = np.asarray(points @ chosen.T.toarray())
    lengths = np.asarray(chosen.multiply(chosen).sum(axis=1)).ravel()
    distances = (lengths - 2 * likeness).reshape(points.shape[0], len(runs), clusters)
    for run, starting in enumerate(starts):
        nearest = distances[:, run].argmin(axis=1)
        centres = []
        for number, page in enumerate(starting):
            members = np.flatnonzero(nearest == number)
            # If a starting page has the same content as an earlier one, it has no members, so it is the centre.
            centre = smaller[members if len(members) else [page]].mean(axis=0)
            centres.append(np.asarray(centre).reshape(1, -1))
        yield np.vstack(centres)


def f_of_clusters(classes: Sequence[int] | Numbers, clusters: Sequence[int] | Numbers) -> float:
    """Return the mean F over classes, with the best one-to-one assignment of clusters to classes.

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
    """Return the data of table 2 and figure 9: mean F, deviation, shares of bad and good runs, and ten bins of runs."""
    scores = np.asarray(runs, dtype=float)
    bins = np.minimum((scores * BINS + 1e-9).astype(int), BINS - 1)
    return {
        "mean": float(scores.mean()),
        "deviation": float(scores.std()),
        "below_50": float((scores < 0.5 - 1e-12).mean()),
        **{name: float((scores >= least - 1e-12).mean()) for name, least in _THRESHOLDS.items()},
        "bins": np.bincount(bins, minlength=BINS).tolist(),
        "runs": [round(float(value), 6) for value in scores],
    }
