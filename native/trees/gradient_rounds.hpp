// Rounds of gradient boosting without the interpreter: the loop of training/boosting_loop.py for trees.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "metrics/round_measure.hpp"
#include "pairs/lambdas.hpp"
#include "trees/class_tree.hpp"
#include "trees/following.hpp"
#include "trees/gradient_tree.hpp"

namespace rankwright {

// Overwrites the gradient and the hessian of every score, class by class where rows have several. `order` has the
// rows of every query, best first, if they have been sorted already; otherwise it is empty.
using GradientRule = std::function<void(Doubles scores, Rows order, int n_threads, Lambdas gradients)>;

// What a tree chooses its splits on: rows and features, each ascending. If samples are guarded, the rows are drawn
// by the sizes of gradients and hessians, with this seed.
struct TreeDraw {
    std::span<const std::uint32_t> rows, features;
    std::uint64_t seed = 0;
};

struct TreeRounds {
    const BinnedMatrix& binned;
    const GradientRule& rule;
    std::size_t n_classes;  // scores of each row
    // Whether one tree per round has a value for every class in each leaf; otherwise each class has a tree.
    bool shared;
    std::span<const std::int8_t> monotone;  // as in GrowthTask
    GrowthLimits limits;
    double shrinkage;
    int n_threads;
    const RoundMeasure* measure;  // may be null
    SampleGuard* guard;           // may be null

    std::size_t trees_per_round() const { return shared ? 1 : n_classes; }
};

// Where the results of the rounds go: all trees, one row of scores after each round, one of the outputs of its
// trees for the documents that follow, both class by class, and one of the values of all queries, if measured.
struct RoundResults {
    std::vector<GrownTree> trees;
    std::span<double> scores, outputs, values;
};

// Grows a tree per draw, trees_per_round of them on the gradients of the scores so far, which start as given. A
// draw without a split that has a gain is replaced by all rows and features. Ends before the last draw if no split
// helps, or if scores or gradients are no longer finite.
RoundsEnd boost_trees(const TreeRounds& rounds, Doubles start, std::span<const TreeDraw> draws,
                      const FollowingDocuments& following, GrowthWorkspace& workspace, RoundResults& results);

}  // namespace rankwright
