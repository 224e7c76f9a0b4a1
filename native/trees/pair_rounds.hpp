// Rounds of RankBoost and MPBoost without the interpreter: the loop of training/boosting_loop.py for thresholds on
// single features, chosen by pairs of documents (see pairs/pairs.hpp).
#pragma once
#include <span>
#include <vector>

#include "metrics/round_measure.hpp"
#include "pairs/pairs.hpp"
#include "trees/following.hpp"

namespace rankwright {

// A threshold on one column of the matrix, just below `code`: documents with this code or a higher one are above
// it.
struct PairThreshold {
    std::size_t feature = 0;
    int code = 0;
    double value = 0.0;  // the output above it
    double gain = 0.0;   // of a stump; for a vote, its agreement with the pairs
};

// MPBoost's stumps, which output 0 below the threshold and for missing values, times the learning rate.
struct StumpRounds {
    const SortedCodes& sorted;
    bool squared;  // see crossing_weights
    double learning_rate;
};

struct PairRounds {
    PairTask pairs;  // without scores
    Rows rows;       // of all queries; with pairs.queries what is sorted
    const BinnedMatrix& binned;
    // Null: RankBoost's votes, 1/2 on one side of the threshold, -1/2 on the other and 0 for missing values, times
    // half the log-odds of their agreement.
    const StumpRounds* stumps;
    bool both_directions;         // whether lower values may be better too, for votes
    bool diagnosed;               // whether to count misordered pairs
    const RoundMeasure* measure;  // may be null; of the same queries
    int n_threads;
};

// A round: its threshold and step, how many documents are above the threshold and how many have no value, the
// agreement of the output with the pairs, and the loss and the fraction of misordered pairs after it.
struct PairRound {
    PairThreshold threshold;
    double step;
    std::size_t n_high, n_missing;
    double agreement, log_loss, misordered;
};

// One row per round: the scores after it, its outputs for the documents that follow, and the values of all
// queries, if rounds are measured.
struct PairResults {
    std::vector<PairRound> rounds;
    double first_log_loss;  // before the first round
    std::span<double> scores, outputs, values;
};

// Fits up to n_rounds thresholds to the pairs' weights at the scores so far, which start as given. Ends earlier if
// no threshold helps, or if scores, or the loss of stumps, are no longer finite. Results do not depend on
// n_threads.
RoundsEnd boost_pairs(const PairRounds& rounds, Doubles start, std::size_t n_rounds,
                      const FollowingDocuments& following, PairResults& results);

}  // namespace rankwright
