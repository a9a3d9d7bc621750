"""Adapt a trained model to pages of one's own: a few more trees, and a lexicon of these pages.

The trees continue boosting from the model's log-odds. Their inputs are those of the model's last trees, and columns
from a lexicon of the new pages. In training, the lexicon for a page leaves out the page itself, or its site.

A sample of general pages is an anchor: its blocks have the model's own probabilities as targets. So the trees learn to
leave them as they are, and to change only what is different on the new pages. Pages that are very unlike the new ones,
such as pages in another language, are not changed at all.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from victorpy.base.arrays import checked, read_array
from victorpy.base.digests import MOST_BYTES
from victorpy.base.files import read_bounded
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

UNLIKE, LIKE = 0.25, 0.5
"""A page is adapted in full if it is half as much like the new pages as these are like each other.

A page that is like them a quarter as much, or less, is not adapted.
"""


@dataclass(frozen=True)
class Adaptation:
    """A lexicon of the new pages, and trees that correct log-odds."""

    lexicon: Lexicon
    forest: Forest
    usual_likeness: Floats
    """How much the new pages are like each other, by names and by words."""

    def judge(self, page: Columns, findings: Findings) -> Findings:
        """Correct the findings of the model's own trees."""
        return replace(findings, log_odds=findings.log_odds + self.change(page, findings))

    def change(self, page: Columns, findings: Findings) -> Floats:
        """Return what the adaptation adds to the log-odds."""
        strength = self._strength(likeness(page, self.lexicon))
        if not strength:
            return np.zeros(page.count)
        return strength * self.forest.log_odds(np.vstack([findings.inputs, self.lexicon.columns(page)]))

    def general_change(self, replay: Replay) -> Floats:
        """Return what the adaptation adds to the log-odds of general pages."""
        return self._strength(replay.likeness(self.lexicon)) * self.forest.log_odds(replay.matrix(self.lexicon))

    def _strength(self, likeness: Floats) -> Floats:
        """Return how much each page is adapted, from 0 to 1. The two rows of `likeness` compare names and words."""
        ratio = (likeness.T / self.usual_likeness).min(axis=-1)
        return np.clip((ratio - UNLIKE) / (LIKE - UNLIKE), 0.0, 1.0)

    def scaled(self, step: float) -> Adaptation:
        """Return an adaptation that changes the log-odds by a share of the change."""
        forest = replace(self.forest, leaves=self.forest.leaves * np.float32(step), bias=self.forest.bias * step)
        return replace(self, forest=forest)

    def spelled(self, pages: Iterable[Columns]) -> Adaptation:
        """Return an adaptation that can be saved. The tokens of its lexicon must be on these pages."""
        return replace(self, lexicon=Lexicon(self.lexicon.tables, spell(self.lexicon.tables, pages)))

    def save(self, directory: Path) -> None:
        self.lexicon.save(directory / LEXICON_FILE)
        with (directory / TREES_FILE).open("wb") as file:
            np.save(file, self.usual_likeness, allow_pickle=False)
            self.forest.save(file)

    @classmethod
    def load(cls, directory: Path, evidence_inputs: int) -> Adaptation:
        """Read what `save` wrote, given the number of inputs of the model's last trees for content."""
        file = io.BytesIO(read_bounded(directory / TREES_FILE, MOST_BYTES))
        usual = checked(read_array(file, "likeness"), np.float64, "likeness", 1e-6, 1)
        forest = Forest.load(file, evidence_inputs + len(LEXICON_COLUMNS))
        if usual.shape != (2,) or len(forest.bias) != 1:
            raise ValueError("the arrays of its adaptation do not match")
        return cls(Lexicon.load(directory / LEXICON_FILE), forest, usual)


@dataclass(frozen=True)
class JudgedPage:
    """A labelled page with the findings of the model to adapt."""

    columns: Columns
    findings: Findings
    group: str
    """The page's site, or its number if all pages are from one site."""
    labels: Sequence[str]
    content: Flags
    factor: Floats
    """Factors for the weights of blocks: 1, or 0 for a block whose label is unknown."""

    @property
    def known_words(self) -> Floats:
        """The number of words of each block, or 0 if its label is unknown."""
        return np.where(self.factor > 0, self.columns.words, 0.0)


def fit_adaptation(pages: Sequence[JudgedPage], replay: Replay | None = None) -> Adaptation:
    """Continue a model's boosting on pages, and keep it as it is on general pages."""
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
    if replay is not None:
        weights = replay.weight * sum(float(weights.sum()) for _, _, weights, _ in rows)
        rows.append((replay.matrix(lexicon), probabilities(replay.log_odds), weights, replay.log_odds))
    matrix, target, weight, log_odds = (np.concatenate(parts, axis=-1) for parts in zip(*rows, strict=True))
    likenesses = [likeness(page.columns, others[page.group]) for page in pages]
    usual = np.maximum(np.quantile(likenesses, 0.1, axis=0), 1e-6)
    return Adaptation(lexicon, grow(matrix, target, weight, SETTINGS, baseline=log_odds), usual)


def likeness(page: Columns, lexicon: Lexicon) -> Floats:
    """Return the shares of a page's tokens that a lexicon knows: of names of elements, and of words."""
    tokens = zip(lexicon.tables, (page.near_name_tokens, page.word_tokens), strict=False)
    return np.array([np.count_nonzero(table.look_up(hashes)) / max(len(hashes), 1) for table, (hashes, _) in tokens])


def _lexicon(votes: Sequence[Votes], without: str | None = None) -> Lexicon:
    """Make a lexicon of the new pages. It has no headings, because the general pages have none."""
    names, words, _ = make_lexicon(votes, without, fewest=1).tables
    return Lexicon((names, words, Table(np.zeros(0, dtype=np.uint64), np.zeros(0))))
