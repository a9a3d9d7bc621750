"""How far annotators agree on the labels of the same blocks, beyond what chance would do: numbers only.

Cohen's kappa is for two annotators, Fleiss' for all of them together. Both follow from one table for each pair of
annotators, how many blocks one labelled so and the other so: such tables add up over pages, so that pages can be
resampled cheaply, and rows of them are added up where labels are taken together (content against noise, one label
against the rest).

Where every block has the same label from everybody, chance alone would agree on everything: kappa is 0/0 there and
says nothing. It is None then, beside an observed agreement of 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.align import words
from victorpy.document import Label
from victorpy.errors import DataError
from victorpy.statistics import RESAMPLES

Floats = npt.NDArray[np.float64]
_CHUNK = 100  # resamples at a time, so that many pages and many annotators fit in memory
_ENOUGH = 0.95  # of resamples with a kappa, for there to be an interval of so much


def _groupings() -> dict[str, dict[str, frozenset[Label]]]:
    """What is told apart, by name: the five labels, content and noise, and every label and the rest."""
    content = frozenset(label for label in Label if label.is_content)
    every = frozenset(Label)
    return {
        "labels": {str(label): frozenset([label]) for label in Label},
        "content": {"content": content, "noise": every - content},
        **{str(label): {str(label): frozenset([label]), "rest": every - {label}} for label in Label},
    }


GROUPINGS: Mapping[str, Mapping[str, frozenset[Label]]] = _groupings()
WEIGHTS = ("blocks", "words")
"""What counts as one: a block, or each of its words."""


@dataclass(frozen=True, slots=True)
class SharedPage:
    """A page that several people have labelled, cut into the same blocks."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[tuple[Label | None, ...], ...]
    """The labels of all blocks, annotator by annotator; None where somebody gave none."""

    def by_block(self) -> Iterator[tuple[int, str, tuple[Label, ...]]]:
        """Number, text and labels of each block that everybody labelled; numbers begin with 1."""
        for number, (text, *given) in enumerate(zip(self.texts, *self.labels, strict=True), 1):
            labels = tuple(label for label in given if label is not None)
            if len(labels) == len(given):
                yield number, text, labels


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement beyond chance, and what it is made of; None where it is not defined."""

    kappa: float | None
    observed: float | None
    """The share of blocks (for many annotators: of pairs of labels of a block) that agree."""
    expected: float | None
    """The share that would agree if everybody drew labels by chance, as often as they gave them."""
    interval: tuple[float, float] | None = None
    """Where 95 % of the kappas of resampled pages lie; None for a single page."""

    def scores(self) -> dict[str, Any]:
        """Give the numbers by name."""
        interval = None if self.interval is None else list(self.interval)
        return {"kappa": self.kappa, "interval": interval, "observed": self.observed, "expected": self.expected}


@dataclass(frozen=True, slots=True)
class Agreement:
    """How annotators agree where certain classes of labels are told apart."""

    classes: tuple[str, ...]
    fleiss: Kappa
    """Fleiss' kappa of all annotators."""
    cohen: tuple[Kappa, ...]
    """Cohen's kappa of every pair."""
    confusion: Floats
    """For every pair: how much has which class from the first (row) and from the second (column)."""


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
    """Everything that is to be said of annotators who labelled the same pages."""

    annotators: tuple[str, ...]
    pages: tuple[SharedPage, ...]
    by_weight: Mapping[str, Mapping[str, Agreement]]
    """By what counts as one (`WEIGHTS`) and what is told apart (`GROUPINGS`)."""
    by_page: tuple[Mapping[str, Agreement], ...]
    """The same for every page, by blocks."""
    disagreements: tuple[Disagreement, ...]
    seed: int

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of annotators, in the order of all lists about pairs."""
        return list(combinations(self.annotators, 2))

    def scores(self) -> dict[str, Any]:
        """Give every number as plain data."""
        counted = {weight: self._count(weight) for weight in WEIGHTS}
        blocks = sum(len(page.texts) for page in self.pages)
        return {
            "annotators": list(self.annotators),
            "pages_count": len(self.pages),
            "blocks_count": counted["blocks"],
            "blocks_left_out": blocks - counted["blocks"],
            "words_count": counted["words"],
            "resampling": {"resamples": RESAMPLES if len(self.pages) > 1 else 0, "seed": self.seed},
            "agreement": {
                weight: {name: self._grouping_scores(agreement) for name, agreement in found.items()}
                for weight, found in self.by_weight.items()
            },
            "pages": list(self._page_scores()),
            "disagreements": [
                {
                    "page": found.page,
                    "block": found.block,
                    "text": found.text,
                    "labels": [str(label) for label in found.labels],
                    "about_content": found.about_content,
                }
                for found in self.disagreements
            ],
        }

    def _count(self, weight: str) -> int:
        return int(self.by_weight[weight]["labels"].confusion[0].sum())

    def _grouping_scores(self, found: Agreement) -> dict[str, Any]:
        pairs = zip(self.pairs, found.cohen, found.confusion, strict=True)
        return {
            "fleiss": found.fleiss.scores(),
            "pairs": [
                {"annotators": list(pair), **kappa.scores(), "confusion": _by_class(confusion, found.classes)}
                for pair, kappa, confusion in pairs
            ],
        }

    def _page_scores(self) -> Iterator[dict[str, Any]]:
        for page, found in zip(self.pages, self.by_page, strict=True):
            counted = int(found["labels"].confusion[0].sum())
            kappas = {
                name: {"fleiss": found[name].fleiss.scores(), "cohen": [each.scores() for each in found[name].cohen]}
                for name in ("labels", "content")
            }
            left_out = len(page.texts) - counted
            differing = sum(1 for _, _, labels in page.by_block() if len(set(labels)) > 1)
            yield {
                "name": page.name,
                "blocks": counted,
                "left_out": left_out,
                "disagreements": differing,
                **kappas,
            }


def _by_class(confusion: Floats, classes: Sequence[str]) -> dict[str, dict[str, int]]:
    return {
        row: {column: int(count) for column, count in zip(classes, counts, strict=True)}
        for row, counts in zip(classes, confusion, strict=True)
    }


def compare_annotators(annotators: Sequence[str], pages: Sequence[SharedPage], seed: int = 1) -> Comparison:
    """Measure how the annotators of these pages agree; only blocks that all of them labelled count."""
    if len(annotators) < 2:
        raise DataError("agreement takes at least two annotators")
    tables = {weight: np.stack([_tables(page, weight) for page in pages]) for weight in WEIGHTS} if pages else {}
    if not pages or not tables["blocks"].any():
        raise DataError("there is no block that all annotators have labelled")
    return Comparison(
        tuple(annotators),
        tuple(pages),
        {weight: _measure(found, seed) for weight, found in tables.items()},
        tuple(_measure(table[None], seed) for table in tables["blocks"]),
        tuple(_disagreements(pages)),
        seed,
    )


def _tables(page: SharedPage, weight: str) -> Floats:
    """For every pair of annotators, how much the one labelled so and the other so."""
    number = {label: at for at, label in enumerate(Label)}
    pairs = list(combinations(range(len(page.labels)), 2))
    found = list(page.by_block())
    labels = np.array([[number[label] for label in given] for _, _, given in found], dtype=np.intp)
    weights = np.array([1 if weight == "blocks" else len(words(text)) for _, text, _ in found], dtype=np.float64)
    tables = np.zeros((len(pairs), len(Label), len(Label)))
    if found:
        for at, (one, other) in enumerate(pairs):
            np.add.at(tables[at], (labels[:, one], labels[:, other]), weights)
    return tables


def _disagreements(pages: Sequence[SharedPage]) -> Iterator[Disagreement]:
    for page in pages:
        for number, text, labels in page.by_block():
            if len(set(labels)) > 1:
                yield Disagreement(page.name, number, text, labels)


def _measure(tables: Floats, seed: int) -> dict[str, Agreement]:
    """Measure all that is told apart, from the tables of every page."""
    resampled = _resampled_kappas(tables, seed) if len(tables) > 1 else {}
    return {name: _agreement(name, tables.sum(axis=0), resampled.get(name)) for name in GROUPINGS}


def _agreement(name: str, tables: Floats, resampled: Floats | None) -> Agreement:
    """Measure what is told apart under a name; of the resampled kappas the first is that of all annotators."""
    grouped = _grouped(tables, name)
    count = len(grouped) + 1
    intervals = [None] * count if resampled is None else [_interval(kappas) for kappas in resampled.T]
    kappas = [
        Kappa(_defined(kappa), _defined(observed), _defined(expected), interval)
        for kappa, observed, expected, interval in zip(*_all_and_pairs(grouped), intervals, strict=True)
    ]
    return Agreement(tuple(GROUPINGS[name]), kappas[0], tuple(kappas[1:]), grouped)


def _grouped(tables: Floats, name: str) -> Floats:
    """Add up the rows and the columns of labels that are not told apart."""
    belongs = np.array([[label in members for label in Label] for members in GROUPINGS[name].values()], dtype=float)
    added: Floats = belongs @ tables @ belongs.T
    return added


def _all_and_pairs(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Kappa, observed and expected agreement: of all annotators first, then of every pair."""
    both = zip(fleiss_kappa(tables), cohen_kappa(tables), strict=True)
    kappa, observed, expected = (np.concatenate([of_all[..., None], of_pairs], axis=-1) for of_all, of_pairs in both)
    return kappa, observed, expected


def cohen_kappa(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Cohen's kappa, observed and expected agreement of tables (the last two axes) of pairs of annotators.

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
    """Fleiss' kappa, observed and expected agreement of all annotators, from the tables of every pair of them.

    A block's agreement is the share of pairs of annotators who agree on it, so that the mean over blocks is the
    mean over pairs; chance draws a label as often as all annotators together gave it. With two annotators this is
    Scott's pi.
    """
    given = (tables.sum(axis=-1) + tables.sum(axis=-2)).sum(axis=-2)  # every annotator is in as many pairs as another
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.trace(tables, axis1=-2, axis2=-1).sum(axis=-1) / tables.sum(axis=(-1, -2, -3))
        expected = ((given / given.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    return _beyond_chance(observed, expected), observed, expected


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    """Give the share of what chance leaves over that is agreed on; NaN where chance leaves nothing over."""
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa: Floats = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return kappa


def _resampled_kappas(tables: Floats, seed: int) -> dict[str, Floats]:
    """Draw as many pages as there are, again and again: a row of kappas for every draw, by what is told apart."""
    random = np.random.default_rng(seed)
    pages = len(tables)
    kappas: dict[str, list[Floats]] = {name: [] for name in GROUPINGS}
    for _ in range(RESAMPLES // _CHUNK):
        drawn = random.multinomial(pages, np.full(pages, 1 / pages), size=_CHUNK).astype(float)
        added = np.tensordot(drawn, tables, axes=1)
        for name, found in kappas.items():
            found.append(_all_and_pairs(_grouped(added, name))[0])
    return {name: np.concatenate(found) for name, found in kappas.items()}


def _interval(kappas: Floats) -> tuple[float, float] | None:
    """Give the middle 95 % of resampled kappas; none where too many draws have no kappa to know it."""
    defined = kappas[~np.isnan(kappas)]
    if len(defined) < _ENOUGH * len(kappas):
        return None
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)


def _defined(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)
