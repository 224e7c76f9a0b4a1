// Weak classifiers for AdaBoost.MH (Schapire & Singer 1999): trees and products of stumps that vote for or against
// each class (Kégl & Busa-Fekete 2009).
//
// A document's signed weight for a class is its weight there, negative unless the class is its own. The edge of a
// classifier is the sum of signed weight x vote. A stump splits one feature and lets each side vote +1 or -1 on
// every class:
//
//   opposite votes:  edge = sum over classes of |right sum - left sum|
//   free votes:      edge = sum over classes of |left sum| + |right sum|
//
// Signed weights are rounded to whole numbers of 2^-52 of their total, whose sums are exact: neither the order of
// rows nor the number of threads can change a choice. Of equal edges, the first feature and the lowest code win.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rankwright/binning.hpp"
#include "rankwright/tree_shape.hpp"

namespace rankwright {

struct ClassTask {
    std::span<const double> signed_weights;  // n_rows x n_classes
    std::size_t n_classes;
    bool opposite;  // whether the two sides of a stump must vote against each other
};

// A tree in the form of the Python class TreeEnsemble, with n_classes votes of +1 or -1 a leaf.
struct ClassTree : TreeShape {
    std::vector<double> cover;
    std::vector<double> votes;  // n_leaves x n_classes
};

// What a fit needs and the next one needs again; one thread may use it at a time.
struct ClassWorkspace {
    std::vector<std::int64_t> weights;
    std::vector<std::uint32_t> rows, buffer;
    std::vector<std::unique_ptr<std::int64_t[]>> histograms;  // those that no leaf holds
    std::size_t histogram_size = 0;
};

// Grows a tree leaf by leaf: always the split that adds most to the edge, until none adds anything or there are
// max_leaves. A leaf votes as its side of the stump that made it. Overwrites votes_of_rows (n_rows x n_classes).
ClassTree grow_class_tree(const BinnedMatrix& binned, const ClassTask& task, std::int32_t max_leaves,
                          int n_threads, ClassWorkspace& workspace, std::span<double> votes_of_rows);

// Multiplies up to max_terms stumps, class by class. Terms begin as constants; each in turn is fitted to what the
// others leave it, or becomes a constant if that is no worse, until no term raises the edge. The result comes as
// the tree of all its cells. Overwrites votes_of_rows.
ClassTree fit_product(const BinnedMatrix& binned, const ClassTask& task, std::int32_t max_terms, int n_threads,
                      ClassWorkspace& workspace, std::span<double> votes_of_rows);

}  // namespace rankwright
