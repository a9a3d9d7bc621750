# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""The native twin of model/crf/: the scores of blocks and the forward-backward algorithm."""

from libc.stdint cimport int32_t, int64_t

import numpy as np


def marginals(const double[:, ::1] local, const double[:, ::1] steps):
    """Return the probability of each label for each block, given weights of labels and of steps between them.

    Twin of `tables.marginals`: block by block, with the weights of every block scaled to a sum of 1.
    """
    cdef Py_ssize_t count = local.shape[0], labels = local.shape[1], at, i, k
    cdef double[:, ::1] alpha = np.empty((count, labels)), beta = np.empty((count, labels))
    cdef double total, weight
    with nogil:
        for at in range(count):
            total = 0
            for k in range(labels):
                weight = 1
                if at:
                    weight = 0
                    for i in range(labels):
                        weight += alpha[at - 1, i] * steps[i, k]
                alpha[at, k] = weight * local[at, k]
                total += alpha[at, k]
            for k in range(labels):
                alpha[at, k] /= total
        for at in range(count - 1, -1, -1):
            total = 0
            for i in range(labels):
                weight = 1
                if at + 1 < count:
                    weight = 0
                    for k in range(labels):
                        weight += steps[i, k] * local[at + 1, k] * beta[at + 1, k]
                beta[at, i] = weight
                total += weight
            for i in range(labels):
                beta[at, i] /= total
        for at in range(count):
            total = 0
            for k in range(labels):
                alpha[at, k] *= beta[at, k]
                total += alpha[at, k]
            for k in range(labels):
                alpha[at, k] /= total
    return np.asarray(alpha)


def states(
    const int64_t[:, :] codes, const int64_t[::1] blocks, int64_t reach, const int64_t[::1] sizes,
    const int64_t[:, ::1] features, const int64_t[:, ::1] offsets, const int64_t[:, ::1] weights,
    const int64_t[::1] bases, const int32_t[::1] rows, const double[:, ::1] table,
):
    """Return the score of every label for the given blocks. Twin of `Tables.states`."""
    cdef Py_ssize_t lines = features.shape[1], deepest = features.shape[0], labels = table.shape[1]
    cdef Py_ssize_t page = codes.shape[1], at, line, depth, label
    cdef int64_t number, place, code, feature
    cdef double[:, ::1] scores = np.zeros((blocks.shape[0], labels))
    for at in range(blocks.shape[0]):
        for line in range(lines):
            number = bases[line]
            for depth in range(deepest):
                if weights[depth, line]:
                    feature = features[depth, line]
                    place = blocks[at] + offsets[depth, line]
                    number += weights[depth, line] * padded(codes, feature, place, page, reach, sizes[feature])
            for label in range(labels):
                scores[at, label] += table[rows[number], label]
    return np.asarray(scores)


cdef inline int64_t padded(
    const int64_t[:, :] codes, int64_t feature, int64_t place, Py_ssize_t page, int64_t reach, int64_t size
) noexcept:
    """Return the code of a feature at a place, which may be outside the page. Twin of `template.padded`."""
    if place < 0:
        return -place - 1
    if place >= page:
        return reach + place - page
    return 2 * reach + (codes[feature, place] if codes[feature, place] < size else size)
