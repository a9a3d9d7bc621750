"""How far annotators agree on the labels of the same blocks, beyond chance: numbers only.

Cohen's kappa is for two annotators, Fleiss' for all of them. Both follow from one table per pair of annotators, which
counts the blocks by the label of the one and of the other. Such tables can be added over pages, so that resampling
pages is cheap, and their rows and columns can be added to treat labels as one class (content against noise, one label
against the rest).

If all annotators give every block the same label, chance alone would agree on everything: kappa is 0/0 and says
nothing. It is None then, beside an observed agreement of 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.document import Label
from victorpy.errors import DataError
from victorpy.research.align import words
from victorpy.research.statistics import RESAMPLES

Floats = npt.NDArray[np.float64]
_CHUNK = 100  # resamples drawn at a time, so that many pages fit in memory
_ENOUGH = 0.95  # share of resamples that must have a kappa for an interval

_ALL = frozenset(Label)
_CONTENT = frozenset(label for label in Label if label.is_content)
GROUPINGS: Mapping[str, Mapping[str, frozenset[Label]]] = {
    "labels": {str(label): frozenset([label]) for label in Label},
    "content": {"content": _CONTENT, "noise": _ALL - _CONTENT},
    **{str(label): {str(label): frozenset([label]), "rest": _ALL - {label}} for label in Label},
}
"""Classes of labels to tell apart: the five labels, content and noise, and each label against the rest."""
WEIGHTS = ("blocks", "words")
"""What counts as one: a block, or each of its words."""


@dataclass(frozen=True, slots=True)
class SharedPage:
    """A page that several people have labelled, cut into the same blocks."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[tuple[Label | None, ...], ...]
    """The labels of all blocks by annotator; None for blocks that the annotator has not labelled."""

    def by_block(self) -> Iterator[tuple[int, str, tuple[Label, ...]]]:
        """Yield number (from 1), text and labels of each block that all annotators have labelled."""
        for number, (text, *given) in enumerate(zip(self.texts, *self.labels, strict=True), 1):
            labels = tuple(label for label in given if label is not None)
            if len(labels) == len(given):
                yield number, text, labels


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance and its components; None if undefined."""

    kappa: float | None
    observed: float | None
    """Share of blocks (with many annotators: of pairs of labels of a block) that agree."""
    expected: float | None
    """Share that would agree if annotators drew labels at random, as often as they gave them."""
    interval: tuple[float, float] | None = None
    """Middle 95 % of the kappas of resampled pages; None for a single page."""

    def scores(self) -> dict[str, Any]:
        interval = None if self.interval is None else list(self.interval)
        return {"kappa": self.kappa, "interval": interval, "observed": self.observed, "expected": self.expected}


@dataclass(frozen=True, slots=True)
class Agreement:
    """How annotators agree on certain classes of labels."""

    classes: tuple[str, ...]
    fleiss: Kappa
    """Fleiss' kappa of all annotators."""
    cohen: tuple[Kappa, ...]
    """Cohen's kappa of every pair."""
    confusion: Floats
    """For every pair: counts by the class that the first (row) and the second (column) gave."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A block whose labels differ."""

    page: str
    block: int
    """Its number on the page, from 1."""
    text: str
    labels: tuple[Label, ...]

    @property
    def about_content(self) -> bool:
        """Whether some would keep the block and some drop it."""
        return len({label.is_content for label in self.labels}) > 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing annotators who labelled the same pages."""

    annotators: tuple[str, ...]
    pages: tuple[SharedPage, ...]
    by_weight: Mapping[str, Mapping[str, Agreement]]
    """By what counts as one (`WEIGHTS`) and by `GROUPINGS`."""
    by_page: tuple[Mapping[str, Agreement], ...]
    """The same for every page, by blocks."""
    disagreements: tuple[Disagreement, ...]
    seed: int

    def scores(self) -> dict[str, Any]:
        """Return every number as plain data."""
        counts = {weight: int(self.by_weight[weight]["labels"].confusion[0].sum()) for weight in WEIGHTS}
        return {
            "annotators": list(self.annotators),
            "pages_count": len(self.pages),
            "blocks_count": counts["blocks"],
            "blocks_left_out": sum(len(page.texts) for page in self.pages) - counts["blocks"],
            "words_count": counts["words"],
            "resampling": {"resamples": RESAMPLES if len(self.pages) > 1 else 0, "seed": self.seed},
            "agreement": {
                weight: {name: self._grouping_scores(agreement) for name, agreement in agreements.items()}
                for weight, agreements in self.by_weight.items()
            },
            "pages": list(map(_page_scores, self.pages, self.by_page)),
            "disagreements": [
                {
                    "page": disagreement.page,
                    "block": disagreement.block,
                    "text": disagreement.text,
                    "labels": [str(label) for label in disagreement.labels],
                    "about_content": disagreement.about_content,
                }
                for disagreement in self.disagreements
            ],
        }

    def _grouping_scores(self, agreement: Agreement) -> dict[str, Any]:
        classes = agreement.classes
        pairs = []
        triples = zip(combinations(self.annotators, 2), agreement.cohen, agreement.confusion, strict=True)
        for names, kappa, table in triples:
            rows = [dict(zip(classes, map(int, counts), strict=True)) for counts in table]
            confusion = dict(zip(classes, rows, strict=True))
            pairs.append({"annotators": list(names), **kappa.scores(), "confusion": confusion})
        return {"fleiss": agreement.fleiss.scores(), "pairs": pairs}


def _page_scores(page: SharedPage, agreements: Mapping[str, Agreement]) -> dict[str, Any]:
    count = int(agreements["labels"].confusion[0].sum())
    scores: dict[str, Any] = {
        "name": page.name,
        "blocks": count,
        "left_out": len(page.texts) - count,
        "disagreements": sum(len(set(labels)) > 1 for _, _, labels in page.by_block()),
    }
    for name in ("labels", "content"):
        fleiss, cohen = agreements[name].fleiss, agreements[name].cohen
        scores[name] = {"fleiss": fleiss.scores(), "cohen": [kappa.scores() for kappa in cohen]}
    return scores


def compare_annotators(annotators: Sequence[str], pages: Sequence[SharedPage], seed: int = 1) -> Comparison:
    """Measure how the annotators of these pages agree, on the blocks that all of them labelled."""
    if len(annotators) < 2:
        raise DataError("agreement takes at least two annotators")
    tables = {weight: np.stack([_tables(page, weight) for page in pages]) for weight in WEIGHTS} if pages else {}
    if not pages or not tables["blocks"].any():
        raise DataError("there is no block that all annotators have labelled")
    disagreements = [
        Disagreement(page.name, number, text, labels)
        for page in pages
        for number, text, labels in page.by_block()
        if len(set(labels)) > 1
    ]
    return Comparison(
        tuple(annotators),
        tuple(pages),
        {weight: _measure(tables[weight], seed) for weight in WEIGHTS},
        tuple(_measure(page_tables[None], seed) for page_tables in tables["blocks"]),
        tuple(disagreements),
        seed,
    )


def _tables(page: SharedPage, weight: str) -> Floats:
    """Count the blocks or words of a page for every pair of annotators, by the label of the one and of the other."""
    index_of = {label: index for index, label in enumerate(Label)}
    pairs = list(combinations(range(len(page.labels)), 2))
    tables = np.zeros((len(pairs), len(Label), len(Label)))
    for _, text, labels in page.by_block():
        count = 1 if weight == "blocks" else len(words(text))
        for table, (one, other) in zip(tables, pairs, strict=True):
            table[index_of[labels[one]], index_of[labels[other]]] += count
    return tables


def _measure(tables: Floats, seed: int) -> dict[str, Agreement]:
    """Measure the agreement of every grouping from the tables of every page (axes: page, pair, label, label)."""
    pages = len(tables)
    total = tables.sum(axis=0)
    random = np.random.default_rng(seed)
    resampled = []  # sums of as many tables as there are pages, drawn at random
    for _ in range(RESAMPLES // _CHUNK if pages > 1 else 0):
        times_drawn = random.multinomial(pages, np.full(pages, 1 / pages), size=_CHUNK).astype(float)
        resampled.append(np.tensordot(times_drawn, tables, axes=1))
    agreements = {}
    for name, classes in GROUPINGS.items():
        membership = np.array([[label in labels for label in Label] for labels in classes.values()], dtype=float)
        confusion: Floats = membership @ total @ membership.T  # adds the rows and columns of a class
        intervals: list[tuple[float, float] | None] = [None] * (len(confusion) + 1)
        if resampled:
            kappas_of_draws = np.concatenate([_kappas(membership @ chunk @ membership.T)[0] for chunk in resampled])
            intervals = list(map(_interval, kappas_of_draws.T))
        fleiss, *cohen = [
            Kappa(_defined(kappa), _defined(observed), _defined(expected), interval)
            for kappa, observed, expected, interval in zip(*_kappas(confusion), intervals, strict=True)
        ]
        agreements[name] = Agreement(tuple(classes), fleiss, tuple(cohen), confusion)
    return agreements


def _kappas(tables: Floats) -> list[Floats]:
    """Return kappa, observed and expected agreement: each of all annotators first, then of every pair."""
    measures = zip(fleiss_kappa(tables), cohen_kappa(tables), strict=True)
    return [np.concatenate([of_all[..., None], of_pairs], axis=-1) for of_all, of_pairs in measures]


def cohen_kappa(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Cohen's kappa, observed and expected agreement of tables (the last two axes) of pairs of annotators.

    >>> kappa, observed, expected = cohen_kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))
    >>> round(float(kappa), 3), float(observed), float(expected)
    (0.4, 0.7, 0.5)
    """
    total = tables.sum(axis=(-1, -2))
    with np.errstate(invalid="ignore", divide="ignore"):  # no blocks, no agreement
        observed = np.trace(tables, axis1=-2, axis2=-1) / total
        expected = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1) / total**2
    return _beyond_chance(observed, expected), observed, expected


def fleiss_kappa(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Fleiss' kappa, observed and expected agreement of all annotators, from the tables of all their pairs.

    The agreement on a block is the share of pairs of annotators who agree, so the mean over blocks is the mean over
    pairs. Chance draws a label as often as all annotators together gave it. With two annotators this is Scott's pi.
    """
    given = (tables.sum(axis=-1) + tables.sum(axis=-2)).sum(axis=-2)  # each annotator is in equally many pairs
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.trace(tables, axis1=-2, axis2=-1).sum(axis=-1) / tables.sum(axis=(-1, -2, -3))
        expected = ((given / given.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    return _beyond_chance(observed, expected), observed, expected


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """Return the agreement as a share of what chance leaves over; NaN if chance leaves nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa: Floats = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return kappa


def _interval(kappas: Floats) -> tuple[float, float] | None:
    """Return the middle 95 % of resampled kappas; None if too many resamples have no kappa."""
    defined = kappas[~np.isnan(kappas)]
    if len(defined) < _ENOUGH * len(kappas):
        return None
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)


def _defined(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)
