// Regression trees with one value per class in every leaf: one structure serves all classes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "histograms/binning.hpp"
#include "trees/gradient_tree.hpp"
#include "trees/grower.hpp"
#include "trees/growth_limits.hpp"

namespace rankwright {

constexpr std::size_t kMostClasses = 256;

// Arrays are ordered by class: class k of a row is at [k * n_rows + row].
struct ClassGrowthTask {
    std::size_t n_classes;
    std::span<const double> gradient,
        hessian;                              // a leaf's value for a class is sum(gradient) / (sum(hessian) + l2)
    std::span<const std::uint32_t> sample;    // ascending: rows that splits are chosen on
    std::span<const double> sample_weights;   // one per row of the sample; empty: all 1
    std::span<const std::uint32_t> features;  // ascending: those that may be split on
};

struct ClassSteps {
    double gradient, hessian;  // the size of one unit of a sum
};

// Writes the integers of every row of the sample, and 1 for the count of documents, to the workspace's wide rows,
// and returns the classes' units; quantise_class(rows, k) rounds class k to the workspace's quantised numbers.
std::vector<ClassSteps> quantise_classes(
    const ClassGrowthTask& task, std::size_t n_rows,
    const std::function<void(const RoundedRows&, std::size_t)>& quantise_class, GrowthWorkspace& space);

// Grows one tree and overwrites outputs[k * n_rows + row] with the value of each row's leaf for class k. The
// tree's leaf values are ordered by leaf, n_classes each.
//
//   gain = sum over classes of GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2)
//
// The limit min_hessian applies to the sum over all classes. Splits are chosen on integers, whose sums are
// exact; leaf values come from all rows in full precision, summed in fixed point (see trees/leaf_sums.hpp). So the
// tree depends neither on n_threads nor on the order of rows. A coarse matrix is searched at full resolution like
// any other.
GrownTree grow_class_tree(const BinnedMatrix& binned, const ClassGrowthTask& task, const GrowthLimits& limits,
                          int n_threads, GrowthWorkspace& workspace, std::span<double> outputs);

// The same tree, where others hold the rows and their gradients, with these units per class.
GrownTree grow_remote_class_tree(const BinnedMatrix& binned, std::span<const std::uint32_t> features,
                                 const GrowthLimits& limits, std::vector<ClassSteps> units, RemoteRows& rows,
                                 int n_threads, GrowthWorkspace& workspace);

}  // namespace rankwright
