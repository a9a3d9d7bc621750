"""Choose a label for every block from the findings of the trees and the scores of the CRF.

Without trees, the CRF decides alone. Otherwise the trees decide which blocks are content. The CRF, together with the
trees for kinds if there are any, decides which kind of content they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from victorpy.columns import Columns, Flags
from victorpy.config import Config
from victorpy.document import Label
from victorpy.model.crf.tables import Floats, Tables, marginals, viterbi
from victorpy.model.encode import Codes
from victorpy.model.evidence import Findings, Keeping, probabilities

_NEVER = 200.0  # subtracted from the score of a forbidden label; much larger than any score
_LISTS = ("ul", "ol", "dl", "menu", "dir", "li", "dt", "dd", "td", "th")


class Decoded(NamedTuple):
    """The labels of a page."""

    labels: npt.NDArray[np.int64]
    """The index of each block's label."""
    shares: Floats
    """The probability of every label, one row per block."""
    content: Floats
    """The probability that each block is content."""


@dataclass(frozen=True)
class Decoder:
    """Chooses labels with a trained CRF, by the method of the config variable `decode`."""

    crf: Tables
    kinds: tuple[str, ...]
    """The labels of the trees for kinds, if there are any."""
    decode: str
    keeping: Keeping
    kinds_share: float
    """Weight of the trees for kinds. The remaining weight goes to the CRF."""
    kinds_content_share: float
    """Weight of the trees for kinds in the decision whether a block is content."""

    @classmethod
    def of(cls, config: Config, crf: Tables, kinds: tuple[str, ...] = (), threshold: float | None = None) -> Decoder:
        """Read the settings of a config. A given threshold overrides the config."""
        return cls(
            crf,
            kinds,
            config.one("decode", "viterbi") if threshold is None else "marginal",
            Keeping.of(config, threshold),
            float(config.one("kinds-share", "0.5")),
            float(config.one("kinds-content-share", "0")),
        )

    def choose(self, page: Columns, codes: Codes, findings: Findings | None) -> Decoded:
        """Choose the labels of a page from the encoded features of the CRF and the findings of the trees."""
        if findings is None:
            return self._by_crf(page, codes)
        if self.decode == "viterbi" or self.crf.noise < 0:
            return self._by_crf(page, codes)._replace(content=probabilities(findings.log_odds))
        if self.decode == "label":
            return self._by_block(codes, findings)
        return self._by_kept_blocks(page, codes, findings)

    def _by_crf(self, page: Columns, codes: Codes) -> Decoded:
        crf, states = self.crf, self.crf.states(codes)
        shares = marginals(states, crf.transitions)
        content = shares[:, ~crf.is_noise].sum(axis=1)
        if self.decode == "viterbi":
            return Decoded(viterbi(states, crf.transitions), shares, content)
        if self.decode == "label":
            return Decoded(shares.argmax(axis=1), shares, content)
        best_kind = np.where(crf.is_noise, -1.0, shares).argmax(axis=1)
        return Decoded(np.where(self.keeping.kept(content, page), best_kind, crf.noise), shares, content)

    def _by_block(self, codes: Codes, findings: Findings) -> Decoded:
        """Choose the most probable label of each block."""
        crf, log_odds = self.crf, findings.log_odds
        if findings.block_log_odds is not None:  # these trees weight all blocks equally
            share = self.kinds_content_share
            log_odds = (1 - share) * log_odds + share * findings.block_log_odds
        content = probabilities(log_odds)
        by_crf = marginals(crf.states(codes), crf.transitions)
        # Scale the probabilities of kinds so that they add up to the probability of content.
        kinds = np.where(crf.is_noise, 0.0, self._with_trees(by_crf, findings))
        kinds *= (content / np.maximum(kinds.sum(axis=1), 1e-12))[:, None]
        shares = np.where(crf.is_noise, 1 - content[:, None], kinds)
        return Decoded(shares.argmax(axis=1), shares, content)

    def _by_kept_blocks(self, page: Columns, codes: Codes, findings: Findings) -> Decoded:
        """Choose the blocks to keep, and then the most probable kind of each kept block."""
        crf, content = self.crf, probabilities(findings.log_odds)
        keep = self.keeping.kept(content, page)
        # A noise block cuts the chain, because its label is certain. So only kept blocks and their neighbours are
        # scored: in K n n n K, the block in the middle is left out.
        is_scored = keep.copy()
        is_scored[1:] |= keep[:-1]
        is_scored[:-1] |= keep[1:]
        scored = np.flatnonzero(is_scored)
        states = crf.states(codes, scored)
        # Kept blocks cannot be noise, and other blocks cannot be anything else. List items are inside lists or tables.
        is_kept = keep[scored]
        states -= _NEVER * (is_kept[:, None] == crf.is_noise)
        if Label.LIST in crf.labels:
            states[:, crf.labels.index(Label.LIST)] -= _NEVER * ~page.within_any(*_LISTS)[scored]
        by_crf = marginals(states, crf.transitions)[is_kept]
        shares = np.zeros((page.count, len(crf.labels)))
        shares[:, crf.noise] = 1 - content
        shares[keep] = self._with_trees(by_crf, findings, keep) * content[keep, None]
        return Decoded(np.where(keep, shares.argmax(axis=1), crf.noise), shares, content)

    def _with_trees(self, by_crf: Floats, findings: Findings, blocks: Flags | slice = slice(None)) -> Floats:
        """Return the weighted geometric mean of the CRF's probabilities and those of the trees for kinds.

        So if either of them rules out a kind, it is impossible.
        """
        if findings.kinds is None:
            return by_crf
        trees = np.zeros_like(by_crf)
        trees[:, [self.crf.labels.index(label) for label in self.kinds]] = findings.kinds[blocks]
        joined = by_crf ** (1 - self.kinds_share) * trees**self.kinds_share
        return np.asarray(joined / np.maximum(joined.sum(axis=1, keepdims=True), 1e-300))
