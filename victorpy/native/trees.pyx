# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""The native twin of parts of model/evidence/: forests, look-ups in the lexicon and their summaries."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libcpp.vector cimport vector

import numpy as np


def forest_scores(
    const float[:, ::1] matrix, const int32_t[:, ::1] features, const float[:, ::1] borders, const double[:, ::1] leaves
):
    """Return the sum of the trees' leaves for each block, one row per class. Twin of `Forest._scores`.

    All blocks answer one question after another, which compilers turn into a few vector instructions.
    """
    cdef Py_ssize_t trees = features.shape[0], depth = features.shape[1], blocks = matrix.shape[1]
    cdef Py_ssize_t classes = leaves.shape[0], tree, level, block, row
    cdef double[:, ::1] scores = np.zeros((classes, blocks))
    cdef vector[int32_t] leaf
    cdef int32_t *leaf_of
    cdef const float *values
    cdef const double *added
    cdef double *sums
    cdef float border
    cdef int32_t bit
    if not blocks:
        return np.asarray(scores)
    leaf.resize(blocks)
    leaf_of = leaf.data()
    with nogil:
        for tree in range(trees):
            for block in range(blocks):
                leaf_of[block] = 0
            for level in range(depth):
                values = &matrix[features[tree, level], 0]
                border = borders[tree, level]
                bit = 1 << level
                for block in range(blocks):
                    leaf_of[block] += bit if values[block] > border else 0
            for row in range(classes):
                added = &leaves[row, tree << depth]
                sums = &scores[row, 0]
                for block in range(blocks):
                    sums[block] += added[leaf_of[block]]
    return np.asarray(scores)


def shifted_rows(
    const float[:, ::1] table, const int64_t[::1] features, const int64_t[::1] offsets, float outside
):
    """Return rows of a table, each moved by an offset. Twin of the end of `Inputs.matrix`."""
    cdef Py_ssize_t rows = features.shape[0], blocks = table.shape[1], row, block, source
    cdef float[:, ::1] matrix = np.empty((rows, blocks), dtype=np.float32)
    for row in range(rows):
        for block in range(blocks):
            source = block + offsets[row]
            matrix[row, block] = table[features[row], source] if 0 <= source < blocks else outside
    return np.asarray(matrix)


def look_up(const uint64_t[::1] hashes, const uint64_t[::1] known, const double[::1] odds, const int64_t[::1] starts, int shift):
    """Return the log-odds of tokens, 0 if a token is unknown. Twin of `Table.look_up`."""
    cdef Py_ssize_t i, row, count = hashes.shape[0], size = known.shape[0]
    cdef double[::1] found = np.zeros(count)
    cdef uint64_t token
    if size:
        for i in range(count):
            token = hashes[i]
            row = starts[token >> shift]
            while row < size and known[row] < token:
                row += 1
            if row < size and known[row] == token:
                found[i] = odds[row]
    return np.asarray(found)


def summary(const double[::1] values, const int64_t[::1] owner, Py_ssize_t count):
    """Return each owner's minimum, maximum, sum and count of values. Twin of `lexicon._summary`."""
    cdef double[:, ::1] rows = np.zeros((4, count))
    cdef Py_ssize_t i, k
    for i in range(values.shape[0]):
        k = owner[i]
        if values[i] < rows[0, k]:
            rows[0, k] = values[i]
        if values[i] > rows[1, k]:
            rows[1, k] = values[i]
        rows[2, k] += values[i]
        rows[3, k] += 1
    return np.asarray(rows)
