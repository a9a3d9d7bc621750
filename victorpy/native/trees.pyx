# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""The native twin of parts of model/evidence/: inputs, forests, the lexicon and the context of blocks."""

from libc.math cimport isfinite
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset
from libcpp.algorithm cimport sort
from libcpp.utility cimport pair
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


cdef enum:
    WORDS = 4  # words of 64 blocks that are evaluated together
    MOST_LEAVES = 64
    LEAF_BITS = 6


def leafwise_scores(
    const float[:, ::1] matrix, const int32_t[::1] features, const int32_t[::1] starts, const float[::1] borders,
    const int32_t[::1] questions, const int8_t[::1] sizes, const int8_t[:, ::1] children, const double[::1] leaves,
):
    """Return the sum of the trees' leaves for each block. Twin of `LeafwiseForest._leaf_indices`.

    Sets of blocks are bits of words. First each distinct question gets the set of blocks that answer yes. A tree then
    divides the set of all blocks question by question, which takes a few operations for many blocks. At the end each
    leaf has a set. The sets of leaves whose numbers have bit b make up bit b of the numbers of the blocks' leaves.
    """
    cdef Py_ssize_t blocks = matrix.shape[1], trees = sizes.shape[0], part, start, count, block, tree, group
    cdef Py_ssize_t row, question, first, leaf, first_leaf, size, low, left, half, bit, begin, word
    cdef double[:, ::1] scores = np.zeros((1, blocks))
    cdef vector[uint64_t] all_answers
    cdef uint64_t *answers
    cdef uint64_t *answer
    cdef uint64_t *no
    cdef uint64_t *yes
    cdef uint64_t *here
    cdef uint64_t sets[2 * MOST_LEAVES][WORDS]
    cdef uint64_t planes[LEAF_BITS][WORDS]
    cdef uint8_t leaf_of[64 * WORDS]
    cdef uint64_t square
    cdef const float *values
    cdef const double *added
    cdef float value
    all_answers.resize((borders.shape[0] + 1) * WORDS)
    answers = all_answers.data()
    with nogil:
        for part in range((blocks + 64 * WORDS - 1) / (64 * WORDS)):
            start = part * 64 * WORDS
            count = min(blocks - start, 64 * WORDS)
            memset(answers, 0, all_answers.size() * sizeof(uint64_t))
            for row in range(features.shape[0]):
                values = &matrix[features[row], start]
                for block in range(count):
                    # A block answers yes to the questions whose borders are below its value. It is added to the last
                    # of these questions, and below to the earlier ones.
                    value = values[block]
                    low, left = starts[row], starts[row + 1] - starts[row]
                    while left:  # a binary search without branches that depend on the value
                        half = (left + 1) >> 1
                        low += half * (borders[low + half - 1] < value)
                        left -= half
                    if low > starts[row]:
                        answers[(low - 1) * WORDS + (block >> 6)] |= <uint64_t>1 << (block & 63)
                for question in range(starts[row + 1] - 2, starts[row] - 1, -1):
                    for word in range(WORDS):
                        answers[question * WORDS + word] |= answers[(question + 1) * WORDS + word]
            first = first_leaf = 0
            for tree in range(trees):
                size = sizes[tree]
                for word in range(WORDS):
                    sets[0][word] = ~<uint64_t>0
                for question in range(size):
                    answer = answers + questions[first + question] * WORDS
                    here = sets[question]
                    no = sets[slot(children[first + question, 0], size)]
                    yes = sets[slot(children[first + question, 1], size)]
                    for word in range(WORDS):
                        no[word] = here[word] & ~answer[word]
                        yes[word] = here[word] & answer[word]
                memset(planes, 0, sizeof(planes))
                for bit in range(LEAF_BITS):
                    begin = 1 << bit
                    while begin <= size:
                        for leaf in range(begin, min(begin + (1 << bit), size + 1)):
                            for word in range(WORDS):
                                planes[bit][word] |= sets[size + leaf][word]
                        begin += 2 << bit
                for group in range((count + 7) >> 3):
                    square = 0
                    for bit in range(LEAF_BITS):
                        square |= ((planes[bit][group >> 3] >> (8 * (group & 7))) & 0xFF) << (8 * bit)
                    store_transposed(square, leaf_of + 8 * group)
                added = &leaves[first_leaf]
                for block in range(count):
                    scores[0, start + block] += added[leaf_of[block]]
                first += size
                first_leaf += size + 1
    return np.asarray(scores)


cdef inline Py_ssize_t slot(int8_t child, Py_ssize_t size) noexcept nogil:
    return child if child >= 0 else size + ~child


cdef inline void store_transposed(uint64_t square, uint8_t *rows) noexcept nogil:
    """Swap the rows and columns of 8 x 8 bits, and store the rows (Warren, Hacker's Delight, 7-3)."""
    cdef uint64_t swap
    cdef int row
    swap = (square ^ (square >> 7)) & 0x00AA00AA00AA00AAu
    square ^= swap ^ (swap << 7)
    swap = (square ^ (square >> 14)) & 0x0000CCCC0000CCCCu
    square ^= swap ^ (swap << 14)
    swap = (square ^ (square >> 28)) & 0x00000000F0F0F0F0u
    square ^= swap ^ (swap << 28)
    for row in range(8):
        rows[row] = (square >> (8 * row)) & 0xFF


def shifted_rows(
    const double[:, ::1] table, const int64_t[::1] features, const int64_t[::1] offsets, float outside
):
    """Return rows of a table, each moved by an offset, or None if a value is not finite. Twin of `Inputs.matrix`."""
    cdef Py_ssize_t rows = features.shape[0], blocks = table.shape[1], row, block, source
    cdef float value
    matrix = np.empty((rows, blocks), dtype=np.float32)
    cdef float[:, ::1] filled = matrix
    for row in range(rows):
        for block in range(blocks):
            source = block + offsets[row]
            value = <float>table[features[row], source] if 0 <= source < blocks else outside
            if not isfinite(value):
                return None
            filled[row, block] = value
    return matrix


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


def name_rows(const double[:, ::1] by_name, const int64_t[::1] name_of_element, const int64_t[:, ::1] ancestors, int near):
    """Return the summaries of the names around blocks: of the first three levels, and of all. Twin in `Lexicon.columns`."""
    cdef Py_ssize_t blocks = ancestors.shape[1], block
    cdef int level, what
    cdef int64_t name
    cdef double[:, ::1] rows = np.zeros((12, blocks))
    for block in range(blocks):
        for level in range(near):
            name = name_of_element[ancestors[level, block]]
            if level < 3:
                for what in range(3):
                    rows[3 * level + what, block] = by_name[what, name]
            if by_name[0, name] < rows[9, block]:
                rows[9, block] = by_name[0, name]
            if by_name[1, name] > rows[10, block]:
                rows[10, block] = by_name[1, name]
            rows[11, block] += by_name[2, name]
    return np.asarray(rows)


def context_rows(
    const double[::1] log_odds, const double[::1] probability, const double[::1] weight, const int64_t[::1] look,
    const int64_t[:, ::1] first, const int64_t[:, ::1] stop, const int64_t[::1] shifts, const int64_t[::1] reaches,
    double least_weight, double sure, double outside,
):
    """Return the context of each block. Twin of `context.context`."""
    cdef Py_ssize_t blocks = probability.shape[0], block, other, row, at, levels = first.shape[0]
    cdef Py_ssize_t rows = 1 + shifts.shape[0] + reaches.shape[0] + levels + 11
    cdef float[:, ::1] context = np.empty((rows, blocks), dtype=np.float32)
    cdef vector[double] content, total, look_content, look_total
    cdef vector[pair[double, Py_ssize_t]] order
    cdef double kept = 0, right = 0, expected, best = -1, cut = 1, most = 0
    cdef Py_ssize_t begin, end, last, looks = 0
    content.resize(blocks + 1)
    total.resize(blocks + 1)
    for block in range(blocks):
        content[block + 1] = content[block] + weight[block] * probability[block]
        total[block + 1] = total[block] + weight[block]
        looks = max(looks, look[block] + 1)
        # Sorting NaN is undefined in C++.
        order.push_back(pair[double, Py_ssize_t](-probability[block] if probability[block] >= 0 else 0, block))
    sort(order.begin(), order.end())
    look_content.resize(looks)
    look_total.resize(looks)
    for block in range(blocks):
        look_content[look[block]] += weight[block] * probability[block]
        look_total[look[block]] += weight[block]
    for at in range(blocks):
        right += weight[order[at].second] * probability[order[at].second]
    expected = right
    right = 0
    for at in range(blocks):
        block = order[at].second
        context[rows - 8, block] = <float>(kept / total[blocks])
        right += weight[block] * probability[block]
        kept += weight[block]
        most = 2 * right / max(kept + expected, 1e-9)
        if most > best:
            best, cut = most, probability[block]
    last = -99
    for block in range(blocks):
        last = block if probability[block] >= sure else last
        context[rows - 7, block] = min(block - last, 99)
    last = blocks + 99
    for block in range(blocks - 1, -1, -1):
        last = block if probability[block] >= sure else last
        context[rows - 6, block] = min(last - block, 99)
    most = 0
    for block in range(blocks):
        most = max(most, probability[block])
    for block in range(blocks):
        context[0, block] = <float>log_odds[block]
        row = 1
        for at in range(shifts.shape[0]):
            other = block + shifts[at]
            context[row, block] = <float>(probability[other] if 0 <= other < blocks else outside)
            row += 1
        for at in range(reaches.shape[0]):
            begin = block - reaches[at] if block > reaches[at] else 0
            end = block + reaches[at] + 1 if block + reaches[at] + 1 < blocks else blocks
            context[row, block] = <float>((content[end] - content[begin]) / max(total[end] - total[begin], least_weight))
            row += 1
        for at in range(levels):
            begin, end = first[at, block], stop[at, block]
            context[row, block] = <float>((content[end] - content[begin]) / max(total[end] - total[begin], least_weight))
            row += 1
        context[row, block] = <float>(look_content[look[block]] / look_total[look[block]])
        context[row + 1, block] = <float>(content[block] / (total[block] + 1))
        context[row + 2, block] = <float>(
            (content[blocks] - content[block + 1]) / (total[blocks] - total[block + 1] + 1)
        )
        context[rows - 5, block] = <float>(content[blocks] / total[blocks])
        context[rows - 4, block] = <float>most
        context[rows - 3, block] = <float>content[blocks]
        context[rows - 2, block] = <float>cut
        context[rows - 1, block] = <float>best
    return np.asarray(context)
