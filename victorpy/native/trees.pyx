# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""The native twin of parts of model/evidence/: inputs, forests, the lexicon and the context of blocks."""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stddef cimport ptrdiff_t
from libcpp.algorithm cimport sort
from libcpp.utility cimport pair
from libcpp.vector cimport vector

import numpy as np


cdef extern from *:
    """
    #include <cstddef>
    #include <cstdint>
    #include <cstring>
    #ifdef __SSE2__
    #include <immintrin.h>
    #endif

    // Compile the trees for several kinds of processors. The system chooses when the module is loaded.
    #if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    #define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
    #define INLINE inline __attribute__((always_inline))
    #else
    #define FOR_EACH_PROCESSOR
    #define INLINE inline
    #endif

    // Load data into the cache before it is needed.
    #ifdef __GNUC__
    #define PREFETCH(PLACE) __builtin_prefetch(PLACE)
    #else
    #define PREFETCH(PLACE)
    #endif

    const int MOST_LEAVES = 64, LEAF_BITS = 6, MOST_WORDS = 8;

    struct Spread {  // the bits of each byte, as the lowest bits of eight bytes
        uint64_t of[256];
        Spread() {
            for (uint64_t byte = 0; byte < 256; byte++) {
                of[byte] = 0;
                for (int bit = 0; bit < 8; bit++) of[byte] |= (byte >> bit & 1) << 8 * bit;
            }
        }
    };
    static const Spread spread;

    // Return which of 64 values are above a border, as bits of a word.
    static INLINE uint64_t above(const float *values, float border) {
        uint64_t bits = 0;
    #ifdef __SSE2__
        const __m128 borders = _mm_set1_ps(border);
        for (int at = 0; at < 64; at += 16) {
            __m128i parts[4];
            for (int part = 0; part < 4; part++)
                parts[part] = _mm_castps_si128(_mm_cmpgt_ps(_mm_loadu_ps(values + at + 4 * part), borders));
            const __m128i first = _mm_packs_epi32(parts[0], parts[1]), second = _mm_packs_epi32(parts[2], parts[3]);
            bits |= (uint64_t)_mm_movemask_epi8(_mm_packs_epi16(first, second)) << at;
        }
    #else
        for (int at = 0; at < 64; at++) bits |= (uint64_t)(values[at] > border) << at;
    #endif
        return bits;
    }

    // Find the blocks, at most 64 * MOST_WORDS, whose values are above each border. The borders are in order.
    #define DEFINE_ANSWER(NAME, ABOVE) \
        static void NAME( \
            const float *values, ptrdiff_t count, int words, const float *borders, ptrdiff_t questions, uint64_t *answers \
        ) { \
            float padded[64 * MOST_WORDS]; \
            for (int block = 0; block < 64 * words; block++) padded[block] = values[block < count ? block : 0]; \
            uint64_t is_any = 1; \
            for (ptrdiff_t question = 0; question < questions; question++, answers += words) { \
                if (!is_any) {  /* no value is above later borders either */ \
                    std::memset(answers, 0, sizeof *answers * words); \
                    continue; \
                } \
                is_any = 0; \
                for (int word = 0; word < words; word++) \
                    is_any |= answers[word] = ABOVE(padded + 64 * word, borders[question]); \
            } \
        }
    DEFINE_ANSWER(answer_anywhere, above)

    #if defined(__x86_64__) && defined(__GNUC__)
    __attribute__((target("avx512f"))) static inline uint64_t above_avx512(const float *values, float border) {
        const __m512 borders = _mm512_set1_ps(border);
        uint64_t bits = 0;
        for (int at = 0; at < 64; at += 16)
            bits |= (uint64_t)_mm512_cmp_ps_mask(_mm512_loadu_ps(values + at), borders, _CMP_GT_OQ) << at;
        return bits;
    }
    __attribute__((target("avx512f"))) DEFINE_ANSWER(answer_avx512, above_avx512)

    static const auto answer = __builtin_cpu_supports("avx512f") ? answer_avx512 : answer_anywhere;
    #else
    #define answer answer_anywhere
    #endif

    // Evaluate trees for up to 64 * WORDS blocks. Sets of blocks are bits of words. A tree divides the set of all
    // blocks question by question; in the end each leaf has a set. The union of the leaves whose numbers have bit b is
    // bit b of the numbers of the blocks' leaves.
    template <int WORDS>
    static INLINE void divide_blocks(
        const uint64_t *answers, const int32_t *questions, const int8_t *children, const int8_t *sizes,
        ptrdiff_t trees, const double *leaves, double *sums, ptrdiff_t count
    ) {
        uint64_t sets[2 * MOST_LEAVES][WORDS], planes[LEAF_BITS][WORDS], leaf_of[8 * WORDS];
        for (ptrdiff_t tree = 0; tree < trees; tree++) {
            const int size = sizes[tree];
            std::memset(sets[0], 255, sizeof sets[0]);
            for (int question = 0; question < size; question++) {
                const uint64_t *answer = answers + (size_t)questions[question] * WORDS, *here = sets[question];
                const int no = children[2 * question], yes = children[2 * question + 1];
                uint64_t *on_no = sets[no >= 0 ? no : size + ~no], *on_yes = sets[yes >= 0 ? yes : size + ~yes];
                for (int word = 0; word < WORDS; word++) {
                    on_no[word] = here[word] & ~answer[word];
                    on_yes[word] = here[word] & answer[word];
                }
            }
            std::memset(planes, 0, sizeof planes);
            uint64_t (*own)[WORDS] = sets + size;
            int left = size + 1;
            for (int bit = 0; left > 1; bit++) {  // then each pair becomes one set, whose number has one bit less
                std::memset(own[left], 0, sizeof own[left]);
                for (int pair = 0; pair < (left + 1) / 2; pair++)
                    for (int word = 0; word < WORDS; word++) {
                        planes[bit][word] |= own[2 * pair + 1][word];
                        own[pair][word] = own[2 * pair][word] | own[2 * pair + 1][word];
                    }
                left = (left + 1) / 2;
            }
            for (int group = 0; group < 8 * WORDS; group++) {
                uint64_t eight = 0;
                for (int bit = 0; bit < LEAF_BITS; bit++)
                    eight |= spread.of[planes[bit][group / 8] >> 8 * (group % 8) & 255] << bit;
                leaf_of[group] = eight;
            }
            const uint8_t *leaf = (const uint8_t *)leaf_of;
            for (ptrdiff_t block = 0; block < count; block++) sums[block] += leaves[leaf[block]];
            questions += size;
            children += 2 * size;
            leaves += size + 1;
        }
    }

    FOR_EACH_PROCESSOR
    static void divide(
        int words, const uint64_t *answers, const int32_t *questions, const int8_t *children, const int8_t *sizes,
        ptrdiff_t trees, const double *leaves, double *sums, ptrdiff_t count
    ) {
        #define CASE(WORDS) \
            case WORDS: divide_blocks<WORDS>(answers, questions, children, sizes, trees, leaves, sums, count); break;
        switch (words) { CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) }
        #undef CASE
    }

    // Return the leaves of blocks in an oblivious tree.
    template <int DEPTH>
    static INLINE void answer_levels(const float **values, const float *borders, ptrdiff_t blocks, int32_t *leaf_of) {
        for (ptrdiff_t block = 0; block < blocks; block++) {
            int32_t leaf = 0;
            for (int level = 0; level < DEPTH; level++) leaf |= (values[level][block] > borders[level]) << level;
            leaf_of[block] = leaf;
        }
    }

    FOR_EACH_PROCESSOR
    static void add_oblivious(
        const float *matrix, ptrdiff_t blocks, const int32_t *features, const float *borders, int depth,
        ptrdiff_t trees, const double *leaves, ptrdiff_t classes, double *sums, int32_t *leaf_of
    ) {
        const float *values[8];
        for (ptrdiff_t tree = 0; tree < trees; tree++, features += depth, borders += depth) {
            for (int level = 0; level < depth; level++) values[level] = matrix + features[level] * blocks;
            #define CASE(DEPTH) case DEPTH: answer_levels<DEPTH>(values, borders, blocks, leaf_of); break;
            switch (depth) { CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) }
            #undef CASE
            for (ptrdiff_t row = 0; row < classes; row++) {
                const double *added = leaves + ((row * trees + tree) << depth);
                for (ptrdiff_t block = 0; block < blocks; block++) sums[row * blocks + block] += added[leaf_of[block]];
            }
        }
    }
    """
    enum: MOST_WORDS
    void PREFETCH(const void *place) noexcept nogil
    void add_oblivious(
        const float *matrix, ptrdiff_t blocks, const int32_t *features, const float *borders, int depth,
        ptrdiff_t trees, const double *leaves, ptrdiff_t classes, double *sums, int32_t *leaf_of
    ) noexcept nogil
    void answer(
        const float *values, ptrdiff_t count, int words, const float *borders, ptrdiff_t questions, uint64_t *answers
    ) noexcept nogil
    void divide(
        int words, const uint64_t *answers, const int32_t *questions, const int8_t *children, const int8_t *sizes,
        ptrdiff_t trees, const double *leaves, double *sums, ptrdiff_t count
    ) noexcept nogil


def forest_scores(
    const float[:, ::1] matrix, const int32_t[:, ::1] features, const float[:, ::1] borders, const double[:, ::1] leaves
):
    """Return the sum of the trees' leaves for each block, one row per class. Twin of `ObliviousForest._leaf_indices`."""
    cdef Py_ssize_t trees = features.shape[0], depth = features.shape[1], blocks = matrix.shape[1]
    cdef Py_ssize_t classes = leaves.shape[0]
    cdef double[:, ::1] scores = np.zeros((classes, blocks))
    cdef vector[int32_t] leaf_of
    if not blocks or not trees or not 0 < depth <= 8 or leaves.shape[1] != trees << depth:
        return np.asarray(scores)
    leaf_of.resize(blocks)
    with nogil:
        add_oblivious(
            &matrix[0, 0], blocks, &features[0, 0], &borders[0, 0], <int>depth, trees, &leaves[0, 0], classes,
            &scores[0, 0], leaf_of.data(),
        )
    return np.asarray(scores)


def leafwise_scores(
    const float[:, ::1] matrix, const int32_t[::1] features, const int32_t[::1] starts, const float[::1] borders,
    const int32_t[::1] questions, const int8_t[::1] sizes, const int8_t[:, ::1] children, const double[::1] leaves,
):
    """Return the sum of the trees' leaves for each block. Twin of `LeafwiseForest._leaf_indices`.

    Each distinct question gets the set of blocks that answer yes. Then the trees divide the set of all blocks.
    """
    cdef Py_ssize_t blocks = matrix.shape[1], start = 0, count, row, first, words
    cdef double[:, ::1] scores = np.zeros((1, blocks))
    cdef vector[uint64_t] answers
    if not sizes.shape[0]:
        return np.asarray(scores)
    with nogil:
        while start < blocks:
            count = min(blocks - start, 64 * MOST_WORDS)
            words = (count + 63) // 64
            answers.resize(borders.shape[0] * words)
            for row in range(features.shape[0]):
                first = starts[row]
                answer(
                    &matrix[features[row], start], count, <int>words, &borders[first], starts[row + 1] - first,
                    &answers[first * words],
                )
            divide(
                <int>words, answers.data(), &questions[0], &children[0, 0], &sizes[0], sizes.shape[0], &leaves[0],
                &scores[0, start], count,
            )
            start += count
    return np.asarray(scores)


def fill_rows(
    float[:, ::1] filled, const double[:, ::1] table, const int64_t[::1] features, const int64_t[::1] offsets, float outside
):
    """Fill a matrix with rows of a table, each moved by an offset. Return whether all values are finite.

    Twin of `Inputs.matrix`.
    """
    cdef Py_ssize_t rows = features.shape[0], blocks = table.shape[1], row, block, offset, first, stop
    cdef int is_odd = 0  # whether a value is not finite
    cdef const double *source
    cdef float *to
    if filled.shape[0] != rows or filled.shape[1] != blocks:
        raise ValueError("the matrix has another shape than the rows")
    for row in range(rows if blocks else 0):
        offset = offsets[row]
        first, stop = min(max(-offset, 0), blocks), max(min(blocks - offset, blocks), 0)
        source, to = &table[features[row], 0], &filled[row, 0]
        for block in range(first):
            to[block] = outside
        for block in range(first, stop):
            to[block] = <float>source[block + offset]
            is_odd |= to[block] - to[block] != 0
        for block in range(max(first, stop), blocks):
            to[block] = outside
    return not is_odd


def look_up(const uint64_t[::1] hashes, const uint64_t[::1] known, const double[::1] odds, const int32_t[::1] starts, int shift):
    """Return the log-odds of tokens, 0 if a token is unknown. Twin of `Table.look_up`."""
    cdef Py_ssize_t i, row, count = hashes.shape[0], size = known.shape[0]
    cdef double[::1] found = np.zeros(count)
    cdef uint64_t token
    if size:
        for i in range(count):
            if i + 16 < count:
                PREFETCH(&starts[hashes[i + 16] >> shift])
                PREFETCH(&known[min(starts[hashes[i + 8] >> shift], size - 1)])
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


cdef int sort_by_probability(const double[::1] probability, vector[pair[double, Py_ssize_t]] &order) except -1:
    """Number the blocks, the most probable ones first. Sorting NaN is undefined in C++."""
    cdef Py_ssize_t block
    for block in range(probability.shape[0]):
        order.push_back(pair[double, Py_ssize_t](-probability[block] if probability[block] >= 0 else 0, block))
    sort(order.begin(), order.end())
    return 0


def best_cut(const double[::1] probability, const double[::1] weight, double square):
    """Return the best cut and the expected F, given the square of beta. Twin of `cut.best_cut`."""
    cdef vector[pair[double, Py_ssize_t]] order
    cdef Py_ssize_t at, block
    cdef double kept = 0, right = 0, every = 0, expected, best = -1, cut = 1
    sort_by_probability(probability, order)
    for at in range(<Py_ssize_t>order.size()):
        every += weight[order[at].second] * probability[order[at].second]
    for at in range(<Py_ssize_t>order.size()):
        block = order[at].second
        right += weight[block] * probability[block]
        kept += weight[block]
        expected = (1 + square) * right / max(kept + square * every, 1e-9)
        if expected > best:
            best, cut = expected, probability[block]
    return cut, best


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
    sort_by_probability(probability, order)
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
