"""Choose the blocks to keep, given their probabilities, and estimate how good the result is.

Which words of a page are content is unknown, but their expected number is the sum of each block's words times its
probability. The blocks to keep maximise the F-measure of these expected counts. The maximum is the page's confidence.

Then headings directly above kept text are added, and the rest of tables that are mostly kept. The few words of a
heading hardly count, and a number in a cell looks like noise. But readers miss a heading, and a table with gaps is
worse than no table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from victorpy.base.variables import FAVORS
from victorpy.columns import Columns, Counts, Flags, Floats
from victorpy.config import Config

BETA = dict(zip(FAVORS, (0.5, 0.9, 2.0), strict=True))
"""The beta of the F-measure for each value of `favor`. A higher beta favours recall."""

FEWEST_BLOCKS = 5
"""Pages with fewer blocks are too short to be reported as empty because of `empty-below`."""

LEAST_PROBABLE = 0.01
"""A page has no content if no block is more probable than this."""

WORD_OF_A_BLOCK = 0.5
"""Added to the number of words of each block, so that blocks without words have some weight."""

# A table is kept whole if this share of its words is kept and no block has more words than this.
_MARKED_TABLE = 0.5, 80  # a table with header cells or a caption
_BARE_TABLE = 0.7, 40  # possibly a layout table, but its rows have several short cells
_FEWEST_TABLE_BLOCKS = 4
_FEWEST_ROWS = 2


def probabilities(log_odds: Floats) -> Floats:
    """Convert log-odds to probabilities."""
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def block_weights(page: Columns) -> Floats:
    """Return the weight of each block in scores: its number of words, plus a little."""
    return page.words + WORD_OF_A_BLOCK


def best_cut(probability: Floats, weight: Floats, beta: float = 1.0) -> tuple[float, float]:
    """Return the lowest probability to keep that maximises the expected F, and this F.

    >>> best_cut(np.array([0.9, 0.1, 0.8]), np.array([10.0, 10.0, 10.0]))
    (0.8, 0.8947368421052632)
    """
    if not len(probability):
        return 1.0, 0.0
    order = np.argsort(-probability, kind="stable")
    right, kept = np.cumsum((weight * probability)[order]), np.cumsum(weight[order])
    expected = (1 + beta**2) * right / np.maximum(kept + beta**2 * right[-1], 1e-9)
    best = int(expected.argmax())
    return float(probability[order[best]]), float(expected[best])


def expected_f1(probability: Floats, weight: Floats, kept: Flags) -> float:
    """Return the expected F1 of the kept blocks.

    If no block is kept, return the probability that the page has no content.
    """
    content = float((weight * probability).sum())
    if not kept.any():
        return float(1 - probability.max(initial=0.0))
    return float(2 * (weight * probability)[kept].sum() / (weight[kept].sum() + content))


@dataclass(frozen=True)
class Keeping:
    """How to choose the blocks to keep: by a threshold, or by the highest expected F of the page."""

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
            # A page unlike the training pages, such as a very short page, is judged relative to its best block.
            best = float(content.max(initial=0.0))
            return content >= (self.threshold * best if best > LEAST_PROBABLE else float("inf"))
        cut, expected = best_cut(content, block_weights(page), BETA[self.favor])
        least = self.empty_below if page.count >= FEWEST_BLOCKS else min(self.empty_below, LEAST_PROBABLE)
        if self.favor != "recall" and expected < least:
            return np.zeros(len(content), dtype=bool)
        kept = content >= cut
        if self.favor == "precision":
            return kept
        kept = with_whole_tables(kept, page)
        return kept | headings_above(kept, content, page, self.heading_least)


def headings_above(kept: Flags, content: Floats, page: Columns, least: float) -> Flags:
    """Return the headings directly above kept text that have at least the probability `least`."""
    is_heading = page.within("class-header")
    is_above_kept = np.zeros(len(kept), dtype=bool)
    is_above_kept[:-1] = (kept & ~is_heading)[1:]
    return is_heading & is_above_kept & (content >= least)


def with_whole_tables(kept: Flags, page: Columns) -> Flags:
    """Add the rest of data tables that are mostly kept."""
    tables = page.elements_with(["table"])
    if not len(tables):
        return kept

    def count_inside(*tags: str) -> Counts:
        """Count the elements with these tags inside each table."""
        elements = page.elements_with(tags)
        counts: Counts = np.searchsorted(elements, page.stop[tables]) - np.searchsorted(elements, tables + 1)
        return counts

    rows, cells = count_inside("tr"), count_inside("td", "th")
    is_innermost = count_inside("table") == 0
    is_marked = count_inside("th", "thead", "caption") > 0
    is_grid = (rows > _FEWEST_ROWS) & (cells >= 2 * rows)
    is_data = is_innermost & np.where(is_marked, rows >= _FEWEST_ROWS, is_grid)
    first, stop = page.block_range
    result, weight = kept.copy(), block_weights(page)
    for table, marked in zip(tables[is_data], is_marked[is_data], strict=True):
        most, longest = _MARKED_TABLE if marked else _BARE_TABLE
        blocks = slice(first[table], stop[table])
        own = weight[blocks]
        if len(own) >= _FEWEST_TABLE_BLOCKS and page.words[blocks].max() <= longest:
            result[blocks] |= own @ result[blocks] >= most * own.sum()
    return result
