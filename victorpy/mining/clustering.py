"""Clustering: does k-means find the verticals? (Yi, Liu and Li 2003, section 4.2.1, figure 9 and table 2)

Pages are tf-idf vectors of length 1. k is the number of verticals. k-means starts from pages drawn by chance and is
run many times, each time from one such start. The F of a run is the mean over the verticals of the F of the cluster
that each is given, with the assignment that makes this mean the largest.

Thousands of runs on tens of thousands of terms would take hours. So only the first step of a run, in which every page
goes to the nearest of the pages drawn, is done on whole vectors; then k-means goes on with vectors that were reduced to
their largest singular directions, for every method alike. Reduction hardly moves the centre of many pages, but it does
move single pages, and a run that starts from reduced ones comes to something else: docs/mining.md has the numbers.
0 dimensions leaves all vectors whole.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.mining.words import Counts

Points = Any
"""A row a page: a sparse matrix, or a dense one after reduction."""
Numbers = npt.NDArray[np.int64]

BINS = 10
_TOGETHER = 25  # runs whose first step is made with one product
_THRESHOLDS = {"from_70": 0.7, "from_80": 0.8, "from_90": 0.9}


@dataclass(frozen=True, slots=True)
class Runs:
    """How often k-means is run."""

    runs: int = 800
    seed: int = 1
    jobs: int = 1


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


def cluster(points: Points, classes: Numbers, clusters: int, settings: Runs, dimensions: int) -> list[float]:
    """Run k-means many times and give the F of each run; the same pages start a run whatever the method."""
    smaller = reduced(points, dimensions)
    parts = [list(range(first, settings.runs, settings.jobs)) for first in range(settings.jobs)]
    work = partial(_run_all, points, smaller, classes, clusters, settings.seed)
    if settings.jobs == 1:
        return work(parts[0])
    with ProcessPoolExecutor(max_workers=settings.jobs) as pool:
        found = list(pool.map(work, parts))
    return [found[run % settings.jobs][run // settings.jobs] for run in range(settings.runs)]


def _run_all(
    points: Points, smaller: Points, classes: Numbers, clusters: int, seed: int, runs: list[int]
) -> list[float]:
    """Do some of the runs on one core: sums are then always made in the same order."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fewer different pages than clusters: pages left empty are all alike
        return [
            f_of_clusters(classes, _kmeans(smaller, centres))
            for at in range(0, len(runs), _TOGETHER)
            for centres in _first_centres(points, smaller, clusters, seed, runs[at : at + _TOGETHER])
        ]


def starting_pages(pages: int, clusters: int, seed: int, run: int) -> Numbers:
    """The pages that a run starts from: different ones, drawn by chance."""
    return np.random.default_rng([seed, run]).choice(pages, clusters, replace=False)


def _first_centres(
    points: Points, smaller: Points, clusters: int, seed: int, runs: Sequence[int]
) -> Iterator[npt.NDArray[np.float64]]:
    """The centres after the first step of each run: every page has gone to the nearest starting page."""
    starts = [starting_pages(points.shape[0], clusters, seed, run) for run in runs]
    chosen = points[np.concatenate(starts)]
    likeness = np.asarray(points @ chosen.T.toarray())
    lengths = np.asarray(chosen.multiply(chosen).sum(axis=1)).ravel()
    distances = (lengths - 2 * likeness).reshape(points.shape[0], len(runs), clusters)
    for run, pages in enumerate(starts):
        yield _centres(smaller, distances[:, run].argmin(axis=1), pages)


def _centres(points: Points, nearest: Numbers, starts: Numbers) -> npt.NDArray[np.float64]:
    """The mean of each cluster's pages; where another starting page is just the same, the page itself."""
    members = [np.flatnonzero(nearest == number) for number in range(len(starts))]
    rows = [found if len(found) else [start] for found, start in zip(members, starts, strict=True)]
    return np.vstack([np.asarray(points[found].mean(axis=0)).reshape(1, -1) for found in rows])


def _kmeans(points: Points, centres: npt.NDArray[np.float64]) -> Numbers:
    from sklearn.cluster import KMeans

    found: Numbers = KMeans(len(centres), init=centres, n_init=1).fit(points).labels_.astype(np.int64)
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
