"""Which kind of content a block is: trees for header, paragraph, list and continuation.

They are trained on content alone, and judge which kind every block would be if it were content. They see what the
trees for content saw, the log-odds of those trees, and numbers of their own, mostly about lines. With the same numbers
other trees judge again whether a block is content. The trees for content weight blocks by their words, because text
matters; these weight all blocks the same, because labels matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np

from victorpy.columns import Columns, Floats
from victorpy.config import Config
from victorpy.document import Label
from victorpy.model.evidence.inputs import Inputs
from victorpy.model.evidence.stage import Findings, Report
from victorpy.model.evidence.trees import (
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
        """Return the probability of each kind: a row per block."""
        scores = np.zeros((matrix.shape[1], len(self.bias)))
        first = 0
        for part in strides(matrix):
            leaf = self.leaf_numbers(part)
            sums = [np.take(added, leaf, mode="clip").sum(axis=0) for added in self._added]
            scores[first : first + part.shape[1]] = np.stack(sums, axis=1) + self.bias
            first += part.shape[1]
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))

    @cached_property
    def _added(self) -> Floats:
        """What the leaves of all trees add to each kind's score, in the precision of the sum: a row per kind."""
        return np.ascontiguousarray(self.leaves.reshape(-1, len(self.bias)).T, dtype=np.float64)

    def save(self, file: BinaryIO) -> None:
        for array in (self.features, self.borders, self.leaves, self.bias):
            np.save(file, array, allow_pickle=False)

    @classmethod
    def load(cls, file: BinaryIO) -> Self:
        features, borders, leaves, bias = read_arrays(file)
        if leaves.shape != (len(features), 2 ** features.shape[1], len(bias)):
            raise ValueError("its trees do not fit together")
        return cls(features, borders, leaves, bias)


@dataclass(frozen=True)
class Kinds:
    """Trees for kinds, the labels of these kinds, and trees for content."""

    inputs: Inputs
    labels: tuple[str, ...]
    forest: KindForest
    content: Forest

    def judge(self, page: Columns, findings: Findings) -> Findings:
        """Add the probabilities of kinds for each block, if it is content, and the log-odds that it is."""
        matrix = _matrix(self.inputs, page, findings)
        return replace(findings, kinds=self.forest.shares(matrix), block_log_odds=self.content.log_odds(matrix))

    def save(self, directory: Path) -> None:
        """Write the file of a model directory."""
        with (directory / KINDS_FILE).open("wb") as file:
            np.save(file, np.array(self.labels), allow_pickle=False)
            self.forest.save(file)
            self.content.save(file)

    @classmethod
    def load(cls, directory: Path, config: Config, rows: int) -> Kinds:
        """Read what `save` wrote; `rows` is how many numbers the trees for content decide by."""
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
    findings: Sequence[Findings],
    labels: Sequence[Sequence[str]],
    config: Config,
    report: Report = lambda message: None,
) -> Kinds:
    """Train on pages. Their findings must come from trees that were not trained on them."""
    settings = tree_settings(config, KINDS)
    check_settings(settings, config, KINDS)
    inputs = Inputs(config, KINDS)
    report(f"kinds: features of {len(pages):,} pages")
    kinds = tuple(label for label in config.labels if Label(label).is_content)
    matrices, targets = [], []
    for page, found, sequence in zip(pages, findings, labels, strict=True):
        matrices.append(_matrix(inputs, page, found))
        targets += [kinds.index(label) if label in kinds else _NOISE for label in sequence]
        page.forget_characters()
    matrix, target = np.hstack(matrices), np.array(targets, dtype=np.int64)
    is_content = target != _NOISE
    report("kinds: trees for labels")
    # Kinds that do not occur are left out, and the others are numbered again.
    present, kind = np.unique(target[is_content], return_inverse=True)
    content = matrix[:, is_content]
    if len(present) < 2 or (content == content[:, :1]).all():  # nothing to learn: the same for every block
        questions = Questions(np.zeros((1, 1), dtype=np.int32), np.full((1, 1), np.inf, dtype=np.float32))
        leaves = np.zeros((1, 2, len(present)), dtype=np.float32)
        bias = np.log(np.bincount(kind) + 1.0)
    else:
        kind_settings = {"loss_function": "MultiClass", **settings}
        questions, leaves, bias = learn(content, kind, np.ones(len(kind)), kind_settings, KINDS)
    forest = KindForest(questions.features, questions.borders, leaves, bias)
    content_forest = grow(matrix, is_content, np.ones(len(target)), settings, KINDS)
    return Kinds(inputs, tuple(kinds[number] for number in present), forest, content_forest)


def _matrix(inputs: Inputs, page: Columns, findings: Findings) -> Matrix:
    """Stack the numbers of the trees for content, their log-odds, and the kinds' own numbers."""
    return np.vstack([findings.numbers, findings.log_odds.astype(np.float32)[None], inputs.matrix(page)])
