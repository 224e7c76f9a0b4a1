// Kernels that are compiled once for each vector width. The files in native/vector define them, each in the
// namespace of its path; the widest path that the processor has is chosen when the program runs.
//
// All paths give the same bits. A file there includes no library templates: a copy compiled for a wide processor
// must never be the one that the linker keeps for everybody.
#pragma once
#include <cstdint>

namespace rankwright {

enum class VectorPath : int { portable, avx2, avx512 };

VectorPath widest_path();

// Documents and padding: arrays given to these kernels are readable and writable up to a multiple of this.
constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kCountLanes = 2 * kLanes;

// Values coded together, and the room for one feature's edges: 255, the rest infinite.
constexpr std::int64_t kEncodeRows = 512;
constexpr std::int64_t kEdgeStride = 256;

// Sums of gradient and weight are packed as in histogram.hpp; a side's worth is gradient^2 / (weight + l2).
struct SplitTerms {
    std::int64_t all;                   // the sums of both sides
    double gradient_step, weight_step;  // what one of a sum's units is worth
    double l2, min_weight;              // a side of less weight, or of none, is no side
    double whole;                       // the worth of both sides together
};
constexpr std::int64_t kGainLanes = 8;

// count_above: ranks[i] = how many keys are above keys[i], an earlier one that is equal among them.
// encode_column: codes[i] = how many of the edges are below values[i], 255 where it is NaN; kEncodeRows of them.
// split_gains: gains[i] = what the two sides of a split are worth beyond the whole, -infinity if one is no side;
// arrays are readable and writable up to a multiple of kGainLanes.
#define RANKWRIGHT_DECLARE_KERNELS(path)                                                                   \
    namespace path {                                                                                       \
    void count_above(const float* keys, std::int64_t size, std::int32_t* ranks);                           \
    void encode_column(const float* values, const float* edges, std::uint8_t* codes);                      \
    void split_gains(const std::int64_t* left, std::int64_t size, const SplitTerms& terms, double* gains); \
    }

RANKWRIGHT_DECLARE_KERNELS(portable)
#if defined(__x86_64__)
RANKWRIGHT_DECLARE_KERNELS(avx2)
RANKWRIGHT_DECLARE_KERNELS(avx512)
#endif

void count_above(const float* keys, std::int64_t size, std::int32_t* ranks, VectorPath path);
void encode_column(const float* values, const float* edges, std::uint8_t* codes, VectorPath path);
void split_gains(const std::int64_t* left, std::int64_t size, const SplitTerms& terms, double* gains,
                 VectorPath path);

}  // namespace rankwright
