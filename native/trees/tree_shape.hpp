// The structure of a binary tree while it grows: what every grower does with a split once it is chosen.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "histograms/binning.hpp"
#include "trees/level_set.hpp"

namespace rankwright {

// A tree's splits in the form of the Python class TreeEnsemble.
struct TreeShape {
    std::vector<std::int32_t> feature, left, right;
    std::vector<float> threshold;
    std::vector<std::uint8_t> missing_left;
    std::vector<std::uint32_t> set_size;   // number of words of each split's set of levels; 0: it has a threshold
    std::vector<std::uint32_t> set_words;  // of all sets, one after another: see trees/level_set.hpp
    std::vector<std::size_t> set_begin;    // where the words of each split's set begin
    std::vector<double> gain;              // of each split
    std::vector<double> cover;             // number of rows in each leaf

    bool sends_left(std::size_t split, float value) const {
        if (value != value) return missing_left[split] != 0;
        if (set_words.empty() || set_size[split] == 0) return value <= threshold[split];
        return contains(LevelSet(set_words).subspan(set_begin[split], set_size[split]), threshold[split], value);
    }
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
                   int n_threads, std::span<std::uint32_t> buffer);

}  // namespace rankwright
