"""A sample of general pages, stored as arrays. It keeps an adapted model from getting worse on other pages.

The sample contains the inputs and labels of some blocks from the training pages of a bundled model. It contains no
text, only hashes of the words and element names that occur on several pages. It belongs to the model whose trees
computed the inputs; `python -m tools.replay` creates it for a new model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from victorpy.base.resources import shipped
from victorpy.columns import Columns, Counts, Flags, Floats
from victorpy.columns.tokens import Hashes
from victorpy.model.evidence.cut import BETA, best_cut, probabilities
from victorpy.model.evidence.lexicon import Lexicon
from victorpy.model.evidence.stage import TREES_FILE
from victorpy.model.evidence.trees import Matrix

REPLAY_FILE = "replay.npz"

WEIGHT = 2.0
"""Total weight of the general pages in training, relative to that of the new pages."""

LEVELS = 256
"""Number of distinct values of an input in the file."""


@dataclass(frozen=True)
class Replay:
    """Blocks of general pages. A lexicon can read them like `Columns`."""

    inputs: Matrix
    log_odds: Floats
    content: Flags
    weight: Floats
    """Weights of the blocks, relative to the weight of all new pages.

    Each sampled block represents several of its page.
    """
    page: Counts
    """The number of each block's page."""
    ancestors: Counts
    """The number of the name of each element above a block, one row per level and one column per block."""
    near_name_tokens: tuple[Hashes, Counts]
    """The tokens of element names, and the name that each belongs to."""
    word_tokens: tuple[Hashes, Counts]
    """Words, and the block that each belongs to."""
    totals: Counts
    """Two rows: number of name tokens and number of words on each page, including those that are not stored."""

    def likeness(self, lexicon: Lexicon) -> Floats:
        """Return two rows: for the page of each block, the shares of names and of words that a lexicon contains."""
        page_of_name = np.zeros(len(self.near_names[0]), dtype=np.int64)
        page_of_name[self.ancestors] = self.page
        shares = []
        owners = page_of_name[self.near_name_tokens[1]], self.page[self.word_tokens[1]]
        tokens = self.near_name_tokens[0], self.word_tokens[0]
        for table, hashes, page, total in zip(lexicon.tables, tokens, owners, self.totals, strict=False):
            known = np.bincount(page, table.look_up(hashes) != 0, len(total))
            shares.append(known / np.maximum(total, 1))
        return np.array(shares)[:, self.page]

    def matrix(self, lexicon: Lexicon) -> Matrix:
        """Return the inputs of an adaptation with a lexicon."""
        return np.vstack([self.inputs, lexicon.columns(cast(Columns, self))])

    @property
    def count(self) -> int:
        return len(self.content)

    @property
    def near_names(self) -> tuple[Counts, Counts]:
        last = max(int(self.ancestors.max(initial=0)), int(self.near_name_tokens[1].max(initial=0)))
        numbers = np.arange(last + 1)
        return numbers, numbers

    def ancestor(self, level: int) -> Counts:
        return cast(Counts, self.ancestors[level])

    def within(self, name: str) -> Flags:
        """Return False for every block, because headings are not stored."""
        return np.zeros(self.count, dtype=bool)

    def score(self, change: Floats | float) -> float:
        """Return the mean word F1 of the pages after a change of log-odds, estimated from the sampled blocks."""
        scores, log_odds = [], self.log_odds + change
        for number in np.unique(self.page):
            own = self.page == number
            probability, weight, content = probabilities(log_odds[own]), self.weight[own], self.content[own]
            kept = probability >= best_cut(probability, weight, BETA["balanced"])[0]
            total = float(weight[kept].sum() + weight[content].sum())
            scores.append(2 * float(weight[kept & content].sum()) / total if total else 1.0)
        return float(np.mean(scores))

    def save(self, path: Path, meta: Mapping[str, Any]) -> None:
        """Write the sample for a model, given its meta.json. Inputs are rounded to `LEVELS` values per row."""
        ranks = np.linspace(0, self.count - 1, LEVELS).round().astype(np.int64)
        values = np.sort(self.inputs, axis=1)[:, ranks]
        codes = [np.searchsorted(row, inputs) for row, inputs in zip(values, self.inputs, strict=True)]
        tokens: dict[str, npt.NDArray[Any]] = {}
        for kind, (hashes, owner) in {"name": self.near_name_tokens, "word": self.word_tokens}.items():
            distinct, token = np.unique(hashes, return_inverse=True)
            tokens |= {f"{kind}_hashes": distinct, f"{kind}_tokens": token.astype(np.uint16)}
            tokens[f"{kind}_steps"] = np.diff(owner, prepend=0).astype(np.uint16)
        np.savez_compressed(
            path,
            allow_pickle=False,
            model=np.array(meta["files"][TREES_FILE]),
            values=values,
            codes=np.array(codes).astype(np.uint8),
            log_odds=self.log_odds.astype(np.float16),
            content=self.content,
            weight=self.weight.astype(np.float16),
            page=self.page.astype(np.uint16),
            ancestors=self.ancestors.astype(np.uint16),
            totals=self.totals.astype(np.uint32),
            **tokens,
        )


def load_replay(meta: Mapping[str, Any], weight: float = WEIGHT, path: Path | None = None) -> Replay | None:
    """Read the shipped sample or another one. Returns None unless it matches the model's trees (see its meta.json).

    `weight` is the total weight of all blocks.
    """
    path = path or shipped("models") / REPLAY_FILE
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as file:
        if str(file["model"]) != meta["files"].get(TREES_FILE):
            return None
        names, words = (
            (file[f"{kind}_hashes"][file[f"{kind}_tokens"]], np.cumsum(file[f"{kind}_steps"], dtype=np.int64))
            for kind in ("name", "word")
        )
        return Replay(
            np.take_along_axis(file["values"], file["codes"].astype(np.int64), axis=1),
            file["log_odds"].astype(np.float64),
            file["content"],
            file["weight"] / file["weight"].sum(dtype=np.float64) * weight,
            file["page"].astype(np.int64),
            np.ascontiguousarray(file["ancestors"], dtype=np.int64),
            names,
            words,
            file["totals"].astype(np.int64),
        )
