"""Adapt a trained model to pages of one's own: a few more trees, and a lexicon of these pages.

The trees continue boosting from the model's log-odds. Their inputs are those of the model's last trees, and columns
from a lexicon of the new pages. In training, the lexicon for a page leaves out the page itself, or its site.

Only pages that are like the new pages are adapted. So a model that is adapted to one site stays as it is for others.
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
from victorpy.model.evidence.lexicon import COLUMNS as LEXICON_COLUMNS
from victorpy.model.evidence.lexicon import Lexicon, Poll, Table, Votes, spell
from victorpy.model.evidence.replay import Replay
from victorpy.model.evidence.stage import Findings, make_lexicon, training_weights
from victorpy.model.evidence.trees import CATBOOST, Forest, Matrix, grow

LEXICON_FILE = "adaptation.tsv"
TREES_FILE = "adaptation.npy"

SETTINGS: dict[str, Any] = {
    "learner": CATBOOST,
    "random_seed": 1,
    "iterations": 80,
    "depth": 4,
    "learning_rate": 0.05,
    "l2_leaf_reg": 10,
    "border_count": 64,
    "rsm": 0.3,
}
"""Settings of the trees, chosen on kinds of pages that the bundled model was not trained on."""

FEWEST_GROUPS = 1
"""Tokens on fewer of the new pages, or sites if there are several, are left out."""

LIKENESS, UNLIKE = 0.9, 0.75
"""A page is adapted in full if it is nearly as much like the new pages as these are like each other.

A page that is like them 0.75 times as much, or less, is not adapted.
"""


@dataclass(frozen=True)
class Adaptation:
    """A lexicon of the new pages, trees that correct log-odds, and which pages they are for."""

    lexicon: Lexicon
    forest: Forest
    likeness: Floats
    """Pages that are at least this much like the new pages, by names and by words, are adapted in full."""

    def judge(self, page: Columns, findings: Findings) -> Findings:
        """Correct the findings of the model's own trees."""
        strength = self.strength(likeness(page, self.lexicon))
        if not strength:
            return findings
        matrix = np.vstack([findings.inputs, self.lexicon.columns(page)])
        return replace(findings, log_odds=self.adjust(matrix, findings.log_odds, strength))

    def adjust(self, matrix: Matrix, log_odds: Floats, strength: Floats | float) -> Floats:
        """Correct log-odds, given the inputs of the model's trees and the columns of the lexicon."""
        return log_odds + strength * self.forest.log_odds(matrix)

    def strength(self, likeness: Floats) -> Floats:
        """Return how much pages with a likeness are adapted, from 0 to 1."""
        ratio = likeness / self.likeness.reshape(-1, *[1] * (likeness.ndim - 1))
        return np.clip((ratio - UNLIKE) / (1 - UNLIKE), 0.0, 1.0).prod(axis=0)

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
            np.save(file, self.likeness, allow_pickle=False)
            self.forest.save(file)

    @classmethod
    def load(cls, directory: Path, evidence_inputs: int) -> Adaptation:
        """Read what `save` wrote, given the number of inputs of the model's last trees for content."""
        lexicon = Lexicon.load(directory / LEXICON_FILE)
        file = io.BytesIO(read_bounded(directory / TREES_FILE, MOST_BYTES))
        usual = checked(read_array(file, "likeness"), np.float64, "likeness", 1e-6, 1)
        forest = Forest.load(file, evidence_inputs + len(LEXICON_COLUMNS))
        if usual.shape != (2,) or len(forest.bias) != 1:
            raise ValueError("the arrays of its adaptation do not match")
        return cls(lexicon, forest, usual)


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


def fit_adaptation(
    pages: Sequence[JudgedPage], replay: Replay | None = None, replayed: Flags | slice = slice(None)
) -> Adaptation:
    """Continue a model's boosting on pages, and on some blocks of general pages so that these are not forgotten."""
    poll = Poll()
    for page in pages:
        poll.add(page.columns, page.content, page.group, page.factor > 0)
    votes = poll.votes()
    others = {group: _lexicon(votes, group) for group in {page.group for page in pages}}
    rows: list[tuple[Matrix, Flags, Floats, Floats]] = []
    for page in pages:
        matrix = np.vstack([page.findings.inputs, others[page.group].columns(page.columns)])
        rows.append((matrix, page.content, training_weights(page.columns) * page.factor, page.findings.log_odds))
    lexicon = _lexicon(votes)
    likenesses = np.stack([likeness(page.columns, others[page.group]) for page in pages])
    usual = np.maximum(LIKENESS * np.quantile(likenesses, 0.1, axis=0), 1e-6)
    if replay is not None:
        general = replay.matrix(lexicon), replay.content, replay.weight, replay.log_odds
        rows.append(tuple(array[..., replayed] for array in general))  # type: ignore[arg-type]
    matrices, content, weights, log_odds = zip(*rows, strict=True)
    forest = grow(
        np.hstack(matrices),
        np.concatenate(content),
        np.concatenate(weights),
        SETTINGS,
        baseline=np.concatenate(log_odds),
    )
    return Adaptation(lexicon, forest, usual)


def likeness(page: Columns, lexicon: Lexicon) -> Floats:
    """Return the shares of a page's tokens that a lexicon knows: of names of elements, and of words."""
    known = []
    for table, (hashes, _) in zip(lexicon.tables, (page.near_name_tokens, page.word_tokens), strict=False):
        known.append(np.count_nonzero(table.look_up(hashes)) / max(len(hashes), 1))
    return np.array(known)


def _lexicon(votes: Sequence[Votes], without: str | None = None) -> Lexicon:
    """Make a lexicon of the new pages. It has no headings, because the general pages have none."""
    names, words, _ = make_lexicon(votes, without, FEWEST_GROUPS).tables
    return Lexicon((names, words, Table(np.zeros(0, dtype=np.uint64), np.zeros(0))))
