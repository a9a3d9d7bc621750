"""Which blocks are kept, given their probabilities, and how good the result is expected to be.

It is not known which words of a page are content, but their expected number is: the sum of the words of its blocks
times their probabilities. The F-measure of these expected numbers is maximised, and its maximum is the page's
confidence.
"""

from __future__ import annotations

import numpy as np

from victorpy.columns import Columns, Flags, Floats

WORD_OF_A_BLOCK = 0.5
"""Added to the words of a block, so that one without words, such as a row of signs, weighs something."""


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
