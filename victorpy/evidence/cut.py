"""Where to cut: probabilities to what is kept, and how good the result may be expected to be.

The words of a page that are content are not known, but their number can be expected: the sum of the words of its
blocks times their probabilities. The F-measure with expectations in place of the counts is what is maximised, and
its highest value is the page's confidence.

Blocks are not right or wrong one by one, though: if one of a page's reviews is content, all of them are. With
`together` the F-measure is expected over several guesses at the page, from one that takes hardly anything for content
to one that takes almost everything, so that a large part that is as probable as not is not kept for its size alone.
"""

from __future__ import annotations

import numpy as np

from victorpy.columns import Columns, Flags, Floats

WORD_OF_A_BLOCK = 0.5
"""What a block weighs more than its words, so that one without any, a row of signs say, weighs something."""

# The guesses: how far the log-odds of all blocks are shifted, in standard deviations; the middles of seven equally
# probable parts of the normal distribution.
_GUESSES = np.array([-1.4652, -0.7916, -0.3661, 0.0, 0.3661, 0.7916, 1.4652])[:, None]

# A normal distribution of log-odds with this variance is about as wide as the logistic one.
_LOGISTIC_VARIANCE = 2.89


def probabilities(log_odds: Floats) -> Floats:
    """Log-odds to probabilities."""
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def block_weights(page: Columns) -> Floats:
    """What the blocks of a page weigh: their words."""
    return page.words + WORD_OF_A_BLOCK


def best_cut(probability: Floats, weight: Floats, beta: float = 1.0, together: float = 0.0) -> tuple[float, float]:
    """The probability from which on blocks are to be kept so that the expected F is highest, and that F.

    >>> best_cut(np.array([0.9, 0.1, 0.8]), np.array([10.0, 10.0, 10.0]))
    (0.8, 0.8947368421052632)

    A hundred words that are content, and two thousand that may be:

    >>> sure_and_large = np.array([0.95, 0.25]), np.array([100.0, 2000.0])
    >>> best_cut(*sure_and_large)[0], best_cut(*sure_and_large, together=3.0)[0]
    (0.25, 0.95)
    """
    if not len(probability):
        return 1.0, 0.0
    order = np.argsort(-probability, kind="stable")
    guesses = probability[None, order] if not together else _guess(probability[order], together)
    right, kept = np.cumsum(weight[order] * guesses, axis=1), np.cumsum(weight[order])
    expected = ((1 + beta**2) * right / np.maximum(kept + beta**2 * right[:, -1:], 1e-9)).mean(axis=0)
    best = int(expected.argmax())
    return float(probability[order[best]]), float(expected[best])


def _guess(probability: Floats, together: float) -> Floats:
    """What the probabilities are in each guess, a row each; over all guesses they have the means that were given."""
    safe = np.clip(probability, 1e-9, 1 - 1e-9)
    stretched = np.log(safe / (1 - safe)) * np.sqrt(1 + together**2 / _LOGISTIC_VARIANCE)
    return probabilities(stretched + together * _GUESSES)


def expected_f1(probability: Floats, weight: Floats, kept: Flags) -> float:
    """The F1 that may be expected of the kept blocks; of a page of which nothing is kept, that this is right."""
    content = float((weight * probability).sum())
    if not kept.any():
        return float(1 - probability.max(initial=0.0))
    return float(2 * (weight * probability)[kept].sum() / (weight[kept].sum() + content))
