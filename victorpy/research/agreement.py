"""Measure how well annotators agree on the labels of the same blocks, beyond chance.

Cohen's kappa compares two annotators, and Fleiss' kappa all of them. Both are computed from one table per pair of
annotators, which counts blocks by the two labels. Because the tables of pages can be added, resampling is fast. Because
rows and columns can be added, several labels can be treated as one class (content against noise, one label against the
rest).

If all annotators give every block the same label, the expected agreement is 1, and kappa (0/0) is None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.base.words import aligned_words
from victorpy.document import Label
from victorpy.errors import DataError
from victorpy.research.statistics import RESAMPLES

Floats = npt.NDArray[np.float64]
_CHUNK = 100  # number of resamples at a time, so that many pages fit in memory
_NUMBERS = ("kappa", "observed", "expected")
_ENOUGH = 0.95  # minimum share of resamples with a kappa for an interval

_ALL = frozenset(Label)
_CONTENT = frozenset(label for label in Label if label.is_content)
GROUPINGS: Mapping[str, Mapping[str, frozenset[Label]]] = {  # classes of labels
    "labels": {str(label): frozenset([label]) for label in Label},
    "content": {"content": _CONTENT, "noise": _ALL - _CONTENT},
    **{str(label): {str(label): frozenset([label]), "rest": _ALL - {label}} for label in Label},
}
WEIGHTS = ("blocks", "words")


@dataclass(frozen=True, slots=True)
class SharedPage:
    """A page that several annotators have labelled."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[tuple[Label | None, ...], ...]
    """Labels by annotator and block, or None for blocks that the annotator has not labelled."""

    def by_block(self) -> Iterator[tuple[int, str, tuple[Label, ...]]]:
        """Yield number (from 1), text and labels of each block that all annotators have labelled."""
        for number, (text, *given) in enumerate(zip(self.texts, *self.labels, strict=True), 1):
            labels = tuple(label for label in given if label is not None)
            if len(labels) == len(given):
                yield number, text, labels


def compare_annotators(annotators: Sequence[str], pages: Sequence[SharedPage], seed: int = 1) -> dict[str, Any]:
    """Return the content of scores.json: the agreement on blocks that all annotators labelled."""
    if len(annotators) < 2:
        raise DataError("agreement needs at least two annotators")
    tables = {weight: np.stack([_tables(page, weight) for page in pages]) for weight in WEIGHTS} if pages else {}
    if not pages or not tables["blocks"].any():
        raise DataError("there is no block that all annotators have labelled")
    blocks, words = (int(tables[weight][:, 0].sum()) for weight in WEIGHTS)
    agreement = {weight: _measure(tables[weight], seed) for weight in WEIGHTS}
    for grouping in (grouping for by_grouping in agreement.values() for grouping in by_grouping.values()):
        for pair, names in zip(grouping["pairs"], combinations(annotators, 2), strict=True):
            pair["annotators"] = list(names)
    disagreements = [
        {
            "page": page.name,
            "block": number,
            "text": text,
            "labels": [str(label) for label in labels],
            "about_content": len({label.is_content for label in labels}) > 1,
        }
        for page in pages
        for number, text, labels in page.by_block()
        if len(set(labels)) > 1
    ]
    page_scores = []
    for page, page_tables in zip(pages, tables["blocks"], strict=True):
        count = int(page_tables[0].sum())
        scores: dict[str, Any] = {
            "name": page.name,
            "blocks": count,
            "left_out": len(page.texts) - count,
            "disagreements": sum(len(set(labels)) > 1 for _, _, labels in page.by_block()),
        }
        measured = _measure(page_tables[None], seed)
        for name in ("labels", "content"):
            cohen = [{key: pair[key] for key in pair if key != "confusion"} for pair in measured[name]["pairs"]]
            scores[name] = {"fleiss": measured[name]["fleiss"], "cohen": cohen}
        page_scores.append(scores)
    return {
        "annotators": list(annotators),
        "pages_count": len(pages),
        "blocks_count": blocks,
        "blocks_left_out": sum(len(page.texts) for page in pages) - blocks,
        "words_count": words,
        "resampling": {"resamples": RESAMPLES if len(pages) > 1 else 0, "seed": seed},
        "agreement": agreement,
        "pages": page_scores,
        "disagreements": disagreements,
    }


def _tables(page: SharedPage, weight: str) -> Floats:
    """Count the blocks or words of a page for every pair of annotators, by the labels that the two gave."""
    index_of = {label: index for index, label in enumerate(Label)}
    pairs = list(combinations(range(len(page.labels)), 2))
    tables = np.zeros((len(pairs), len(Label), len(Label)))
    for _, text, labels in page.by_block():
        count = 1 if weight == "blocks" else len(aligned_words(text))
        for table, (one, other) in zip(tables, pairs, strict=True):
            table[index_of[labels[one]], index_of[labels[other]]] += count
    return tables


def _measure(tables: Floats, seed: int) -> dict[str, dict[str, Any]]:
    """Measure the agreement on every grouping, from the tables of every page (axes: page, pair, label, label).

    `observed` is the share of labels that agree. `expected` is the share that would agree if annotators chose labels at
    random with the same frequencies.
    """
    pages = len(tables)
    total = tables.sum(axis=0)
    random = np.random.default_rng(seed)
    resampled = []  # each resample adds as many tables as there are pages
    for _ in range(RESAMPLES // _CHUNK if pages > 1 else 0):
        times_sampled = random.multinomial(pages, np.full(pages, 1 / pages), size=_CHUNK).astype(float)
        resampled.append(np.tensordot(times_sampled, tables, axes=1))
    agreements = {}
    for name, classes in GROUPINGS.items():
        membership = np.array([[label in labels for label in Label] for labels in classes.values()], dtype=float)
        confusion: Floats = membership @ total @ membership.T  # this adds the rows and columns of a class
        intervals: list[list[float] | None] = [None] * (len(confusion) + 1)
        if resampled:
            resampled_kappas = np.concatenate([_kappas(membership @ chunk @ membership.T)[0] for chunk in resampled])
            intervals = list(map(_interval, resampled_kappas.T))
        fleiss, *cohen = [
            {"interval": interval}
            | {key: None if np.isnan(value) else float(value) for key, value in zip(_NUMBERS, numbers, strict=True)}
            for *numbers, interval in zip(*_kappas(confusion), intervals, strict=True)
        ]
        for pair, table in zip(cohen, confusion, strict=True):
            rows = [dict(zip(classes, map(int, row), strict=True)) for row in table]
            pair["confusion"] = dict(zip(classes, rows, strict=True))
        agreements[name] = {"fleiss": fleiss, "pairs": cohen}
    return agreements


def _kappas(tables: Floats) -> list[Floats]:
    """Return kappa, observed and expected agreement, first of all annotators and then of every pair."""
    measures = zip(fleiss_kappa(tables), cohen_kappa(tables), strict=True)
    return [np.concatenate([of_all[..., None], of_pairs], axis=-1) for of_all, of_pairs in measures]


def cohen_kappa(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Cohen's kappa, observed and expected agreement for the table (the last two axes) of each pair.

    >>> kappa, observed, expected = cohen_kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))
    >>> round(float(kappa), 3), float(observed), float(expected)
    (0.4, 0.7, 0.5)
    """
    total = tables.sum(axis=(-1, -2))
    with np.errstate(invalid="ignore", divide="ignore"):  # without blocks, kappa is NaN
        observed = np.trace(tables, axis1=-2, axis2=-1) / total
        expected = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1) / total**2
    return _beyond_chance(observed, expected), observed, expected


def fleiss_kappa(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Fleiss' kappa, observed and expected agreement of all annotators, from the tables of all their pairs.

    The agreement on a block is the share of pairs that agree, so the mean over blocks is the mean over pairs. The
    expected agreement assumes that labels are chosen with the frequencies of all annotators together. With two
    annotators this is Scott's pi.
    """
    given = (tables.sum(axis=-1) + tables.sum(axis=-2)).sum(axis=-2)  # each annotator is in the same number of pairs
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.trace(tables, axis1=-2, axis2=-1).sum(axis=-1) / tables.sum(axis=(-1, -2, -3))
        expected = ((given / given.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    return _beyond_chance(observed, expected), observed, expected


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa: Floats = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return kappa


def _interval(kappas: Floats) -> list[float] | None:
    """Return the 95 % interval of resampled kappas, or None if too many resamples have no kappa."""
    defined = kappas[~np.isnan(kappas)]
    if len(defined) < _ENOUGH * len(kappas):
        return None
    low, high = np.quantile(defined, [0.025, 0.975])
    return [float(low), float(high)]
