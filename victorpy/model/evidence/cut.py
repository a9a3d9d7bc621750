"""Choose the blocks to keep, given their probabilities, and estimate how good the result is.

The expected number of content words is the sum of each block's words times its probability. The kept blocks maximise
the F-measure of these expected counts, and the maximum is the page's confidence.

The log-odds of blocks that look alike, such as the records of a list, are moved towards each other. Units, such as
listings and data tables, are kept as a whole or not at all, because a table with gaps is worse than no table.

Then blocks are added that have few words but that readers miss: headings directly above kept text, the headline, and
facts, formulas, tables and boxes between kept blocks. In a thread, all posts are added. Hidden copies of kept text and
links such as "Skip to content" and "Share" are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from victorpy import native
from victorpy.base.variables import FAVORS
from victorpy.columns import Columns, Flags, Floats
from victorpy.columns.elements import running_total
from victorpy.config import Config
from victorpy.model.evidence.additions import (
    STRONG,
    facts_between,
    gaps_between,
    headings_above,
    headline_above,
    introduced_lists,
    units_between,
)
from victorpy.model.evidence.removals import (
    buttons,
    consents,
    controls,
    headline_copies,
    hidden_copies,
    strays,
    visible_copies,
)
from victorpy.model.evidence.threads import posts, profiles
from victorpy.model.evidence.units import Ranges, find_units

_native = native.load("trees")

REMOVALS = (hidden_copies, visible_copies, headline_copies, buttons, controls, profiles, consents, strays)

BETA = dict(zip(FAVORS, (0.5, 0.8, 2.0), strict=True))
"""The beta of the F-measure for each value of `favor`. A higher beta favours recall."""

FEWEST_BLOCKS = 5
"""Pages with fewer blocks are too short to be judged by `empty-below`."""

SHORT_PAGE = 60
"""Pages with fewer words are short. Blocks in their main part are only dropped if the evidence is strong."""

LEAST_PROBABLE = 0.01
"""A page has no content if no block is more probable than this."""

WORD_OF_A_BLOCK = 0.5
"""Number of words that is added to each block, so that blocks without words have some weight."""

# Minimum probability of facts, such as the price of a book. It is higher if the expected F is high: most such pages are
# articles, where short texts between paragraphs are dates and advertisements.
_SURE = 0.93
_FACT_LEAST, _FACT_LEAST_IF_SURE = 0.1, 0.3


def probabilities(log_odds: Floats) -> Floats:
    """Convert log-odds to probabilities."""
    return np.asarray(1 / (1 + np.exp(np.minimum(-log_odds, 700))))  # larger exponents overflow


def block_weights(page: Columns) -> Floats:
    """Return the weight of each block in scores: its number of words, plus a little."""
    return page.words + WORD_OF_A_BLOCK


def best_cut(probability: Floats, weight: Floats, beta: float = 1.0) -> tuple[float, float]:
    """Return the lowest kept probability that maximises the expected F, and this F.

    >>> best_cut(np.array([0.9, 0.1, 0.8]), np.array([10.0, 10.0, 10.0]))
    (0.8, 0.8947368421052632)
    """
    if not len(probability):
        return 1.0, 0.0
    if _native:
        found: tuple[float, float] = _native.best_cut(probability, weight, beta**2)
        return found
    order = np.argsort(-probability, kind="stable")
    right, kept = np.cumsum((weight * probability)[order]), np.cumsum(weight[order])
    expected = (1 + beta**2) * right / np.maximum(kept + beta**2 * right[-1], 1e-9)
    best = int(expected.argmax())
    return float(probability[order[best]]), float(expected[best])


def expected_f1(probability: Floats, weight: Floats, kept: Flags) -> float:
    """Return the expected F1 of the kept blocks.

    If no block is kept, return the probability that the page has no content.
    """
    if not kept.any():
        return float(1 - probability.max(initial=0.0))
    content = weight * probability
    return float(2 * content[kept].sum() / (weight[kept].sum() + content.sum()))


@dataclass(frozen=True)
class Keeping:
    """How the blocks to keep are chosen: by a threshold, or by the highest expected F of the page."""

    threshold: float | None = None
    """Minimum probability, relative to the most probable block. If None, the expected F decides."""
    favor: str = "balanced"
    empty_below: float = 0.0
    """Pages with an expected F below this are reported as empty."""
    heading_least: float = 0.1
    """Minimum probability of a heading directly above kept text."""

    @classmethod
    def of(cls, config: Config, threshold: float | None = None) -> Keeping:
        """Read the settings of a config. A given threshold overrides the config."""
        if threshold is None and config.one("decode", "viterbi") == "marginal":
            threshold = float(config.one("threshold", "0.5"))
        return cls(
            threshold,
            config.one("favor", cls.favor),
            float(config.one("empty-below", "0")),
            float(config.one("heading-least", "0.1")),
        )

    def kept(self, content: Floats, page: Columns) -> Flags:
        """Return which blocks are kept, given their probabilities of being content."""
        if self.threshold is not None:
            # The threshold is relative to the best block, because pages unlike the training pages have low
            # probabilities.
            best = float(content.max(initial=0.0))
            return content >= (self.threshold * best if best > LEAST_PROBABLE else float("inf"))
        units = find_units(page)
        content = pool_units(pool_alike(content, page), page, units)
        cut, expected = best_cut(content, block_weights(page), BETA[self.favor])
        least = self.empty_below if page.count >= FEWEST_BLOCKS else min(self.empty_below, LEAST_PROBABLE)
        if self.favor != "recall" and expected < least:
            return np.zeros(len(content), dtype=bool)
        kept = content >= cut
        if self.favor != "precision":
            if page.count < FEWEST_BLOCKS or page.all_words < SHORT_PAGE:
                kept |= in_short_pages(page) & (content >= STRONG)
            if self.heading_least < 1:
                kept[headings_above(kept, content, page, self.heading_least)] = True
            gaps = gaps_between(kept)
            kept[units_between(gaps, content, page) + introduced_lists(gaps, content, page)] = True
            kept |= posts(kept, page, content >= STRONG)
        kept[headline_above(kept, content, page)] = True
        if self.favor != "precision":
            is_sure = self.favor == "balanced" and expected >= _SURE
            kept[facts_between(kept, content, page, units, _FACT_LEAST_IF_SURE if is_sure else _FACT_LEAST)] = True
        kept[[number for rule in REMOVALS for number in rule(kept, page)]] = False
        return kept


def pool_alike(content: Floats, page: Columns) -> Floats:
    """Move the log-odds of blocks that look alike towards their mean.

    The smaller their variance, the further they move.

    On a new kind of page, the model often recognises only some of the records of a list.
    """
    look, log_odds, count = page.look, _log_odds(content), page.look_sums.blocks
    mean = np.bincount(look, log_odds)[look] / count
    distance = mean - log_odds
    variance = np.bincount(look, distance * distance)[look] / count
    return probabilities(log_odds + distance / (1 + variance))


def _log_odds(content: Floats) -> Floats:
    clipped = np.minimum(np.maximum(content, 1e-6), 1 - 1e-6)  # this is faster than np.clip
    return np.asarray(np.log(clipped / (1 - clipped)))


def pool_units(content: Floats, page: Columns, units: Ranges) -> Floats:
    """Give all blocks of a unit the same probability, from the mean of their log-odds, weighted by words."""
    first, stop = units
    if not len(first):
        return content
    weight = block_weights(page)
    sums, weights = running_total(weight * _log_odds(content)), running_total(weight)
    means = probabilities((sums[stop] - sums[first]) / (weights[stop] - weights[first]))
    pooled = content.copy()
    for begin, end, mean in zip(first.tolist(), stop.tolist(), means.tolist(), strict=True):
        pooled[begin:end] = mean
    return pooled


def in_short_pages(page: Columns) -> Flags:
    """Return the blocks of a page with very few blocks, or the blocks in the main part of a page with few words.

    Blocks that are mostly links are left out.
    """
    is_text = page.link_words <= 0.5 * page.words
    return is_text if page.count < FEWEST_BLOCKS else is_text & (page.within("article") | page.within("main"))
