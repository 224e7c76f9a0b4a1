// Pairwise gradients of LambdaMART, weighted by a metric (Wu, Burges, Svore & Gao 2010, equations 2 to 5).
//
// For every two documents i, j of a query with label_i > label_j, at least one of them among the first
// `truncation` ranks, and with |delta| the change of a metric if the two are swapped:
//
//   rho      =  1 / (1 + exp(sigma (score_i - score_j)))
//   gradient_i += |delta| rho        gradient_j -= |delta| rho        (positive: the score should rise)
//   hessian_i, hessian_j += |delta| sigma rho (1 - rho)
//
// With `normalise`, as in LightGBM, |delta| is divided by .01 + |score_i - score_j| unless all scores of the query
// are equal; then the query's sums are multiplied by log2(1 + S) / S, where S is twice the sum of |delta| rho over
// its pairs. Finally they are multiplied by the query's weight.
//
// The documents of query q, best first, are order[queries[q]] .. order[queries[q + 1] - 1] (see
// sort_within_queries), which are rows that index all other arrays; `gradient` and `hessian` are overwritten for
// these rows. Scores are finite. Pairs are computed in single precision and summed in double. One thread owns one
// query and sums in a fixed order: the result depends neither on n_threads nor on the SIMD path. Memory is
// linear in the longest query; the time of a query is its length times the number of ranks that count.
#pragma once
#include <cstddef>
#include <span>

#include "metrics/metrics.hpp"
#include "queries/ranking.hpp"
#include "simd/kernels.hpp"

namespace rankwright {

struct PairLoss {
    Offsets queries;
    Rows order;
    Doubles scores, labels;
    Doubles query_weights;  // one per query; if empty, all are 1
    std::size_t truncation;
    bool normalise;
    double sigma;
    SimdPath path;
};

struct Lambdas {
    std::span<double> gradient, hessian;
};

// Metrics that sum gain x discount, times one factor per query (0 skips the query): discounts[0] is that of the
// first rank; ranks after the last discount have discount 0. Gains and discounts are in [0, 1].
void linear_lambdas(const PairLoss& loss, std::span<const float> gains, Doubles discounts, Doubles query_factors,
                    int n_threads, Lambdas lambdas);

// The same with discounts that differ by query: discounts[queries[q] + r] is that of rank r, from 0, of query q.
void linear_by_query_lambdas(const PairLoss& loss, std::span<const float> gains, Doubles discounts,
                             Doubles query_factors, int n_threads, Lambdas lambdas);

// The metrics of metrics/metrics.hpp, with the same arguments.
void average_precision_lambdas(const PairLoss& loss, double threshold, std::size_t depth, bool capped,
                               int n_threads, Lambdas lambdas);
void reciprocal_rank_lambdas(const PairLoss& loss, double threshold, std::size_t depth, int n_threads,
                             Lambdas lambdas);
void expected_reciprocal_rank_lambdas(const PairLoss& loss, Doubles stop_probability, std::size_t depth,
                                      int n_threads, Lambdas lambdas);

// No metric: every |delta| is 1, which is RankNet (Burges et al. 2005).
void even_lambdas(const PairLoss& loss, int n_threads, Lambdas lambdas);

// Any metric, for a single query of n documents: deltas[upper * n + lower] is |delta| of these two ranks, from 0.
// There are 1 to n rows of deltas; between documents below the last row, |delta| is 0.
void given_lambdas(const PairLoss& loss, Doubles deltas, Lambdas lambdas);

}  // namespace rankwright
