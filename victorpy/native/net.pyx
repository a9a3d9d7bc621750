# cython: language_level=3, boundscheck=False, initializedcheck=False, wraparound=False, cdivision=True
# distutils: language = c++
"""The native twin of model/evidence/net.py: evaluates the net on the blocks of a page.

Values are stored as one row per channel, with zeros before and after the blocks. So the values of earlier and later
blocks are the same row, read from another place.
"""

from libc.stddef cimport ptrdiff_t
from libcpp.vector cimport vector

import numpy as np

cdef extern from *:
    """
    #include <cstddef>
    #include <cstdint>
    #include <cstring>

    // Compile for processors with and without AVX2 and FMA. The system chooses when the module is loaded.
    #if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
    #define FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v3", "default")))
    const int LANES = 8;
    #else
    #define FOR_EACH_PROCESSOR
    const int LANES = 4;
    #endif

    // Numbers that fit a register.
    #ifdef __GNUC__
    #define INLINE inline __attribute__((always_inline))
    typedef float Lanes __attribute__((vector_size(sizeof(float) * LANES)));
    #else
    #define INLINE inline
    struct Lanes {
        float at[LANES];
        Lanes &operator+=(const Lanes &other) { for (int i = 0; i < LANES; i++) at[i] += other.at[i]; return *this; }
    };
    static inline Lanes operator*(float factor, Lanes lanes) { for (float &value : lanes.at) value *= factor; return lanes; }
    #endif

    const int TILE = 2 * LANES, OUTPUTS = 4;  // blocks and channels that are computed together

    // Bring the values of one input to a similar scale: (sign(x) log(1 + |x|) - center) / scale, within limits.
    FOR_EACH_PROCESSOR
    static void scale_input(const float *from, ptrdiff_t blocks, float center, float scale, float highest, float *to) {
        for (ptrdiff_t block = 0; block < blocks; block++) {
            const float size = from[block] < 0 ? -from[block] : from[block], sum = 1 + size;
            // The logarithm is that of a fraction between .7 and 1.4, and a multiple of log(2).
            int32_t bits;
            std::memcpy(&bits, &sum, sizeof bits);
            const int32_t power = (bits - 0x3f3504f3) >> 23;
            const int32_t fraction_bits = bits - power * (1 << 23);
            float fraction;
            std::memcpy(&fraction, &fraction_bits, sizeof fraction);
            const float part = (fraction - 1) / (fraction + 1), square = part * part;
            const float series = 2.0f / 3 + square * (2.0f / 5 + square * (2.0f / 7 + square * (2.0f / 9)));
            const float lost = (size - (sum - 1)) / sum;  // by rounding 1 + size
            float value = power * 0.69314718f + (2 * part + part * square * series) + lost;
            value = ((from[block] < 0 ? -value : value) - center) / scale;
            value = value < -highest ? -highest : value;
            to[block] = value > highest ? highest : value;
        }
    }

    // Compute some channels of a layer: the positive part of the weighted sum of `count` rows at each of the distances,
    // added to the channel of the previous layer, if there is one.
    template <int OUTPUTS>
    static INLINE void compute_channels(
        const float *rows, ptrdiff_t stride, ptrdiff_t count, const ptrdiff_t *distances, int distance_count,
        const float *weights, const float *bias, ptrdiff_t width, ptrdiff_t first, ptrdiff_t blocks,
        const float *previous, float *to
    ) {
        for (ptrdiff_t block = 0; block < blocks; block += TILE) {
            Lanes sums[OUTPUTS][2] = {};
            const float *weight = weights + first;
            for (int part = 0; part < distance_count; part++) {
                const float *row = rows + block + distances[part];
                for (ptrdiff_t number = 0; number < count; number++, row += stride, weight += width) {
                    Lanes low, high;
                    std::memcpy(&low, row, sizeof low);
                    std::memcpy(&high, row + LANES, sizeof high);
                    for (int output = 0; output < OUTPUTS; output++) {
                        sums[output][0] += weight[output] * low;
                        sums[output][1] += weight[output] * high;
                    }
                }
            }
            const ptrdiff_t left = blocks - block < TILE ? blocks - block : TILE;
            for (int output = 0; output < OUTPUTS; output++) {
                const ptrdiff_t channel = first + output, start = channel * stride + block;
                float tile[TILE];
                std::memcpy(tile, sums[output], sizeof tile);
                for (ptrdiff_t at = 0; at < left; at++) {
                    const float value = tile[at] + bias[channel];
                    to[start + at] = (previous ? previous[start + at] : 0) + (value > 0 ? value : 0);
                }
            }
        }
    }

    FOR_EACH_PROCESSOR
    static void compute_layer(
        const float *rows, ptrdiff_t stride, ptrdiff_t count, const ptrdiff_t *distances, int distance_count,
        const float *weights, const float *bias, ptrdiff_t width, ptrdiff_t blocks, const float *previous, float *to
    ) {
        ptrdiff_t first = 0;
        for (; first + OUTPUTS <= width; first += OUTPUTS)
            compute_channels<OUTPUTS>(
                rows, stride, count, distances, distance_count, weights, bias, width, first, blocks, previous, to
            );
        for (; first < width; first++)
            compute_channels<1>(
                rows, stride, count, distances, distance_count, weights, bias, width, first, blocks, previous, to
            );
    }
    """
    enum: TILE
    void scale_input(
        const float *from_, ptrdiff_t blocks, float center, float scale, float highest, float *to
    ) noexcept nogil
    void compute_layer(
        const float *rows, ptrdiff_t stride, ptrdiff_t count, const ptrdiff_t *distances, int distance_count,
        const float *weights, const float *bias, ptrdiff_t width, ptrdiff_t blocks, const float *previous, float *to
    ) noexcept nogil


def log_odds(
    const float[:, ::1] matrix, const double[::1] block_weight, const float[::1] center, const float[::1] scale,
    const float[:, ::1] first, const float[::1] first_bias, const float[:, ::1] page, const float[::1] page_bias,
    const float[:, :, ::1] kernels, const float[:, ::1] kernel_biases, const float[::1] last, const float[::1] last_bias,
    float narrowest, float highest,
):
    """Return each block's log-odds of being content. Twin of `Net.log_odds`, whose arrays `Net.load` has checked."""
    cdef Py_ssize_t inputs = matrix.shape[0], blocks = matrix.shape[1], width = last.shape[0], layers = kernels.shape[0]
    cdef Py_ssize_t layer, row, channel, block
    cdef Py_ssize_t margin = 1 << (layers - 1), stride = blocks + TILE + 2 * margin
    cdef ptrdiff_t[3] distances = [0, 0, 0]
    cdef ptrdiff_t[1] here = [0]
    cdef float total = 0, added
    cdef vector[float] scaled, values, others, means
    cdef double[::1] result = np.empty(blocks)
    scaled.resize(inputs * stride)
    values.resize(width * stride)
    others.resize(width * stride)
    means.resize(width)
    with nogil:
        for row in range(inputs):
            scale_input(
                &matrix[row, 0], blocks, center[row], max(scale[row], narrowest), highest, &scaled[row * stride + margin]
            )
        compute_layer(
            &scaled[margin], stride, inputs, here, 1, &first[0, 0], &first_bias[0], width, blocks, NULL, &values[margin]
        )
        for layer in range(layers):
            if layer == layers // 2:
                for block in range(blocks):
                    total += <float>block_weight[block]
                for channel in range(width):
                    means[channel] = 0
                    for block in range(blocks):
                        means[channel] += <float>block_weight[block] * values[channel * stride + margin + block]
                    means[channel] /= total
                for channel in range(width):
                    added = page_bias[channel]
                    for row in range(width):
                        added += means[row] * page[row, channel]
                    if added > 0:
                        for block in range(blocks):
                            values[channel * stride + margin + block] += added
            distances[0], distances[2] = -(1 << layer), 1 << layer
            compute_layer(
                &values[margin], stride, width, distances, 3, &kernels[layer, 0, 0], &kernel_biases[layer, 0], width,
                blocks, &values[margin], &others[margin],
            )
            values.swap(others)
        for block in range(blocks):
            added = 0
            for channel in range(width):
                added += values[channel * stride + margin + block] * last[channel]
            result[block] = added + last_bias[0]
    return np.asarray(result)
