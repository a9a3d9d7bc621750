"""Which kind of content a block is: trees that know header, paragraph, list and continuation.

They learn from content alone and say of every block which kind it would be if it were content. They see what the
trees for content saw, what those found, and numbers of their own, of lines above all. Other trees judge by the same
numbers again whether a block is content: those before count blocks by their words, as text wants it, these count each
block the same, as labels want it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt

from victorpy.columns import Columns, Floats
from victorpy.config import Config
from victorpy.document import Label
from victorpy.evidence.inputs import Inputs
from victorpy.evidence.stage import Report
from victorpy.evidence.trees import (
    KINDS,
    Forest,
    Matrix,
    Questions,
    check_settings,
    grow,
    learn,
    read_arrays,
    strides,
    tree_settings,
)

KINDS_FILE = "kinds.npy"

_NOISE = -1


@dataclass(frozen=True)
class KindForest(Questions):
    """Trees that give a block the probability of each of several kinds."""

    leaves: Matrix
    """What each leaf of each tree adds to the score of each kind."""
    bias: Floats
    """The scores that every block begins with."""

    def shares(self, matrix: Matrix) -> Floats:
        """Give the probability of each kind: a row a block."""
        parts = [self._scores(part) for part in strides(matrix)]
        scores = np.vstack(parts) if parts else np.zeros((0, len(self.bias)))
        grown = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(grown / grown.sum(axis=1, keepdims=True))

    def _scores(self, matrix: Matrix) -> Floats:
        leaf = self.leaf_numbers(matrix)
        return np.stack([np.take(added, leaf, mode="clip").sum(axis=0) for added in self._added], axis=1) + self.bias

    @cached_property
    def _added(self) -> Floats:
        """What the leaves of all trees add to each kind's score, in the precision of the sum: a row a kind."""
        return np.ascontiguousarray(self.leaves.reshape(-1, len(self.bias)).T, dtype=np.float64)

    def save(self, file: BinaryIO) -> None:
        """Write the trees, the same bytes for the same trees."""
        for array in (self.features, self.borders, self.leaves, self.bias):
            np.save(file, array, allow_pickle=False)

    @classmethod
    def load(cls, file: BinaryIO) -> Self:
        """Read trees that were written by `save`."""
        features, borders, leaves, bias = read_arrays(file)
        if leaves.shape != (len(features), 2 ** features.shape[1], len(bias)):
            raise ValueError("its trees do not fit together")
        return cls(features, borders, leaves, bias)


@dataclass(frozen=True)
class Kinds:
    """Trees and the kinds that they tell apart."""

    inputs: Inputs
    labels: tuple[str, ...]
    forest: KindForest
    content: Forest

    def judge(self, page: Columns, numbers: Matrix) -> tuple[Floats, Floats]:
        """How probable each kind is for each block, were it content, and the log-odds that it is.

        The numbers are those of the trees before.
        """
        assert page.evidence is not None
        matrix = _matrix(self.inputs, page, numbers, page.evidence)
        return self.forest.shares(matrix), self.content.log_odds(matrix)

    def save(self, directory: Path) -> None:
        """Write the file of a model directory."""
        with (directory / KINDS_FILE).open("wb") as file:
            np.save(file, np.array(self.labels), allow_pickle=False)
            self.forest.save(file)
            self.content.save(file)

    @classmethod
    def load(cls, directory: Path, config: Config, rows: int) -> Kinds:
        """Read what `save` wrote; the trees before give so many numbers."""
        inputs = Inputs(config, KINDS)
        with (directory / KINDS_FILE).open("rb") as file:
            labels = tuple(str(Label(label)) for label in np.load(file, allow_pickle=False).tolist())
            forest, content = KindForest.load(file), Forest.load(file)
        for trees in (forest, content):
            trees.check(rows + 1 + len(inputs.names))
        if len(forest.bias) != len(labels):
            raise ValueError("its trees do not fit its labels")
        return cls(inputs, labels, forest, content)


def fit_kinds(
    pages: Sequence[Columns],
    numbers: Sequence[Matrix],
    labels: Sequence[Sequence[str]],
    config: Config,
    report: Report = lambda said: None,
) -> Kinds:
    """Learn from the content of pages; their evidence and its numbers must come from trees that had not seen them."""
    settings = tree_settings(config, KINDS)
    check_settings(settings, config, KINDS)
    inputs = Inputs(config, KINDS)
    report(f"kinds: features of {len(pages):,} pages")
    kinds = tuple(label for label in config.labels if Label(label).is_content)
    matrices, targets = [], []
    for page, found, sequence in zip(pages, numbers, labels, strict=True):
        assert page.evidence is not None
        matrices.append(_matrix(inputs, page, found, page.evidence))
        targets += [kinds.index(label) if label in kinds else _NOISE for label in sequence]
        page.forget_characters()
    matrix, target = np.hstack(matrices), np.array(targets, dtype=np.int64)
    content = target != _NOISE
    report("kinds: trees for labels")
    present, kind = np.unique(target[content], return_inverse=True)
    forest = _grow(matrix[:, content], kind, len(present), settings)
    again = grow(matrix, content, np.ones(len(target)), settings, KINDS)
    return Kinds(inputs, tuple(kinds[number] for number in present), forest, again)


def _grow(matrix: Matrix, target: npt.NDArray[np.int64], kinds: int, settings: Mapping[str, Any]) -> KindForest:
    """Learn trees; where nothing can be learned, they say the same of every block."""
    if kinds < 2 or (matrix == matrix[:, :1]).all():
        nothing = np.zeros((1, 1), dtype=np.int32), np.full((1, 1), np.inf, dtype=np.float32)
        return KindForest(*nothing, np.zeros((1, 2, kinds), dtype=np.float32), np.log(np.bincount(target) + 1.0))
    weights = np.ones(len(target))
    questions, leaves, bias = learn(matrix, target, weights, {"loss_function": "MultiClass", **settings}, KINDS)
    return KindForest(questions.features, questions.borders, leaves, bias)


def _matrix(inputs: Inputs, page: Columns, numbers: Matrix, log_odds: Floats) -> Matrix:
    """The numbers of a page's blocks: those of the trees before, what these found, and the kinds' own."""
    return np.vstack([numbers, log_odds.astype(np.float32)[None], inputs.matrix(page)])
