// The arrays of the Python class TreeEnsemble.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "queries/ranking.hpp"
#include "trees/level_set.hpp"

namespace rankwright {

// All trees' splits one after another, and all leaves; models/trees.py describes the arrays.
struct FlatTrees {
    Offsets splits;
    std::span<const std::int32_t> feature;
    std::span<const float> threshold;
    std::span<const std::uint8_t> missing_left;
    std::span<const std::int32_t> left, right;
    std::vector<LevelSet> sets;  // one per split; empty if it has a threshold
    Doubles leaf_value;
};

}  // namespace rankwright
