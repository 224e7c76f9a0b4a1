// The kernels of tree scoring, compiled once for each vector width; see vectors.hpp. 256 documents, a block, stand
// side by side.
//
// A column holds at most 255 sorted thresholds of one feature. A document's code in it is how many of them lie
// below its value, so that `value <= thresholds[rank]` is `code <= rank`, a comparison of bytes. Codes and ranks
// are kept less 128: signed bytes are what every processor compares.
#pragma once
#include <cstddef>
#include <cstdint>

#include "rankwright/vectors.hpp"

namespace rankwright {

constexpr std::size_t kBlock = 256;
constexpr std::size_t kChunk = 16;
constexpr std::size_t kMaxThresholds = 255;

// The code of each document of a block.
struct alignas(64) BlockBytes {
    std::int8_t documents[kBlock];
};

struct alignas(64) BlockScores {
    double documents[kBlock];
};

struct alignas(64) Chunk {
    float thresholds[kChunk];
};

// Thresholds in two orders. Infinities fill them up to 2^depth, and to no less than 32.
struct Column {
    // As a binary search meets them: from 1 on, place p leads to 2p, or to 2p + 1 if its threshold lies below the
    // value. After `depth` steps p - 2^depth thresholds lie below it. Place 0 holds infinity.
    const float* search;
    const float* sorted;  // with kChunk more infinities
    int depth;
    bool missing_right;  // where a missing value goes: it counts as infinity, or else above no threshold
};

// A split of a tree of at most kSmallTree leaves, which are numbered from left to right: how many are on its left
// side, and what to add to a leaf counted from the split's first one to count from the next split's first one
// (after the last split, from the tree's). Bytes, four times each.
struct Leap {
    std::uint32_t skipped, step;
};

// A split of a larger tree: a child is a split from 0 up, or a leaf -1 - child.
struct Children {
    std::int32_t left, right;
};

struct CodedSplit {
    std::uint32_t codes;  // where its column's codes begin, in steps of kCodesStep bytes
    std::uint32_t rank;   // four times the same byte
    union {
        Leap leap;
        Children child;
    };
};

constexpr std::size_t kCodesStep = 8;
constexpr std::size_t kMaxSplits = std::size_t{1} << 25;
static_assert(kMaxSplits * sizeof(BlockBytes) / kCodesStep <= std::size_t{1} << 32, "no column begins beyond");
constexpr std::int32_t kSmallTree = 256;

// A tree's leaves take as many of these as they need, one behind the other.
struct alignas(64) LeafValues {
    double values[32];
};

struct CodedTree {
    const CodedSplit* splits;
    const LeafValues* leaves;
    std::int32_t n_splits;
};

// Whether there is an infinity among n values, once rounded to 32 bits.
template <class T>
using InfiniteKernel = bool (*)(const T* values, std::ptrdiff_t stride, std::size_t n);

// The codes of a block's first n values; what the others get means nothing.
template <class T>
using EncodeKernel = void (*)(const Column& column, const T* values, std::ptrdiff_t stride, std::size_t n,
                              BlockBytes& codes);

// Adds each tree's leaf to the scores of a block's first n documents, tree after tree; what it adds to the others
// means nothing.
using AddTreesKernel = void (*)(const CodedTree* trees, std::size_t n_trees, const BlockBytes* codes,
                                std::size_t n, BlockScores& scores);

struct TreeKernels {
    InfiniteKernel<float> infinite_floats;
    InfiniteKernel<double> infinite_doubles;
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

const TreeKernels& tree_kernels(VectorPath path);

}  // namespace rankwright
