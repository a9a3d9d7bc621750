"""Adapt a trained model to a user's pages, with additional trees and a lexicon of these pages.

The trees continue boosting from the model's log-odds. Their inputs are those of the model's last trees, and columns
from a lexicon of the new pages. In training, the lexicon for a page excludes the page itself, or its site.

A sample of general pages is part of the training data, with the model's own probabilities as targets. So the trees
learn not to change such pages, except for what is different on the new pages. Pages that are very different from the
new ones, such as pages in another language, are not changed at all.

A second set of trees is trained on the new pages alone. They are used only on pages that are very similar to the new
ones, where the log-odds of both are averaged.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from victorpy.base.arrays import checked, open_arrays, read_array
from victorpy.columns import Columns, Flags, Floats
from victorpy.model.evidence.cut import probabilities
from victorpy.model.evidence.lexicon import COLUMNS as LEXICON_COLUMNS
from victorpy.model.evidence.lexicon import Lexicon, Poll, Table, Votes, spell
from victorpy.model.evidence.replay import Replay
from victorpy.model.evidence.stage import Findings, make_lexicon, training_weights
from victorpy.model.evidence.trees import CATBOOST, Forest, Matrix, grow

LEXICON_FILE = "adaptation.tsv"
TREES_FILE = "adaptation.npy"

SETTINGS: dict[str, Any] = {
    "learner": CATBOOST,
    "loss_function": "CrossEntropy",  # the targets are probabilities
    "random_seed": 1,
    "iterations": 80,
    "depth": 4,
    "learning_rate": 0.05,
    "l2_leaf_reg": 10,
    "border_count": 64,
    "rsm": 0.3,
}
"""Settings of the trees, chosen on kinds of pages that the bundled model was not trained on."""

OWN_SETTINGS = SETTINGS | {"iterations": 100, "depth": 5, "learning_rate": 0.1, "l2_leaf_reg": 5}
"""Settings of the trees that are trained on the new pages alone."""

OWN_SHARE = 0.5
"""The largest share of these trees in the averaged log-odds."""

LIKE = 0.25, 0.5
"""Likeness of a page to the new pages, relative to their likeness to each other.

Adaptation starts at the first value and is complete at the second.
"""

MUCH_LIKE = 0.8, 1.0
"""The same for the trees of the new pages alone, but relative to the mean likeness of the new pages."""


@dataclass(frozen=True)
class OwnTrees:
    """Trees that know only the new pages."""

    forest: Forest
    mean_likeness: Floats


@dataclass(frozen=True)
class Adaptation:
    """A lexicon of the new pages, and trees that correct log-odds."""

    lexicon: Lexicon
    forest: Forest
    usual_likeness: Floats
    """How similar the new pages are to each other, by element names and by words."""
    own: OwnTrees | None = None

    def judge(self, page: Columns, findings: Findings) -> Findings:
        """Correct the log-odds of the model's own trees."""
        return replace(findings, log_odds=findings.log_odds + self.change(page, findings))

    def change(self, page: Columns, findings: Findings) -> Floats:
        """Return the change that the adaptation makes to the log-odds."""
        its_likeness = likeness(page, self.lexicon)
        if not _strength(its_likeness, self.usual_likeness, LIKE):
            return np.zeros(page.count)
        matrix = np.vstack([findings.inputs, self.lexicon.columns(page)])
        return self._change(its_likeness, matrix, findings.log_odds)

    def general_change(self, replay: Replay) -> Floats:
        """Return the change that the adaptation makes to the log-odds of general pages."""
        return self._change(replay.likeness(self.lexicon), replay.matrix(self.lexicon), replay.log_odds)

    def _change(self, likeness: Floats, matrix: Matrix, log_odds: Floats) -> Floats:
        change = _strength(likeness, self.usual_likeness, LIKE) * self.forest.log_odds(matrix)
        if self.own is None:
            return change
        share = OWN_SHARE * _strength(likeness, self.own.mean_likeness, MUCH_LIKE)
        return (1 - share) * change + share * (self.own.forest.log_odds(matrix) - log_odds)

    def variant(self, step: float, with_own: bool) -> Adaptation:
        """Return an adaptation that applies a share of the correction, with or without the user's own trees."""
        forest = replace(self.forest, leaves=self.forest.leaves * np.float32(step), bias=self.forest.bias * step)
        return replace(self, forest=forest, own=self.own if with_own else None)

    def spelled(self, pages: Iterable[Columns]) -> Adaptation:
        """Return an adaptation that can be saved. The tokens of its lexicon are spelled as on the given pages."""
        return replace(self, lexicon=Lexicon(self.lexicon.tables, spell(self.lexicon.tables, pages)))

    def save(self, directory: Path) -> None:
        self.lexicon.save(directory / LEXICON_FILE)
        with (directory / TREES_FILE).open("wb") as file:
            np.save(file, self.usual_likeness, allow_pickle=False)
            self.forest.save(file)
            if self.own is not None:
                np.save(file, self.own.mean_likeness, allow_pickle=False)
                self.own.forest.save(file)

    @classmethod
    def load(cls, directory: Path, evidence_inputs: int) -> Adaptation:
        """Read an adaptation that `save` wrote.

        `inputs` is the number of inputs of the model's last trees for content.
        """
        file = open_arrays(directory / TREES_FILE)
        inputs = evidence_inputs + len(LEXICON_COLUMNS)
        usual, forest = _read_trees(file, inputs)
        has_own = file.tell() < file.getbuffer().nbytes
        mean, own = _read_trees(file, inputs) if has_own else (usual, forest)
        return cls(Lexicon.load(directory / LEXICON_FILE), forest, usual, OwnTrees(own, mean) if has_own else None)


def _read_trees(file: io.BytesIO, inputs: int) -> tuple[Floats, Forest]:
    likeness = checked(read_array(file, "likeness"), np.float64, "likeness", 1e-6, 1)
    forest = Forest.load(file, inputs)
    if likeness.shape != (2,) or len(forest.bias) != 1:
        raise ValueError("the arrays of its adaptation do not match")
    return likeness, forest


@dataclass(frozen=True)
class JudgedPage:
    """A labelled page with the findings of the model to adapt."""

    columns: Columns
    findings: Findings
    group: str
    """The page's site, or the page's number if all pages are from one site."""
    labels: Sequence[str]
    content: Flags
    factor: Floats
    """Factors for the weights of blocks: 1, or 0 for a block whose label is unknown."""

    @property
    def known_words(self) -> Floats:
        """The number of words of each block, or 0 if its label is unknown."""
        return np.where(self.factor > 0, self.columns.words, 0.0)


def fit_adaptation(pages: Sequence[JudgedPage], replay: Replay | None = None) -> Adaptation:
    """Continue a model's boosting on pages, without changing it on general pages."""
    poll = Poll()
    for page in pages:
        poll.add(page.columns, page.content, page.group, page.factor > 0)
    votes = poll.votes()
    others = {group: _lexicon(votes, group) for group in {page.group for page in pages}}
    rows: list[tuple[Matrix, Floats, Floats, Floats]] = []
    for page in pages:
        matrix = np.vstack([page.findings.inputs, others[page.group].columns(page.columns)])
        weights = training_weights(page.columns) * page.factor
        rows.append((matrix, page.content.astype(np.float64), weights, page.findings.log_odds))
    lexicon = _lexicon(votes)
    likenesses = [likeness(page.columns, others[page.group]) for page in pages]
    usual, mean = (np.maximum(row, 1e-6) for row in (np.quantile(likenesses, 0.1, axis=0), np.mean(likenesses, axis=0)))
    own = OwnTrees(grow(*_join(rows)[:3], OWN_SETTINGS), mean)
    if replay is not None:
        weights = replay.weight * sum(float(weights.sum()) for _, _, weights, _ in rows)
        rows.append((replay.matrix(lexicon), probabilities(replay.log_odds), weights, replay.log_odds))
    matrix, target, weight, log_odds = _join(rows)
    return Adaptation(lexicon, grow(matrix, target, weight, SETTINGS, baseline=log_odds), usual, own)


def _join(rows: Sequence[tuple[Matrix, Floats, Floats, Floats]]) -> tuple[Matrix, Floats, Floats, Floats]:
    matrix, target, weight, log_odds = (np.concatenate(parts, axis=-1) for parts in zip(*rows, strict=True))
    return matrix, target, weight, log_odds


def _strength(likeness: Floats, usual: Floats, limits: tuple[float, float]) -> Floats:
    """Return the strength of the change for each page, from 0 to 1. The rows of `likeness` are for names and words."""
    low, high = limits
    return np.clip(((likeness.T / usual).min(axis=-1) - low) / (high - low), 0.0, 1.0)


def likeness(page: Columns, lexicon: Lexicon) -> Floats:
    """Return the share of a page's element names, and the share of its words, that a lexicon contains."""
    tokens = zip(lexicon.tables, (page.near_name_tokens, page.word_tokens), strict=False)
    return np.array([np.count_nonzero(table.look_up(hashes)) / max(len(hashes), 1) for table, (hashes, _) in tokens])


def _lexicon(votes: Sequence[Votes], without: str | None = None) -> Lexicon:
    """Make a lexicon of the new pages. It has no headings, because the general pages have none."""
    names, words, _ = make_lexicon(votes, without, fewest=1).tables
    return Lexicon((names, words, Table(np.zeros(0, dtype=np.uint64), np.zeros(0))))
