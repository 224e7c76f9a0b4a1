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

// One byte for each document of a block: a code, or the leaf that it falls into.
struct alignas(64) BlockBytes {
    std::int8_t documents[kBlock];
};

struct alignas(64) BlockScores {
    double documents[kBlock];
};

struct alignas(64) Chunk {
    float thresholds[kChunk];
};

// Thresholds are followed by infinities, as many as it takes.
struct Column {
    // 2^depth thresholds, and no less than 32, as a binary search meets them: from place 1 on, place p leads to 2p, or
    // to 2p + 1 if its threshold lies below the value; in the end p - 2^depth lie below it. Place 0 holds infinity.
    const float* search;
    const float* sorted;  // the same in order, and kChunk infinities
    int depth;
    bool missing_right;  // as infinity goes; otherwise no threshold lies below a missing value
};

// In a tree of at most kSmallTree leaves, a split's bytes are there four times each. Leaves are numbered from left to
// right, and counted from the split's first one: those of its left side come before `skipped`, and `step` is to be
// added to count from the next split's first leaf instead (after the last split, from the tree's). In a larger tree
// a child is a split from 0 up, or a leaf -1 - child.
struct CodedSplit {
    std::uint32_t codes;  // where its column's codes begin, in bytes
    std::uint32_t rank;   // four times the same byte
    union {
        struct {
            std::uint32_t skipped, step;
        } leap;
        struct {
            std::int32_t left, right;
        } child;
    };
};

constexpr std::size_t kMaxSplits = std::size_t{1} << 25;  // so that no column begins beyond 32 bits
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

// Adds each tree's leaf to the scores of a block's first n documents, tree after tree; what it adds to the others means
// nothing.
using AddTreesKernel = void (*)(const CodedTree* trees, std::size_t n_trees, const BlockBytes* codes, std::size_t n,
                                BlockScores& scores);

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
