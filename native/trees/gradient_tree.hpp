// Regression trees on one gradient and hessian per row.
#pragma once
#include <cstdint>
#include <span>

#include "histograms/binning.hpp"
#include "trees/grower.hpp"
#include "trees/growth_limits.hpp"

namespace rankwright {

struct GrowthTask {
    // One per row. The gradient is minus the derivative of the loss, so that the value of a leaf is
    // sum(gradient) / (sum(hessian) + l2).
    std::span<const double> gradient, hessian;
    std::span<const std::uint32_t> sample;    // ascending: rows on which splits, or candidate features, are chosen
    std::span<const double> sample_weights;   // one per row of the sample; empty: all 1
    std::span<const std::uint32_t> features;  // ascending: those that may be split on
    std::span<const std::int8_t> monotone;    // +1, 0 or -1 per feature of the matrix; empty: no constraints
    bool all_rows_judge = false;              // set by grow_tree: the sample only chooses candidate features
};

// Grows one tree and overwrites outputs[row] with the value of each row's leaf.
//
//   gain = GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2)
//
// where G and H are the sums of gradient and hessian over the rows of a leaf, GL, HL and GR, HR those of its
// children. Splits are chosen on integers, whose sums are exact; leaf values come from all rows in full precision,
// summed in fixed point (see trees/leaf_sums.hpp). So the tree depends neither on n_threads nor on the order of
// rows. On a coarse matrix the search has two stages: the sample and the coarse levels (see
// histograms/binning.hpp) give a few candidate features, then the best split is found on all rows and all bins.
GrownTree grow_tree(const BinnedMatrix& binned, GrowthTask task, const GrowthLimits& limits, int n_threads,
                    GrowthWorkspace& workspace, std::span<double> outputs);

// Rows that others hold, who sum leaves too.
class RemoteRows : public RowStore {
  public:
    // The sums of gradient and hessian of each leaf listed, class by class: n_classes x n_leaves.
    virtual void sum_leaves(std::span<const std::uint32_t> leaves, std::vector<double>& gradients,
                            std::vector<double>& hessians) = 0;
};

// The same tree, where others hold the rows and their gradients. `units` are the steps of the sample's numbers,
// `all_units` those of all rows, where these judge splits. Codes of the matrix are not read.
GrownTree grow_remote_tree(const BinnedMatrix& binned, const GrowthTask& task, const GrowthLimits& limits,
                           const NumberSizes& units, const NumberSizes& all_units, RemoteRows& rows, int n_threads,
                           GrowthWorkspace& workspace);

}  // namespace rankwright
