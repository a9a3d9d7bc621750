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

    // Compile for processors with AVX-512, with AVX2 and FMA, and with neither. The system or `IS_WIDE` chooses when the
    // module is loaded.
    #if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
    #define FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
    #define FOR_WIDE_PROCESSORS __attribute__((target("arch=x86-64-v4")))
    static const bool IS_WIDE = __builtin_cpu_supports("x86-64-v4");
    const int LANES = 8, MOST_LANES = 16;
    #else
    #define FOR_EACH_PROCESSOR
    #define FOR_WIDE_PROCESSORS
    static const bool IS_WIDE = false;
    const int LANES = 4, MOST_LANES = 4;
    #endif

    // Numbers that fit a register.
    #ifdef __GNUC__
    #define INLINE inline __attribute__((always_inline))
    template <int LANES> struct Registers { typedef float Type __attribute__((vector_size(sizeof(float) * LANES))); };
    #else
    #define INLINE inline
    template <int LANES> struct Registers {
        struct Type {
            float at[LANES];
            Type &operator+=(const Type &other) { for (int i = 0; i < LANES; i++) at[i] += other.at[i]; return *this; }
            friend Type operator*(float factor, Type lanes) { for (float &each : lanes.at) each *= factor; return lanes; }
        };
    };
    #endif

    const int MOST_BLOCKS = 2 * MOST_LANES, OUTPUTS = 4;  // blocks and channels that are computed together

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

    // A layer: the positive part of the weighted sum of `count` rows at each of the distances, added to the channel of the
    // previous layer, if there is one.
    struct Layer {
        const float *rows;
        ptrdiff_t stride, count;
        const ptrdiff_t *distances;
        int distance_count;
        const float *weights, *bias;
        ptrdiff_t width, blocks;
        const float *previous;
        float *to;
    };

    // Compute some channels of some blocks.
    template <int LANES, int OUTPUTS>
    static INLINE void compute_channels(const Layer &layer, ptrdiff_t first, ptrdiff_t block) {
        typedef typename Registers<LANES>::Type Lanes;
        Lanes sums[OUTPUTS][2] = {};
        const float *weight = layer.weights + first;
        for (int part = 0; part < layer.distance_count; part++) {
            const float *row = layer.rows + block + layer.distances[part];
            for (ptrdiff_t number = 0; number < layer.count; number++, row += layer.stride, weight += layer.width) {
                Lanes low, high;
                std::memcpy(&low, row, sizeof low);
                std::memcpy(&high, row + LANES, sizeof high);
                for (int output = 0; output < OUTPUTS; output++) {
                    sums[output][0] += weight[output] * low;
                    sums[output][1] += weight[output] * high;
                }
            }
        }
        const ptrdiff_t left = layer.blocks - block < 2 * LANES ? layer.blocks - block : 2 * LANES;
        for (int output = 0; output < OUTPUTS; output++) {
            const ptrdiff_t channel = first + output, start = channel * layer.stride + block;
            float tile[2 * LANES];
            std::memcpy(tile, sums[output], sizeof tile);
            for (ptrdiff_t at = 0; at < left; at++) {
                const float value = tile[at] + layer.bias[channel];
                layer.to[start + at] = (layer.previous ? layer.previous[start + at] : 0) + (value > 0 ? value : 0);
            }
        }
    }

    template <int LANES>
    static INLINE void compute_all(const Layer &layer) {
        for (ptrdiff_t block = 0; block < layer.blocks; block += 2 * LANES) {
            ptrdiff_t first = 0;
            for (; first + OUTPUTS <= layer.width; first += OUTPUTS)
                compute_channels<LANES, OUTPUTS>(layer, first, block);
            for (; first < layer.width; first++) compute_channels<LANES, 1>(layer, first, block);
        }
    }

    FOR_WIDE_PROCESSORS
    static void compute_wide(const Layer &layer) { compute_all<MOST_LANES>(layer); }

    FOR_EACH_PROCESSOR
    static void compute_narrow(const Layer &layer) { compute_all<LANES>(layer); }

    static void compute_layer(
        const float *rows, ptrdiff_t stride, ptrdiff_t count, const ptrdiff_t *distances, int distance_count,
        const float *weights, const float *bias, ptrdiff_t width, ptrdiff_t blocks, const float *previous, float *to
    ) {
        const Layer layer = {
            rows, stride, count, distances, distance_count, weights, bias, width, blocks, previous, to
        };
        if (IS_WIDE) compute_wide(layer);
        else compute_narrow(layer);
    }
    """
    enum: MOST_BLOCKS
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
    cdef Py_ssize_t margin = 1 << (layers - 1), stride = blocks + MOST_BLOCKS + 2 * margin
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
