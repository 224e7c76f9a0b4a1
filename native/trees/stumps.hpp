// Stumps that vote for or against each class (Schapire & Singer 1999; Kégl & Busa-Fekete 2009).
//
// A document has a signed weight per class: positive for its own class, negative for the others. The edge of a
// classifier is the sum of signed weight x vote. A stump splits one feature and lets each side vote +1 or -1 on
// every class:
//
//   opposite votes:  edge = sum over classes of |right sum - left sum|
//   free votes:      edge = sum over classes of |left sum| + |right sum|
//
// Signed weights are rounded to integer multiples of 2^-52 of their total, whose sums are exact: neither the order
// of rows nor the number of threads can change a choice. Ties: the first feature and the lowest code win.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "histograms/binning.hpp"
#include "trees/grower.hpp"
#include "trees/tree_shape.hpp"

namespace rankwright {

using VoteSum = std::int64_t;
using VoteSums = std::vector<VoteSum>;   // one per class
using Votes = std::vector<std::int8_t>;  // +1 or -1 per class

struct VoteTask {
    std::span<const double> signed_weights;  // n_classes x n_rows
    std::size_t n_classes;
    bool opposite;  // whether the two sides of a stump must vote against each other
};

// A tree in the form of the Python class TreeEnsemble, with n_classes votes of +1 or -1 per leaf.
struct VoteTree : TreeShape {
    std::vector<double> votes;  // n_leaves x n_classes
};

struct Stump : CodeSplit {
    VoteSum edge = -1;
    Votes left, right;
};

VoteSum edge_of(const VoteSums& sums, const Votes& votes);
Votes best_constant(const VoteSums& sums);

// Signed weights as integers, their sums by code, and the best stump that those sums allow.
class StumpFinder {
  public:
    StumpFinder(const BinnedMatrix& binned, const VoteTask& task, GrowthWorkspace& space);

    double step() const { return step_; }  // the size of one unit of a sum
    const HistogramLayout& layout() const { return layout_; }

    void fill(std::span<const std::uint32_t> rows, int n_threads, VoteSum* histogram) const;
    VoteSums total_of_rows() const;  // of all rows
    VoteSums total_of_histogram(const VoteSum* histogram) const;
    Stump best(const VoteSum* histogram, const VoteSums& total, int n_threads) const;

  private:
    void quantise(std::span<const double> weights);
    Stump scan(std::size_t feature, const VoteSum* sums, const VoteSums& total) const;
    template <std::size_t kClasses>
    Stump scan_classes(std::size_t feature, const VoteSum* sums, const VoteSums& total) const;
    template <std::size_t kClasses>
    VoteSum edge_of_split(const VoteSum* left, const VoteSum* total) const;
    void set_votes(const VoteSum* sums, const VoteSums& total, Stump& stump) const;

    const BinnedMatrix& binned_;
    const std::size_t n_classes_;
    const bool opposite_;
    double step_ = 0.0;
    std::vector<std::uint32_t> features_;
    HistogramLayout layout_;
    WideRows& weights_;
};

}  // namespace rankwright
