#include "trees/pair_rounds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "pairs/query_factors.hpp"
#include "trees/vote_rounds.hpp"

namespace rankwright {
namespace {

constexpr double kNothing = 1e-12;  // smaller sums of pair weights, which sum to 1, are rounding errors
constexpr std::size_t kKnownCodes = kCodes - 1;

// Sums over a code and all higher ones, without the missing values.
using SumsAbove = std::array<double, kKnownCodes>;

SumsAbove above(const double* sums) {
    SumsAbove above;
    double sum = above.back() = sums[kKnownCodes - 1];
    for (std::size_t code = kKnownCodes - 1; code-- > 0;) above[code] = sum += sums[code];
    return above;
}

class PairLearner {
  public:
    explicit PairLearner(const PairRounds& rounds)
        : rounds_(rounds),
          gradient_(rounds.binned.n_rows),
          hessian_(rounds.binned.n_rows),
          pull_(rounds.binned.n_features * kCodes),
          weight_(rounds.stumps == nullptr ? 0 : pull_.size()),
          factors_(rounds.stumps == nullptr ? 0 : rounds.pairs.queries.size() - 1,
                   QueryFactors(rounds.pairs.n_labels)) {}

    // Takes the weights of the pairs at these scores; returns the logarithm of their loss.
    double weigh(Doubles scores) {
        task_.emplace(rounds_.pairs);
        task_->scores = scores;
        return log_loss_ = pair_gradients(*task_, rounds_.n_threads, gradient_, hessian_, factors_);
    }

    const PairTask& task() const { return *task_; }
    double agreement(Doubles outputs) const { return edge_of_votes(gradient_, outputs); }

    // The best threshold of all; of equal ones the first. Its value is 0 if none helps.
    PairThreshold best() {
        sum_by_code(rounds_.binned, gradient_, rounds_.n_threads, pull_);
        if (rounds_.stumps != nullptr)
            crossing_weights(*task_, log_loss_, rounds_.stumps->squared, rounds_.binned, rounds_.stumps->sorted,
                             rounds_.n_threads, factors_, weight_);
        PairThreshold best{.gain = -std::numeric_limits<double>::infinity()};
        for (std::size_t feature = 0; feature < rounds_.binned.n_features; ++feature) {
            const PairThreshold own = rounds_.stumps != nullptr ? best_stump(feature) : best_vote(feature);
            if (own.gain > best.gain) best = own;
        }
        if (rounds_.stumps == nullptr && !(best.gain > kNothing)) best.value = 0.0;
        return best;
    }

  private:
    PairThreshold best_stump(std::size_t feature) const {
        const SumsAbove pulls = above(pull_.data() + feature * kCodes);
        const SumsAbove weights = above(weight_.data() + feature * kCodes);
        PairThreshold best{.feature = feature, .gain = -1.0};
        for (std::size_t code = 0; code < kKnownCodes; ++code) {
            const bool crosses = weights[code] > kNothing;
            const double gain = crosses ? pulls[code] * pulls[code] / weights[code] : 0.0;
            if (gain > best.gain)
                best = {feature, static_cast<int>(code), crosses ? pulls[code] / weights[code] : 0.0, gain};
        }
        return best;
    }

    // With r half the sum of gradients above the threshold, minus half the sum below.
    PairThreshold best_vote(std::size_t feature) const {
        const SumsAbove pulls = above(pull_.data() + feature * kCodes);
        const auto n_thresholds = static_cast<std::size_t>(rounds_.binned.n_bins(feature));
        PairThreshold best{.feature = feature, .gain = -std::numeric_limits<double>::infinity()};
        for (std::size_t code = 0; code < std::min(n_thresholds, kKnownCodes); ++code) {
            const double r = pulls[code] - pulls[0] / 2.0;
            const double agreement = rounds_.both_directions ? std::abs(r) : r;
            if (agreement > best.gain) best = {feature, static_cast<int>(code), r > 0.0 ? 0.5 : -0.5, agreement};
        }
        return best;
    }

    const PairRounds& rounds_;
    std::vector<double> gradient_, hessian_, pull_, weight_;
    std::vector<QueryFactors> factors_;  // at the scores of the task, for stumps
    std::optional<PairTask> task_;
    double log_loss_ = 0.0;
};

// Overwrites the outputs for the documents trained on, and counts them by side.
void write_outputs(const PairRounds& rounds, const PairThreshold& threshold, std::span<double> outputs,
                   PairRound& round) {
    const std::uint8_t* codes = rounds.binned.column(threshold.feature);
    const double below = rounds.stumps != nullptr ? 0.0 : -threshold.value;
    for (std::size_t row = 0; row < outputs.size(); ++row) {
        const bool is_missing = codes[row] == kMissing, is_high = !is_missing && codes[row] >= threshold.code;
        outputs[row] = is_high ? threshold.value : is_missing ? 0.0 : below;
        round.n_high += is_high;
        round.n_missing += is_missing;
    }
}

void follow(const PairRounds& rounds, const PairThreshold& threshold, const FollowingDocuments& following,
            double* outputs) {
    const auto source = static_cast<std::size_t>(following.sources[threshold.feature]);
    const double below = rounds.stumps != nullptr ? 0.0 : -threshold.value;
    // Just above the lowest number stands for minus infinity.
    const float edge = threshold.code == 0
                           ? std::nextafter(std::numeric_limits<float>::lowest(), 0.0f)
                           : rounds.binned.edges[threshold.feature][static_cast<std::size_t>(threshold.code) - 1];
    for (std::size_t row = 0; row < following.size(); ++row) {
        const float value = following.values[row * following.n_features + source];
        outputs[row] = value > edge ? threshold.value : value == value ? below : 0.0;
    }
}

// The weight of a threshold with these outputs; 0 if it does not help.
double step_of(const PairRounds& rounds, const PairRound& round) {
    if (round.threshold.value == 0.0) return 0.0;
    if (rounds.stumps == nullptr) return round.agreement > kNothing ? half_log_odds(round.agreement) : 0.0;
    const bool divides = 0 < round.n_high && round.n_high < rounds.binned.n_rows;
    return divides ? rounds.stumps->learning_rate : 0.0;
}

}  // namespace

RoundsEnd boost_pairs(const PairRounds& rounds, Doubles start, std::size_t n_rounds,
                      const FollowingDocuments& following, PairResults& results) {
    const std::size_t n_rows = start.size(), n_queries = rounds.pairs.queries.size() - 1;
    PairLearner learner(rounds);
    RoundRanking ranking(rounds.pairs.queries, rounds.rows);
    std::vector<double> outputs(n_rows);
    Doubles scores = start;
    results.first_log_loss = learner.weigh(start);
    for (std::size_t number = 0; number < n_rounds; ++number) {
        PairRound round{learner.best(), 0.0, 0, 0, 0.0, 0.0, 0.0};
        write_outputs(rounds, round.threshold, outputs, round);
        if (rounds.stumps == nullptr) round.agreement = learner.agreement(outputs);
        round.step = step_of(rounds, round);
        if (round.step == 0.0) return RoundsEnd::kNothingLeft;
        const std::span<double> sums = results.scores.subspan(number * n_rows, n_rows);
        for (std::size_t row = 0; row < n_rows; ++row) sums[row] = round.step * outputs[row] + scores[row];
        if (!all_finite(sums)) return RoundsEnd::kNotFinite;
        scores = sums;
        follow(rounds, round.threshold, following, results.outputs.data() + number * following.size());
        round.log_loss = learner.weigh(scores);
        if (rounds.diagnosed || rounds.measure != nullptr) ranking.sort(scores, rounds.n_threads);
        if (rounds.diagnosed)
            round.misordered = misordered_share(learner.task(), ranking.order(), rounds.n_threads);
        if (rounds.measure != nullptr)
            ranking.measure(*rounds.measure, scores, rounds.n_threads,
                            results.values.subspan(number * n_queries, n_queries));
        results.rounds.push_back(round);
        if (rounds.stumps != nullptr && !std::isfinite(round.log_loss)) return RoundsEnd::kNotFinite;
    }
    return RoundsEnd::kAllDone;
}

}  // namespace rankwright
