"""Which blocks are kept, given their probabilities, and how good the result is expected to be.

It is not known which words of a page are content, but their expected number is: the sum of the words of its blocks
times their probabilities. The F-measure of these expected numbers is maximised, and its maximum is the page's
confidence.

Then a heading stays with the text below it, and the cells of a table with each other. A heading's few words hardly
count, and a number in a cell looks like noise. But readers miss a heading, and a table with holes is worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from victorpy.base.variables import FAVORS
from victorpy.columns import Columns, Counts, Flags, Floats
from victorpy.config import Config

BETA = dict(zip(FAVORS, (0.5, 0.9, 2.0), strict=True))
"""The beta of the F-measure for each value of `favor`: how much more recall counts than precision."""

# Shorter pages are not reported as empty just because little of them looks like content.
FEWEST_BLOCKS = 5

# A page whose most probable block is no more probable than this has no content.
LEAST_PROBABLE = 0.01

WORD_OF_A_BLOCK = 0.5
"""Added to the words of a block, so that one without words, such as a row of signs, weighs something."""

# A whole table is kept if this share of its words is: of a table whose markup says that it holds data, ...
MOST_OF_MARKED = 0.5
_LONGEST_OF_MARKED = 80

# ... and of one that might be for layout, but has rows of several short cells.
MOST_OF_BARE = 0.7
_LONGEST_OF_BARE = 40

_FEWEST_BLOCKS = 4
_FEWEST_ROWS = 2


def probabilities(log_odds: Floats) -> Floats:
    """Convert log-odds to probabilities."""
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def block_weights(page: Columns) -> Floats:
    """Return the weights of a page's blocks: their words."""
    return page.words + WORD_OF_A_BLOCK


def best_cut(probability: Floats, weight: Floats, beta: float = 1.0) -> tuple[float, float]:
    """Return the lowest probability to keep so that the expected F is highest, and that F.

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
    """Return the expected F1 of the kept blocks, or if there are none, how probable it is that this is right."""
    content = float((weight * probability).sum())
    if not kept.any():
        return float(1 - probability.max(initial=0.0))
    return float(2 * (weight * probability)[kept].sum() / (weight[kept].sum() + content))


@dataclass(frozen=True)
class Keeping:
    """How the blocks to keep are chosen: by a threshold, or so that the page's expected F is highest."""

    threshold: float | None = None
    """Minimum probability, relative to the most probable block. If it is None, the expected F decides."""
    favor: str = "balanced"
    empty_below: float = 0.0
    """Pages with an expected F below this are reported as empty."""
    heading_least: float = 0.1
    """Minimum probability of a heading right above kept text."""

    @classmethod
    def of(cls, config: Config, threshold: float | None = None) -> Keeping:
        """Read what a config says; a threshold that is given comes first."""
        if threshold is None and config.one("decode", "viterbi") == "marginal":
            threshold = float(config.one("threshold", "0.5"))
        return cls(
            threshold,
            config.one("favor", cls.favor),
            float(config.one("empty-below", "0")),
            float(config.one("heading-least", "0.1")),
        )

    def kept(self, content: Floats, page: Columns) -> Flags:
        """Return which blocks are kept, given how probable it is that they are content."""
        if self.threshold is not None:
            # It is relative to the most probable block, so that a page unlike the training pages, such as a very
            # short one, is judged by its own best block.
            best = float(content.max(initial=0.0))
            return content >= (self.threshold * best if best > LEAST_PROBABLE else float("inf"))
        cut, expected = best_cut(content, block_weights(page), BETA[self.favor])
        # A page of few blocks is too short to be judged by what is around them.
        least = self.empty_below if page.count >= FEWEST_BLOCKS else min(self.empty_below, LEAST_PROBABLE)
        if self.favor != "recall" and expected < least:
            return np.zeros(len(content), dtype=bool)
        kept = content >= cut
        if self.favor == "precision":
            return kept
        kept = with_whole_tables(kept, page)
        return kept | headings_above(kept, content, page, self.heading_least)


def headings_above(kept: Flags, content: Floats, page: Columns, least: float) -> Flags:
    """Return the headings right above kept text, if they are at least this probable."""
    is_heading = page.within("class-header")
    above = np.zeros(len(kept), dtype=bool)
    above[:-1] = (kept & ~is_heading)[1:]
    return is_heading & above & (content >= least)


def with_whole_tables(kept: Flags, page: Columns) -> Flags:
    """Add the rest of data tables of which most is kept."""
    tables = page.elements_with(["table"])
    if not len(tables):
        return kept
    rows, cells = _held(tables, ["tr"], page), _held(tables, ["td", "th"], page)
    is_innermost = _held(tables, ["table"], page) == 0
    is_marked = _held(tables, ["th", "thead", "caption"], page) > 0
    is_grid = (rows > _FEWEST_ROWS) & (cells >= 2 * rows)
    result = kept.copy()
    weight = block_weights(page)
    for table in tables[is_innermost & is_marked & (rows >= _FEWEST_ROWS)]:
        _keep_whole(int(table), result, weight, page, MOST_OF_MARKED, _LONGEST_OF_MARKED)
    for table in tables[is_innermost & ~is_marked & is_grid]:
        _keep_whole(int(table), result, weight, page, MOST_OF_BARE, _LONGEST_OF_BARE)
    return result


def _held(tables: Counts, tags: Iterable[str], page: Columns) -> Counts:
    """Return how many elements with these tags each table holds."""
    elements = page.elements_with(tags)
    first, stop = (np.searchsorted(elements, at, side="left") for at in (tables + 1, page.stop[tables]))
    held: Counts = stop - first
    return held


def _keep_whole(table: int, kept: Flags, weight: Floats, page: Columns, most: float, longest: int) -> None:
    """Keep all of a table if at least `most` of its words are kept and no block has more than `longest` words."""
    first, stop = page.block_range
    blocks = slice(first[table], stop[table])
    own = weight[blocks]
    if len(own) >= _FEWEST_BLOCKS and page.words[blocks].max() <= longest:
        kept[blocks] |= own @ kept[blocks] >= most * own.sum()
