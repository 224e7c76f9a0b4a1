// The structure of a binary tree while it grows: what every grower does with a split once it is chosen.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "histograms/binning.hpp"

namespace rankwright {

// A tree's splits in the form of the Python class TreeEnsemble.
struct TreeShape {
    std::vector<std::int32_t> feature, left, right;
    std::vector<float> threshold;
    std::vector<std::uint8_t> missing_left;
    std::vector<double> gain;   // of each split
    std::vector<double> cover;  // number of rows in each leaf
};

struct CodeSplit {
    std::size_t feature = 0;
    int code = -1;  // the last that goes left
    bool missing_left = false;
    bool sends_left(std::uint8_t value) const { return value == kMissing ? missing_left : value <= code; }
};

// The parent of a split or leaf, and which child it is. The root has no parent.
struct ParentLink {
    std::int32_t parent = -1;
    bool is_left = false;
};

// Records a child in its parent: a split by its number, leaf n as -1 - n.
void link(const ParentLink& position, std::int32_t child, TreeShape& tree);

// Adds a split whose children are not known yet, and links it to its parent; returns its number.
std::int32_t add_split(const ParentLink& position, const BinnedMatrix& binned, const CodeSplit& split, double gain,
                       TreeShape& tree);

// Links the next leaf to its parent.
void add_leaf(const ParentLink& position, double cover, TreeShape& tree);

// Moves the rows that go left to the front, each side in its old order; returns how many do. The buffer has room
// for all rows.
std::size_t divide(const BinnedMatrix& binned, const CodeSplit& split, std::span<std::uint32_t> rows,
                   std::span<std::uint32_t> buffer);

}  // namespace rankwright
