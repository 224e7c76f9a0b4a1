// Regression trees grown leaf by leaf on binned features, the best split of all leaves first.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rankwright/binning.hpp"
#include "rankwright/histogram.hpp"
#include "rankwright/tree_shape.hpp"

namespace rankwright {

struct GrowthLimits {
    std::int32_t max_leaves;
    std::int64_t min_documents;  // in every leaf, of those that choose its split
    double min_weight;           // sum of weights in every leaf
    double l2;                   // added to every sum of weights
    double min_gain;             // a split must gain more
    std::int32_t levels;         // steps that gradients and weights are rounded to for choosing splits
};

struct GrownTree : TreeShape {
    std::vector<double> leaf_value, cover;
};

struct GrowthTask {
    std::span<const double> gradient, hessian;  // one a row: leaf values are sum(gradient) / (sum(hessian) + l2)
    std::span<const std::uint32_t> sample;      // rows that splits are chosen on, or features, ascending
    std::span<const double> sample_weights;     // how many like it each of them stands for; empty: one
    std::span<const std::uint32_t> features;    // that may be split on, ascending
    std::span<const std::int8_t> monotone;      // +1, 0 or -1 a feature of the matrix; may be empty
};

// What dividing a leaf needs.
struct GrowthScratch {
    std::vector<Packed> levels, codes;  // sums of single features
    std::vector<std::uint32_t> buffer;
};

// What growing a tree needs and the next tree needs again; one tree may use it at a time.
struct GrowthWorkspace {
    Quantised quantised, whole;  // of the sample, and of all rows
    std::vector<std::uint32_t> sample, rest, leaf_of_row;
    std::vector<std::unique_ptr<Packed[]>> histograms;  // those that no leaf holds
    std::size_t histogram_size = 0;
    std::vector<GrowthScratch> scratch;  // one a thread
};

// Grows one tree and overwrites outputs[row] with the value of each row's leaf.
//
//   gain = GL^2 / (WL + l2) + GR^2 / (WR + l2) - G^2 / (W + l2)
//
// Splits are chosen on rounded numbers whose sums are exact; leaf values come from all rows in full precision,
// added up run by run. So the tree does not depend on n_threads. On a coarse matrix, the sample chooses the few
// features that are looked at code by code; all rows then choose the split.
GrownTree grow_tree(const BinnedMatrix& binned, const GrowthTask& task, const GrowthLimits& limits, int n_threads,
                    GrowthWorkspace& workspace, std::span<double> outputs);

}  // namespace rankwright
