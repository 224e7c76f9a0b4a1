// The kernels of tree scoring, compiled once per SIMD path; see simd/kernels.hpp. They process the codes of blocks
// of documents; see simd/value_kernels.hpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "simd/value_kernels.hpp"

namespace rankwright {

struct alignas(64) BlockScores {
    double documents[kBlock];
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

// A tree with few different tests, such as a symmetric one, has one CodedSplit per test. The number of a leaf has
// one bit per test, the highest for the first, which is 1 if the document goes right there.
constexpr std::size_t kMaxTests = 16;

struct CodedTree {
    const CodedSplit* splits;
    const LeafValues* leaves;
    std::int32_t n_splits;
    std::int32_t n_leaves;
    bool by_tests;  // the splits are different tests
};

// Values that are read next, in runs of n_bytes. They are fetched into the cache run by run during other work, so
// that neither the memory nor the processor waits for the other.
struct NextValues {
    std::uintptr_t first = 0;
    std::size_t stride = 0, n_bytes = 0;    // from run to run, and of a run
    const std::int32_t* numbers = nullptr;  // which runs, counted from `first`; null for 0, 1, 2, ...
    std::size_t n_runs = 0, n_steps = 0;
    std::size_t n_fetched = 0, step = 0;  // runs and steps so far
};

// Goes so many of n_steps further, and fetches the same fraction of the runs.
void fetch_share(NextValues& next, std::size_t n_steps);

// Adds the leaf value of each tree, in order, to the scores of the first n documents of a block; the other scores
// are undefined. The next values are fetched meanwhile, all of them before the last tree.
using AddTrees = void(const CodedTree* trees, std::size_t n_trees, const BlockBytes* codes, std::size_t n,
                      NextValues& next, BlockScores& scores);

namespace portable {
AddTrees add_trees;
}
#if defined(__x86_64__)
namespace avx2 {
AddTrees add_trees;
}
namespace avx512 {
AddTrees add_trees;
}
#endif

AddTrees& add_trees_on(SimdPath path);

}  // namespace rankwright
