// A metric of the scores s + alpha t, for every alpha in (low, high) at once: the exact best combination of two
// rankers (Wu, Burges, Svore & Gao 2010, section 4).
//
// As alpha grows, a document's score follows a line, and two lines cross once at most, at
//
//     alpha = (s_j - s_i) / (t_i - t_j)        where t_i > t_j: below it j is above i, beyond it i is above j.
//
// So every pair has one crossing or none, and a document's rank is the number of those above it. A metric that
// sums over documents something that depends on who is above each changes by two terms a crossing. Nothing is ever
// sorted by score, so crossings that coincide, or nearly do, may be taken in any order.
//
// Documents with equal s and equal t are tied for every alpha: where `average_ties` is true they are one, with the
// exact expectation over their orders (as in metrics.hpp); otherwise the one that comes first in `rows` is above.
// An alpha at which lines cross is never looked at itself, only the intervals between crossings.
//
// Sums are of whole numbers, so neither the order of queries, nor of documents, nor the number of threads changes
// a bit of them. A query of n documents costs n^2 log n and, while it is swept, 16 bytes a crossing.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "rankwright/metrics.hpp"

namespace rankwright {

// Query q's documents are rows[queries[q]] .. rows[queries[q + 1] - 1]; s and t are indexed by row, finite and at
// most kHighestScore in size. low < high, and both may be infinite.
struct Lines {
    Offsets queries;
    Rows rows;
    Doubles s, t;
    double low, high;
    bool average_ties;
};

constexpr double kHighestScore = 1e300;  // differences are finite

// The sum over queries beyond alphas[i], up to alphas[i + 1], is that of `starts` plus changes[i]. Alphas rise.
struct Sweep {
    std::vector<double> alphas, changes;
};

// All of them: each query's value just above `low` goes to `starts`, what follows to `sweep`. A query that has no
// best order has the value 0 throughout.

// sum over documents of gain x the weight of its rank; query q's weights, from the first rank, are
// rank_weights[queries[q]] .. rank_weights[queries[q + 1] - 1].
// They must add up.
void sweep_gains(const Lines& lines, Doubles gains, Doubles rank_weights, int n_threads, std::span<double> starts,
                 Sweep& sweep);

// Whether all sums of gains and of weights are finite, also in the units that they are counted in.
bool gains_add_up(const Lines& lines, Doubles gains, Doubles rank_weights);

// The others are what metrics.hpp says.
void sweep_average_precisions(const Lines& lines, Relevance relevance, std::size_t depth, bool capped,
                              int n_threads, std::span<double> starts, Sweep& sweep);
void sweep_reciprocal_ranks(const Lines& lines, Relevance relevance, std::size_t depth, int n_threads,
                            std::span<double> starts, Sweep& sweep);
void sweep_expected_reciprocal_ranks(const Lines& lines, Doubles stop_probability, std::size_t depth,
                                     int n_threads, std::span<double> starts, Sweep& sweep);

}  // namespace rankwright
