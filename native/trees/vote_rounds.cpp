#include "trees/vote_rounds.hpp"

#include <algorithm>
#include <cmath>

#include "simd/kernels.hpp"

namespace rankwright {
namespace {

constexpr double kSmallestError = 1e-12;

// Eight sums side by side, so that an addition need not wait for the one before it.
template <class Term>
double sum_of(std::size_t size, const Term& term) {
    constexpr std::size_t kSums = 8;
    double sums[kSums] = {};
    std::size_t i = 0;
    for (; i + kSums <= size; i += kSums)
        for (std::size_t lane = 0; lane < kSums; ++lane) sums[lane] += term(i + lane);
    for (; i < size; ++i) sums[i % kSums] += term(i);
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

void class_weights(const VoteRule& rule, std::span<const double> scores, std::span<double> signed_weights) {
    const std::size_t size = scores.size();
    double highest = -HUGE_VAL;
    for (std::size_t i = 0; i < size; ++i) {
        signed_weights[i] = -rule.targets[i] * scores[i];
        if (rule.weights[i] > 0.0) highest = std::max(highest, signed_weights[i]);
    }
    for (double& power : signed_weights) power = std::min(power - highest, 0.0);  // above 0 only if W is 0
    exponentiate(signed_weights.data(), static_cast<std::int64_t>(size), widest_path());
    const double total = sum_of(size, [&](std::size_t i) { return signed_weights[i] *= rule.weights[i]; });
    const double scale = total > 0.0 ? total : 1.0;
    for (std::size_t i = 0; i < size; ++i) signed_weights[i] = rule.targets[i] * (signed_weights[i] / scale);
}

double edge_of_votes(std::span<const double> signed_weights, std::span<const double> votes) {
    return sum_of(votes.size(), [&](std::size_t i) { return signed_weights[i] * votes[i]; });
}

double half_log_odds(double edge) {
    const double kept = std::clamp(edge, kSmallestError - 1.0, 1.0 - kSmallestError);
    return 0.5 * std::log((1.0 + kept) / (1.0 - kept));
}

RoundsEnd boost_votes(const VoteRounds& rounds, std::span<const double> start, std::size_t n_rounds,
                      const FollowingDocuments& following, GrowthWorkspace& workspace, VoteResults& results) {
    const std::size_t size = start.size();
    std::vector<double> weights(size), votes(size);
    std::vector<std::uint32_t> leaves(following.size());
    std::span<const double> scores = start;
    for (std::size_t round = 0; round < n_rounds; ++round) {
        class_weights(rounds.rule, scores, weights);
        VoteTree tree = rounds.learner(rounds.binned, {weights, rounds.n_classes, rounds.opposite}, rounds.size,
                                       rounds.n_threads, workspace, votes);
        const double edge = edge_of_votes(weights, votes);
        if (edge < kSmallestError) return RoundsEnd::kNothingLeft;
        const double step = rounds.rule.learning_rate * half_log_odds(edge);
        const std::span<double> sums = results.scores.subspan(round * size, size);
        for (std::size_t i = 0; i < size; ++i) sums[i] = step * votes[i] + scores[i];
        if (!all_finite(sums)) return RoundsEnd::kNotFinite;
        following.find_leaves(tree, rounds.n_threads, leaves);
        double* outputs = results.outputs.data() + round * rounds.n_classes * leaves.size();
        for (std::size_t k = 0; k < rounds.n_classes; ++k)
            for (const std::uint32_t leaf : leaves) *outputs++ = tree.votes[leaf * rounds.n_classes + k];
        results.trees.push_back(std::move(tree));
        results.steps.push_back(step);
        scores = sums;
    }
    return RoundsEnd::kAllDone;
}

}  // namespace rankwright
