"""Classification: naive Bayes on pairs of verticals (Yi, Liu and Li 2003, section 4.2.2, tables 3 and 4).

A classifier learns from the pages C1(i) of one vertical at a site i and C2(j) of another at a site j, in three
configurations:

1. i = j, tested on all other pages of the two verticals;
2. i ≠ j, tested on the pages of all sites but i and j;
3. i ≠ j, tested on all pages but those it learned from;
4. i ≠ j and both sites have both verticals, tested on C2(i) and C1(j) alone. The paper has no such configuration of its
   own: these are the pages that make its third one hard, and where few sites have both verticals they are lost in it.

A case needs test pages of both verticals. F is the mean of the F of either vertical. The classifier is multinomial
naive Bayes with Laplace's smoothing over the words of its training pages; other words say nothing. A site's counts
are summed once, so that training is a sum and a logarithm, and a product tests all cases of a site together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from victorpy.mining.words import Counts

CONFIGURATIONS = (1, 2, 3, 4)
Cell = tuple[int, str]
"""Which of the two verticals, and which site."""


class Case(NamedTuple):
    """How one classifier did: the mean F of the two verticals, and the share of test pages that are right."""

    first: str
    """The site of the first vertical's training pages."""
    second: str
    f: float
    accuracy: float


Cases = dict[tuple[str, str], dict[int, list[Case]]]
"""The cases by pair of verticals and configuration."""


def training_sites(configuration: int, first: Sequence[str], second: Sequence[str]) -> list[tuple[str, str]]:
    """The sites that the two verticals' training pages are from, one pair a case."""
    pairs = [pair for pair in product(first, second) if (pair[0] == pair[1]) is (configuration == 1)]
    if configuration == 4:
        return [(ours, theirs) for ours, theirs in pairs if ours in second and theirs in first]
    return pairs


def cells_to_test(configuration: int, trained: tuple[str, str], cells: Sequence[Cell]) -> list[Cell]:
    """Which pages a case is tested on, by vertical and site."""
    if configuration == 2:
        return [cell for cell in cells if cell[1] not in trained]
    if configuration == 4:
        return [cell for cell in cells if cell in ((0, trained[1]), (1, trained[0]))]
    return [cell for cell in cells if cell not in enumerate(trained)]


def classify(counts: Counts, verticals: Sequence[str], sites: Sequence[str]) -> Cases:
    """Classify all pairs of verticals in all configurations; the three say what each row is."""
    names = np.asarray(verticals)
    return {
        (ours, theirs): _classify_pair(counts, [_rows_by_site(names == name, sites) for name in (ours, theirs)])
        for ours, theirs in combinations(sorted(set(verticals)), 2)
    }


def _rows_by_site(chosen: npt.NDArray[np.bool_], sites: Sequence[str]) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row in map(int, np.flatnonzero(chosen)):
        rows.setdefault(sites[row], []).append(row)
    return rows


def _classify_pair(counts: Counts, rows: Sequence[Mapping[str, list[int]]]) -> dict[int, list[Case]]:
    """All cases of two verticals; `rows` are the pages of either by site."""
    cells = [(side, site) for side in (0, 1) for site in rows[side]]
    sizes = {(side, site): len(rows[side][site]) for side, site in cells}
    called_first = _called_first(counts, rows, cells)
    return {
        configuration: [
            case
            for trained in training_sites(configuration, list(rows[0]), list(rows[1]))
            if (case := _case(trained, cells_to_test(configuration, trained, cells), called_first[trained], sizes))
        ]
        for configuration in CONFIGURATIONS
    }


def _called_first(
    counts: Counts, rows: Sequence[Mapping[str, list[int]]], cells: Sequence[Cell]
) -> dict[tuple[str, str], dict[Cell, int]]:
    """How many pages of each cell are taken for the first vertical, by the sites that were learned from."""
    pages = counts[[row for side, site in cells for row in rows[side][site]]]
    starts = np.cumsum([0, *(len(rows[side][site]) for side, site in cells)])[:-1]
    theirs = _Trained(counts, list(rows[1].values()))
    found = {}
    for site, ours in rows[0].items():
        scores = theirs.scores(pages, _Trained(counts, [ours]))
        called = np.add.reduceat((scores >= 0).astype(int), starts, axis=0)
        for other, column in zip(rows[1], called.T, strict=True):
            found[site, other] = dict(zip(cells, map(int, column), strict=True))
    return found


class _Trained:
    """The sums of terms over groups of training pages, and how many pages there are."""

    def __init__(self, counts: Counts, groups: Sequence[list[int]]) -> None:
        self.sums = np.vstack([np.asarray(counts[group].sum(axis=0), dtype=float) for group in groups])
        self.pages = np.array([len(group) for group in groups], dtype=float)

    def scores(self, pages: Counts, first: _Trained) -> npt.NDArray[np.float64]:
        """The log-odds that pages are of the first vertical, trained on the one group of `first`, not on each of these.

        log P(c) + Σ n(w) · log((n(w, c) + 1) / (n(c) + |V|)) of one less that of the other.
        """
        known = (self.sums + first.sums) > 0
        terms = np.maximum(known.sum(axis=1, keepdims=True), 1)  # cleaning may have left no word at all
        ours = np.log((first.sums + 1) / (first.sums.sum(axis=1, keepdims=True) + terms))
        theirs = np.log((self.sums + 1) / (self.sums.sum(axis=1, keepdims=True) + terms))
        weights = np.where(known, ours - theirs, 0.0)
        scores: npt.NDArray[np.float64] = pages @ weights.T + np.log(first.pages / self.pages)
        return scores


def _case(
    trained: tuple[str, str], tested: Sequence[Cell], called_first: Mapping[Cell, int], sizes: Mapping[Cell, int]
) -> Case | None:
    """Score one classifier on its test pages; there is no case without test pages of both verticals."""
    if {side for side, _ in tested} != {0, 1}:
        return None
    total = [sum(sizes[cell] for cell in tested if cell[0] == side) for side in (0, 1)]
    called = [sum(called_first[cell] for cell in tested if cell[0] == side) for side in (0, 1)]
    right = (called[0], total[1] - called[1])
    said = (sum(called), sum(total) - sum(called))
    f_scores = [2 * right[side] / (said[side] + total[side]) for side in (0, 1)]
    return Case(*trained, sum(f_scores) / 2, sum(right) / sum(total))


def averages(cases: Cases) -> dict[str, Any]:
    """Tables 3 and 4: the mean F and accuracy of every pair and configuration; the averages are means over pairs."""
    pairs = [
        {"classes": list(pair), **{str(number): _means(found[number]) for number in CONFIGURATIONS}}
        for pair, found in cases.items()
    ]
    return {"pairs": pairs, "average": {str(number): _mean_of_pairs(pairs, str(number)) for number in CONFIGURATIONS}}


def _means(cases: Sequence[Case]) -> dict[str, float] | None:
    if not cases:
        return None
    f, accuracy = (float(np.mean([getattr(case, name) for case in cases])) for name in ("f", "accuracy"))
    return {"f": f, "accuracy": accuracy, "cases": len(cases)}


def _mean_of_pairs(pairs: Sequence[Mapping[str, Any]], number: str) -> dict[str, float] | None:
    found = [pair[number] for pair in pairs if pair[number] is not None]
    if not found:
        return None
    means = {name: float(np.mean([row[name] for row in found])) for name in ("f", "accuracy")}
    return {**means, "cases": sum(row["cases"] for row in found)}
