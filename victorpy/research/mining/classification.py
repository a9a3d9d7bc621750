"""Classification: naive Bayes on pairs of verticals (Yi, Liu and Li 2003, section 4.2.2, tables 3 and 4).

A classifier is trained on the pages C1(i) of one vertical at a site i and C2(j) of another at a site j, in four
configurations:

1. i = j, tested on all other pages of the two verticals; 2. i ≠ j, tested on the pages of all sites except i and j; 3.
i ≠ j, tested on all pages except those it was trained on; 4. i ≠ j and both sites have both verticals, tested only on
C2(i) and C1(j). This configuration is not in the paper. Its pages are the hard ones of configuration 3, where they have
little weight if few sites have both verticals.

A case needs test pages of both verticals. F is the mean F of the two verticals. The classifier is multinomial naive
Bayes with Laplace smoothing over the words of its training pages; other words are ignored. The counts of each site are
summed once, so training takes a sum and a logarithm, and a single product tests all cases of a site.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from victorpy.research.mining.cleaning import Matrix

CONFIGURATIONS = (1, 2, 3, 4)
Cell = tuple[int, str]  # the vertical (0 or 1) and the site


class Case(NamedTuple):
    """The scores of one classifier: the mean F of the two verticals, and its accuracy."""

    first: str  # site of the first vertical's training pages
    second: str
    f: float
    accuracy: float


Cases = dict[tuple[str, str], dict[int, list[Case]]]  # the cases by pair of verticals and configuration


def training_sites(configuration: int, first: Sequence[str], second: Sequence[str]) -> list[tuple[str, str]]:
    """Return the two sites of the training pages, one pair per case."""
    pairs = [pair for pair in product(first, second) if (pair[0] == pair[1]) is (configuration == 1)]
    if configuration == 4:
        return [pair for pair in pairs if pair[0] in second and pair[1] in first]
    return pairs


def cells_to_test(configuration: int, trained: tuple[str, str], cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that contain the test pages of a case."""
    if configuration == 2:
        return [cell for cell in cells if cell[1] not in trained]
    if configuration == 4:
        return [cell for cell in cells if cell in ((0, trained[1]), (1, trained[0]))]
    return [cell for cell in cells if cell not in enumerate(trained)]


def classify(counts: Matrix, verticals: Sequence[str], sites: Sequence[str]) -> Cases:
    """Classify all pairs of verticals in all configurations. Every row of `counts` has a vertical and a site."""
    rows: dict[str, dict[str, list[int]]] = {}
    for row, (vertical, site) in enumerate(zip(verticals, sites, strict=True)):
        rows.setdefault(vertical, {}).setdefault(site, []).append(row)
    return {pair: _classify_pair(counts, [rows[name] for name in pair]) for pair in combinations(sorted(rows), 2)}


def _classify_pair(counts: Matrix, rows: Sequence[Mapping[str, list[int]]]) -> dict[int, list[Case]]:
    """Return all cases of two verticals; `rows` are the pages of each by site."""
    cells = [(side, site) for side in (0, 1) for site in rows[side]]
    sizes = {(side, site): len(rows[side][site]) for side, site in cells}
    called_first = _called_first(counts, rows, cells)
    cases: dict[int, list[Case]] = {configuration: [] for configuration in CONFIGURATIONS}
    for configuration in CONFIGURATIONS:
        for trained in training_sites(configuration, list(rows[0]), list(rows[1])):
            tested = cells_to_test(configuration, trained, cells)
            if {side for side, _ in tested} != {0, 1}:
                continue
            total = [sum(sizes[cell] for cell in tested if cell[0] == side) for side in (0, 1)]
            called = [sum(called_first[trained][cell] for cell in tested if cell[0] == side) for side in (0, 1)]
            right = (called[0], total[1] - called[1])
            predicted = (sum(called), sum(total) - sum(called))
            f_scores = [2 * right[side] / (predicted[side] + total[side]) for side in (0, 1)]
            cases[configuration].append(Case(*trained, sum(f_scores) / 2, sum(right) / sum(total)))
    return cases


def _called_first(
    counts: Matrix, rows: Sequence[Mapping[str, list[int]]], cells: Sequence[Cell]
) -> dict[tuple[str, str], dict[Cell, int]]:
    """Count the pages of each cell that are classified as the first vertical, by pair of training sites.

    A page is classified by log P(c) + Σ n(w) · log((n(w, c) + 1) / (n(c) + |V|)) of one class minus that of the other.
    """
    pages = counts[[row for side, site in cells for row in rows[side][site]]]
    starts = np.cumsum([0, *(len(rows[side][site]) for side, site in cells)])[:-1]
    second = np.vstack([np.asarray(counts[group].sum(axis=0), dtype=float) for group in rows[1].values()])
    second_pages = np.array([len(group) for group in rows[1].values()], dtype=float)
    called_first = {}
    for site, group in rows[0].items():
        first = np.asarray(counts[group].sum(axis=0), dtype=float)
        is_known = (first + second) > 0
        terms = np.maximum(is_known.sum(axis=1, keepdims=True), 1)  # cleaning may have removed all words
        log_first, log_second = (
            np.log((sums + 1) / (sums.sum(axis=1, keepdims=True) + terms)) for sums in (first, second)
        )
        weights = np.where(is_known, log_first - log_second, 0.0)
        log_odds = pages @ weights.T + np.log(len(group) / second_pages)
        pages_called = np.add.reduceat((log_odds >= 0).astype(int), starts, axis=0)
        for other_site, column in zip(rows[1], pages_called.T, strict=True):
            called_first[site, other_site] = dict(zip(cells, map(int, column), strict=True))
    return called_first


def averages(cases: Cases) -> dict[str, Any]:
    """Return tables 3 and 4: the mean F and accuracy of every pair and configuration, and the means over pairs."""
    pairs: list[dict[str, Any]] = []
    for classes, by_configuration in cases.items():
        means = {
            str(number): _means([{"f": case.f, "accuracy": case.accuracy, "cases": 1} for case in group])
            for number, group in by_configuration.items()
        }
        pairs.append({"classes": list(classes), **means})
    numbers = map(str, CONFIGURATIONS)
    return {"pairs": pairs, "average": {number: _means([pair[number] for pair in pairs]) for number in numbers}}


def _means(rows: Sequence[Mapping[str, Any] | None]) -> dict[str, float] | None:
    """Average F and accuracy, and add up the cases. Rows without a case are ignored."""
    scored = [row for row in rows if row is not None]
    if not scored:
        return None
    means = {name: float(np.mean([row[name] for row in scored])) for name in ("f", "accuracy")}
    return {**means, "cases": sum(row["cases"] for row in scored)}
