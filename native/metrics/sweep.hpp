// Evaluates a metric of the scores s + alpha t for every alpha in (low, high), which gives the exact best
// combination of two rankers (Wu, Burges, Svore & Gao 2010, section 4).
//
// As alpha grows, the score of a document follows a line. Two lines cross at most once, at
//
//     alpha = (s_j - s_i) / (t_i - t_j)        with t_i > t_j
//
// where j is above i for smaller alphas, and i above j for larger ones.
//
// So every pair has at most one crossing, and the rank of a document is the number of documents above it. If a
// metric is a sum over documents of terms that depend only on the documents above each, two terms change at a
// crossing. Nothing is sorted by score, so crossings that coincide, or nearly do, may be processed in any order.
//
// Documents with equal s and equal t are tied for every alpha: if `average_ties` is true they are processed
// together, with the exact expectation over their orders (as in metrics/metrics.hpp); otherwise the first one in
// `rows` is above. Values are those of the open intervals between crossings, not at the crossings themselves.
//
// Sums are of integers, so they depend neither on the order of queries or documents nor on n_threads. A query of n
// documents takes time n^2 log n and, while it is processed, 16 bytes of memory per crossing.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "metrics/metrics.hpp"

namespace rankwright {

// The documents of query q are rows[queries[q]] .. rows[queries[q + 1] - 1]; s and t are indexed by row, finite,
// and their absolute values are at most kHighestScore. low < high, and both may be infinite.
struct Lines {
    Offsets queries;
    Rows rows;
    Doubles s, t;
    double low, high;
    bool average_ties;
};

constexpr double kHighestScore = 1e300;  // differences of scores are then finite

// Between alphas[i] and alphas[i + 1] the sum over queries is that of `starts` plus changes[i]. Alphas are
// ascending.
struct Sweep {
    std::vector<double> alphas, changes;
};

// All functions write the value of each query just above `low` to `starts`, and the changes of their sum to
// `sweep`. A query in which all orders are equally good has the value 0 for every alpha.

// Sum over documents of gain x the weight of its rank; the weights of query q, from the first rank, are
// rank_weights[queries[q]] .. rank_weights[queries[q + 1] - 1]. Requires gains_add_up.
void sweep_gains(const Lines& lines, Doubles gains, Doubles rank_weights, int n_threads, std::span<double> starts,
                 Sweep& sweep);

// Whether all sums of gains and of weights are finite, also in the integer units of the sweep.
bool gains_add_up(const Lines& lines, Doubles gains, Doubles rank_weights);

// The other metrics are defined in metrics/metrics.hpp.
void sweep_average_precisions(const Lines& lines, Relevance relevance, std::size_t depth, bool capped,
                              int n_threads, std::span<double> starts, Sweep& sweep);
void sweep_reciprocal_ranks(const Lines& lines, Relevance relevance, std::size_t depth, int n_threads,
                            std::span<double> starts, Sweep& sweep);
void sweep_expected_reciprocal_ranks(const Lines& lines, Doubles stop_probability, std::size_t depth,
                                     int n_threads, std::span<double> starts, Sweep& sweep);

}  // namespace rankwright
