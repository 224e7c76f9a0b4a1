// Regression trees on one gradient and hessian per row.
#pragma once
#include <cstdint>
#include <span>

#include "histograms/binning.hpp"
#include "trees/grower.hpp"
#include "trees/growth_limits.hpp"

namespace rankwright {

struct GrowthTask {
    std::span<const double> gradient, hessian;  // one per row: leaf values are sum(gradient) / (sum(hessian) + l2)
    std::span<const std::uint32_t> sample;      // ascending: rows that splits, or features, are chosen on
    std::span<const double> sample_weights;     // one per row of the sample; empty: all 1
    std::span<const std::uint32_t> features;    // ascending: those that may be split on
    std::span<const std::int8_t> monotone;      // +1, 0 or -1 per feature of the matrix; may be empty
};

// Grows one tree and overwrites outputs[row] with the value of each row's leaf.
//
//   gain = GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2)
//
// Splits are chosen on integers, whose sums are exact; leaf values come from all rows in full precision, summed in
// runs of rows. So the tree does not depend on n_threads. On a coarse matrix the search has two stages: the sample
// chooses a few features by their levels, and all rows then choose the split at full resolution.
GrownTree grow_tree(const BinnedMatrix& binned, const GrowthTask& task, const GrowthLimits& limits, int n_threads,
                    GrowthWorkspace& workspace, std::span<double> outputs);

}  // namespace rankwright
