// The kernels that turn the values of documents into codes, compiled once per SIMD path; see simd/kernels.hpp.
// They process blocks of 256 documents.
//
// A column has at most 255 sorted thresholds of one feature. The code of a document in it is the number of
// thresholds below its value, so that `value <= thresholds[rank]` is `code <= rank`, a comparison of bytes. Codes
// and ranks are stored minus 128, because all processors compare signed bytes.
#pragma once
#include <cstddef>
#include <cstdint>

#include "simd/kernels.hpp"

namespace rankwright {

constexpr std::size_t kBlock = 256;
constexpr std::size_t kChunk = 16;
constexpr std::size_t kMaxThresholds = 255;

// Most features that are copied together: rows are read fastest in long runs.
constexpr std::size_t kFeaturesTogether = 256;

// One code per document of a block.
struct alignas(64) BlockBytes {
    std::int8_t documents[kBlock];
};

// One value per document of a block. The size is not a power of two: the same document of all blocks would then
// compete for the few places of one cache set.
struct alignas(64) BlockValues {
    float documents[kBlock + kChunk];
};

struct alignas(64) Chunk {
    float thresholds[kChunk];
};

// Thresholds in two orders, padded with infinity to 2^depth, and to at least 32.
struct Column {
    // In the order of a binary search: 2^level thresholds from 2^level on, each at its path. The path of a value
    // has one bit per level above, the lowest for the root, which is 1 if the threshold there is below the value.
    // Entry 0 is infinity.
    const float* search;
    const float* sorted;  // followed by kChunk infinities
    int depth;            // from 1 to 8
    // If true, higher values count as `highest` and a missing value as infinity; otherwise a missing value counts
    // as minus infinity.
    bool missing_right;
    float highest;
};

// Whether any of n values is too large for 32 bits: finite, but infinite after rounding.
using TooLargeKernel = bool (*)(const double* values, std::ptrdiff_t stride, std::size_t n);

// Rounds the values of n rows to 32 bits, one column per feature. Returns whether a double was infinite or has
// become it.
template <class T>
using CopyKernel = bool (*)(const T* values, std::ptrdiff_t row_stride, std::ptrdiff_t feature_stride,
                            std::size_t n, std::size_t n_features, BlockValues* copies);

// The codes of the first n documents of a block; the other codes are undefined. Values are readable up to a
// multiple of kChunk.
using EncodeKernel = void (*)(const Column& column, const float* values, std::size_t n, BlockBytes& codes);

struct ValueKernels {
    TooLargeKernel too_large;
    CopyKernel<float> copy_floats;
    CopyKernel<double> copy_doubles;
    EncodeKernel encode;
};

namespace portable {
extern const ValueKernels value_kernels;
}
#if defined(__x86_64__)
namespace avx2 {
extern const ValueKernels value_kernels;
}
namespace avx512 {
extern const ValueKernels value_kernels;
}
#endif

const ValueKernels& value_kernels(SimdPath path);

}  // namespace rankwright
