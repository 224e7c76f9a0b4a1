// The kernels of tree scoring, compiled once per SIMD path; see simd/kernels.hpp. They process blocks of
// 256 documents.
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

// One code per document of a block.
struct alignas(64) BlockBytes {
    std::int8_t documents[kBlock];
};

struct alignas(64) BlockScores {
    double documents[kBlock];
};

struct alignas(64) Chunk {
    float thresholds[kChunk];
};

// Thresholds in two orders, padded with infinity to 2^depth, and to at least 32.
struct Column {
    // In the order of a binary search: it starts at node 1, and goes from node p to 2p, or to 2p + 1 if the
    // threshold at p is below the value. After `depth` steps, p - 2^depth thresholds are below the value. Entry 0
    // is infinity.
    const float* search;
    const float* sorted;  // followed by kChunk infinities
    int depth;
    // If true, higher values count as `highest` and a missing value as infinity; otherwise a missing value counts
    // as minus infinity.
    bool missing_right;
    float highest;
};

// A split of a tree of at most kSmallTree leaves, which are numbered from left to right. `left_leaves` is the
// number of leaves on its left side. `rebase` turns a leaf number relative to the split's first leaf into one
// relative to the first leaf of the next split (after the last split, of the tree). Both are bytes, repeated four
// times.
struct LeafOffset {
    std::uint32_t left_leaves, rebase;
};

// A split of a larger tree: a child is a split if it is not negative, otherwise the leaf -1 - child.
struct Children {
    std::int32_t left, right;
};

struct CodedSplit {
    std::uint32_t codes;  // start of the codes of its column, in units of kCodesStep bytes
    std::uint32_t rank;   // a byte, repeated four times
    union {
        LeafOffset offset;
        Children child;
    };
};

constexpr std::size_t kCodesStep = 8;
constexpr std::size_t kMaxSplits = std::size_t{1} << 25;
static_assert(kMaxSplits * sizeof(BlockBytes) / kCodesStep <= std::size_t{1} << 32,
              "the start of every column must fit");
constexpr std::int32_t kSmallTree = 256;

// The leaves of a tree use as many of these as needed, one after the other.
struct alignas(64) LeafValues {
    double values[32];
};

// An oblivious tree has the same split in all nodes of a level, and all levels are full. It has one CodedSplit per
// level, and the number of a leaf, counted from left to right, has one bit per level, the highest for the root.
constexpr std::int32_t kMaxLevels = 16;

struct CodedTree {
    const CodedSplit* splits;
    const LeafValues* leaves;
    std::int32_t n_splits;  // of an oblivious tree, the number of levels
    std::int32_t n_leaves;
    bool oblivious;
};

// Whether any of n values is too large for 32 bits: finite, but infinite after rounding.
using TooLargeKernel = bool (*)(const double* values, std::ptrdiff_t stride, std::size_t n);

// The codes of the first n values of a block; the other codes are undefined.
template <class T>
using EncodeKernel = void (*)(const Column& column, const T* values, std::ptrdiff_t stride, std::size_t n,
                              BlockBytes& codes);

// Adds the leaf value of each tree, in order, to the scores of the first n documents of a block; the other scores
// are undefined.
using AddTreesKernel = void (*)(const CodedTree* trees, std::size_t n_trees, const BlockBytes* codes,
                                std::size_t n, BlockScores& scores);

struct TreeKernels {
    TooLargeKernel too_large;
    EncodeKernel<float> encode_floats;
    EncodeKernel<double> encode_doubles;
    AddTreesKernel add_trees;
};

namespace portable {
extern const TreeKernels tree_kernels;
}
#if defined(__x86_64__)
namespace avx2 {
extern const TreeKernels tree_kernels;
}
namespace avx512 {
extern const TreeKernels tree_kernels;
}
#endif

const TreeKernels& tree_kernels(SimdPath path);

}  // namespace rankwright
