// AdaBoost.MH (Schapire & Singer 1999): the weights of documents and classes, and rounds without the interpreter,
// the loop of training/boosting_loop.py for trees and products that vote.
#pragma once
#include <span>
#include <vector>

#include "trees/following.hpp"
#include "trees/stumps.hpp"

namespace rankwright {

// All arrays have one row per class and one column per document.
struct VoteRule {
    std::span<const double> targets;  // z: +1 for the document's own class, -1 for the others
    std::span<const double> weights;  // W, before the first round; not negative
    double learning_rate;
};

// Overwrites signed_weights with z w, where w = W exp(-z score), divided by its sum. If all W are 0, it is 0.
void class_weights(const VoteRule& rule, std::span<const double> scores, std::span<double> signed_weights);

// The sum of signed weight x vote.
double edge_of_votes(std::span<const double> signed_weights, std::span<const double> votes);

// Half the log-odds of an edge in [-1, 1], which is kept 1e-12 away from both.
double half_log_odds(double edge);

using VoteLearner = VoteTree (*)(const BinnedMatrix&, const VoteTask&, std::int32_t size, int n_threads,
                                 GrowthWorkspace&, std::span<double> votes_of_rows);

struct VoteRounds {
    const BinnedMatrix& binned;
    VoteRule rule;
    std::size_t n_classes;
    VoteLearner learner;  // grow_hamming_tree or fit_product, and its size
    std::int32_t size;
    bool opposite;
    int n_threads;
};

// Where the results of the rounds go: a tree and its step (alpha) per round, the scores after it, and its votes on
// the documents that follow, both class by class.
struct VoteResults {
    std::vector<VoteTree> trees;
    std::vector<double> steps;
    std::span<double> scores, outputs;
};

// Fits up to n_rounds classifiers to the weights of the scores so far, which start as given. Ends earlier if a
// classifier is no better than chance, or if scores are no longer finite.
RoundsEnd boost_votes(const VoteRounds& rounds, std::span<const double> start, std::size_t n_rounds,
                      const FollowingDocuments& following, GrowthWorkspace& workspace, VoteResults& results);

}  // namespace rankwright
