"""Estimate which kind of content a block is: header, paragraph, list or continuation.

These trees are trained on content blocks only. They estimate which kind each block would be if it were content. Their
inputs are those of the trees for content, the log-odds of these trees, and additional features, mostly about lines.
With the same inputs, a second forest estimates again whether a block is content. It gives all blocks the same weight,
to get labels right, while the trees for content weight blocks by words, to get the text right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from victorpy.base.arrays import open_arrays, read_array
from victorpy.columns import Columns
from victorpy.config import Config
from victorpy.document import Label
from victorpy.model.evidence.inputs import Inputs
from victorpy.model.evidence.stage import Findings, Report
from victorpy.model.evidence.trees import KINDS, Forest, Matrix, constant, grow, train_forest, tree_settings

KINDS_FILE = "kinds.npy"

_NOISE = -1


@dataclass(frozen=True)
class Kinds:
    """Trees for kinds with their labels, and a second forest for content."""

    inputs: Inputs
    labels: tuple[str, ...]
    forest: Forest
    content: Forest

    def judge(self, page: Columns, findings: Findings) -> Findings:
        """Add the probability of each kind, given that a block is content, and the log-odds that it is content."""
        matrix = _matrix(self.inputs, page, findings)
        return replace(findings, kinds=self.forest.shares(matrix), block_log_odds=self.content.log_odds(matrix))

    def save(self, directory: Path) -> None:
        with (directory / KINDS_FILE).open("wb") as file:
            np.save(file, np.array(self.labels), allow_pickle=False)
            self.forest.save(file)
            self.content.save(file)

    @classmethod
    def load(cls, directory: Path, config: Config, evidence_inputs: int) -> Kinds:
        """Read the trees that `save` wrote. `inputs` is the number of inputs of the trees for content."""
        inputs = Inputs(config, KINDS)
        count = evidence_inputs + 1 + inputs.count
        file = open_arrays(directory / KINDS_FILE)
        names = read_array(file, "kinds")
        labels = tuple(str(Label(label)) for label in names.reshape(-1)[: len(Label)].tolist())
        forest, content = Forest.load(file, count), Forest.load(file, count)
        if names.shape != (len(set(labels)),) or len(forest.bias) != len(labels) or len(content.bias) != 1:
            raise ValueError("its trees do not match its labels")
        return cls(inputs, labels, forest, content)


def fit_kinds(
    pages: Sequence[Columns],
    findings: Sequence[Findings],
    labels: Sequence[Sequence[str]],
    config: Config,
    report: Report = lambda message: None,
) -> Kinds:
    """Train on pages. The findings for a page must come from trees that were not trained on the page."""
    settings = tree_settings(config, KINDS)
    inputs = Inputs(config, KINDS)
    report(f"kinds: features of {len(pages):,} pages")
    kinds = tuple(label for label in config.labels if Label(label).is_content)
    matrices, targets = [], []
    for page, page_findings, sequence in zip(pages, findings, labels, strict=True):
        matrices.append(_matrix(inputs, page, page_findings))
        targets += [kinds.index(label) if label in kinds else _NOISE for label in sequence]
        page.forget_characters()
    matrix, target = np.hstack(matrices), np.array(targets, dtype=np.int64)
    is_content = target != _NOISE
    report("kinds: trees for labels")
    # Kinds that do not occur are left out, and the others are renumbered.
    present, kind = np.unique(target[is_content], return_inverse=True)
    content = matrix[:, is_content]
    if len(present) < 2 or (content == content[:, :1]).all():
        forest = constant(np.log(np.bincount(kind) + 1.0))
    else:
        kind_settings = {"loss_function": "MultiClass", **settings}
        forest = train_forest(content, kind, np.ones(len(kind)), kind_settings, KINDS)
    content_forest = grow(matrix, is_content, np.ones(len(target)), settings, KINDS)
    return Kinds(inputs, tuple(kinds[number] for number in present), forest, content_forest)


def _matrix(inputs: Inputs, page: Columns, findings: Findings) -> Matrix:
    """Stack the inputs of the trees for content, their log-odds, and the features for kinds."""
    return np.vstack([findings.inputs, findings.log_odds.astype(np.float32)[None], inputs.matrix(page)])
