"""From the scores of a chain's states and transitions to its best sequence or its probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def viterbi(states: Floats, transitions: Floats) -> npt.NDArray[np.int64]:
    """Find the label sequence with the highest score; of equal ones the first, as crfsuite does."""
    count = len(states)
    if not count:
        return np.zeros(0, dtype=np.int64)
    came_from = np.zeros(states.shape, dtype=np.int64)
    best = states[0]
    everyone = np.arange(states.shape[1])
    for at in range(1, count):
        scores = best[:, None] + transitions
        came_from[at] = scores.argmax(axis=0)
        best = scores[came_from[at], everyone] + states[at]
    path = np.zeros(count, dtype=np.int64)
    path[-1] = best.argmax()
    for at in range(count - 1, 0, -1):
        path[at - 1] = came_from[at, path[at]]
    return path


def marginals(states: Floats, transitions: Floats) -> Floats:
    """Compute how probable each label is at each place, by the forward-backward algorithm.

    A step of it is a product with a small matrix. The chain is cut into about as many parts as a part has
    steps, all parts go through their steps side by side, and the parts are joined: for a page of n
    blocks some 4 * sqrt(n) array operations instead of 4 * n.
    """
    count, labels = states.shape
    if not count:
        return np.zeros((0, labels))
    local = np.exp(states - states.max(axis=1, keepdims=True))
    steps = np.exp(transitions - transitions.max())[None] * local[1:, None, :]  # from t to t + 1
    parts = max(int(np.sqrt(count)), 1)
    length = -(-max(count - 1, 1) // parts)
    padding = np.broadcast_to(np.eye(labels), (parts * length - (count - 1), labels, labels))
    chain = np.concatenate([steps, padding]).reshape(parts, length, labels, labels)
    forward = _running_products(local[0], chain).reshape(-1, labels)
    ones = np.ones(labels)
    backward = _running_products(ones, chain[::-1, ::-1].swapaxes(2, 3)).reshape(-1, labels)[::-1]
    alpha = np.concatenate([local[:1], forward])[:count]
    beta = np.concatenate([backward, ones[None]])[:count]
    joint = alpha * beta
    return joint / joint.sum(axis=1, keepdims=True)


def _running_products(start: Floats, chain: Floats) -> Floats:
    """Multiply a row vector with the matrices of a chain, one after the other, and give it after each.

    Each vector is scaled at will: only the proportions within it matter.
    """
    parts, length, labels, _ = chain.shape
    products = np.empty_like(chain)
    product = chain[:, 0]
    products[:, 0] = product
    for step in range(1, length):
        product = product @ chain[:, step]
        product /= product.max(axis=(1, 2), keepdims=True)
        products[:, step] = product
    starts = np.empty((parts, 1, 1, labels))
    vector = start
    for part in range(parts):
        starts[part, 0, 0] = vector
        vector = vector @ products[part, -1]
        vector = vector / vector.sum()
    return (starts @ products)[:, :, 0, :]
