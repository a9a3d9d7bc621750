"""Where to cut: probabilities to what is kept, and how good the result may be expected to be.

The words of a page that are content are not known, but their number can be expected: the sum of the words of its
blocks times their probabilities. The F-measure with expectations in place of the counts is what is maximised, and
its highest value is the page's confidence.
"""

from __future__ import annotations

import numpy as np

from victorpy.columns import Columns, Flags, Floats

WORD_OF_A_BLOCK = 0.5
"""What a block weighs more than its words, so that one without any, a row of signs say, weighs something."""


def probabilities(log_odds: Floats) -> Floats:
    """Log-odds to probabilities."""
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def block_weights(page: Columns) -> Floats:
    """What the blocks of a page weigh: their words."""
    return page.words + WORD_OF_A_BLOCK


def best_cut(probability: Floats, weight: Floats, beta: float = 1.0) -> tuple[float, float]:
    """The probability from which on blocks are to be kept so that the expected F is highest, and that F.

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
    """The F1 that may be expected of the kept blocks; of a page of which nothing is kept, that this is right."""
    content = float((weight * probability).sum())
    if not kept.any():
        return float(1 - probability.max(initial=0.0))
    return float(2 * (weight * probability)[kept].sum() / (weight[kept].sum() + content))
