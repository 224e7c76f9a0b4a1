// Regression trees with a value for each of several classes in every leaf: one structure serves all classes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rankwright/binning.hpp"
#include "rankwright/grow.hpp"
#include "rankwright/histogram.hpp"

namespace rankwright {

constexpr std::size_t kMostClasses = 256;

// All numbers come class by class: class k of a row lies at [k * n_rows + row].
struct VectorGrowthTask {
    std::size_t n_classes;
    std::span<const double> gradient,
        hessian;                             // leaf values are sum(gradient) / (sum(hessian) + l2), class by class
    std::span<const std::uint32_t> sample;   // rows that splits are chosen on, ascending
    std::span<const double> sample_weights;  // how many like it each of them stands for; empty: one
    std::span<const std::uint32_t> features;  // that may be split on, ascending
};

// What growing a tree needs and the next tree needs again; one thread may use it at a time.
struct VectorWorkspace {
    Quantised quantised;         // one class at a time
    std::vector<Packed> packed;  // a row's classes side by side, and 1: its share of the count of documents
    std::vector<double> gradient_step, weight_step;  // one a class
    std::vector<std::uint32_t> sample, rest, buffer;
    std::vector<std::unique_ptr<Packed[]>> histograms;  // those that no leaf holds
    std::size_t histogram_size = 0;
};

// Grows one tree, best split of all leaves first, and overwrites outputs[k * n_rows + row] with class k of each
// row's leaf. The tree's leaf values lie leaf by leaf, n_classes each.
//
//   gain = sum over classes of GL^2 / (WL + l2) + GR^2 / (WR + l2) - G^2 / (W + l2)
//
// Of the limits, min_weight counts the weights of all classes together. Splits are chosen on rounded numbers whose
// sums are exact; leaf values come from all rows in full precision, added up in row order. So the tree does not
// depend on n_threads.
GrownTree grow_vector_tree(const BinnedMatrix& binned, const VectorGrowthTask& task, const GrowthLimits& limits,
                           int n_threads, VectorWorkspace& workspace, std::span<double> outputs);

}  // namespace rankwright
