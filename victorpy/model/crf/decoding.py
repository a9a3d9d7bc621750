"""Compute the best label sequence or the label probabilities from the scores of states and transitions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def viterbi(states: Floats, transitions: Floats) -> npt.NDArray[np.int64]:
    """Return the label sequence with the highest score. Ties are resolved like in crfsuite: the first wins."""
    count = len(states)
    if not count:
        return np.zeros(0, dtype=np.int64)
    came_from = np.zeros(states.shape, dtype=np.int64)
    best = states[0]
    labels = np.arange(states.shape[1])
    for at in range(1, count):
        scores = best[:, None] + transitions
        came_from[at] = scores.argmax(axis=0)
        best = scores[came_from[at], labels] + states[at]
    path = np.zeros(count, dtype=np.int64)
    path[-1] = best.argmax()
    for at in range(count - 1, 0, -1):
        path[at - 1] = came_from[at, path[at]]
    return path


def marginals(states: Floats, transitions: Floats) -> Floats:
    """Return the probability of each label for each block, by the forward-backward algorithm.

    A step of the algorithm multiplies a vector of label weights by a small matrix. `_running_products` takes many
    steps at once: a page of n blocks needs about 4 * sqrt(n) array operations instead of 4 * n.
    """
    count, labels = states.shape
    if not count:
        return np.zeros((0, labels))
    local = np.exp(states - states.max(axis=1, keepdims=True))
    steps = np.exp(transitions - transitions.max())[None] * local[1:, None, :]  # from t to t + 1
    # The chain is cut into sqrt(n) parts of about sqrt(n) steps. Identity matrices fill the last part.
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
    """Multiply a row vector by each matrix of a chain in turn. Return the vector after each step.

    Example: a chain has two parts, A B C and D E F. First the products within both parts are computed at the same
    time: A, AB, ABC and D, DE, DEF. The vector before the first part is the start s, before the second it is s ABC.
    These vectors times the products of their parts are the result: s A, s AB, s ABC, (s ABC) D, (s ABC) DE,
    (s ABC) DEF. Vectors and products may be rescaled, because only the proportions within a vector matter.
    """
    parts, length, labels, _ = chain.shape
    products = np.empty_like(chain)
    product = products[:, 0] = chain[:, 0]
    for step in range(1, length):
        product = product @ chain[:, step]
        product /= product.max(axis=(1, 2), keepdims=True)
        products[:, step] = product
    vector = start
    vectors = np.empty((parts, 1, 1, labels))  # the vector before each part
    for part in range(parts):
        vectors[part, 0, 0] = vector
        vector = vector @ products[part, -1]
        vector = vector / vector.sum()
    return (vectors @ products)[:, :, 0, :]
