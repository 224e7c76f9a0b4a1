// Ranking metrics, one value per query, from documents sorted by sort_within_queries.
//
// The documents of query q, best first, are order[queries[q]] .. order[queries[q + 1] - 1], which are rows that
// index `scores` and the other per-row inputs. If `average_ties` is true, the value is the exact expectation over
// all orders of documents with equal scores (McSherry & Najork 2008); otherwise it is that of the sorted order.
// tied[q] is whether query q has equal scores. A document is relevant if its label is at least `threshold`;
// `depth` is the number of ranks that count. `values` gets one value per query: NaN if all orders are equally good
// (no relevant document, no gain, all labels equal). One thread owns one query.
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "queries/ranking.hpp"

namespace rankwright {

struct RankedQueries {
    Offsets queries;
    Rows order;
    Doubles scores;
    std::span<const bool> tied;  // one per query
    bool average_ties;
};

// One of the metrics below with its own arguments.
using RankMeasure = std::function<void(const RankedQueries& ranked, int n_threads, std::span<double> values)>;

struct Relevance {
    Doubles labels;
    double threshold;
};

// Sum over ranks of gain x discount; discounts[0] is that of the first rank, and their number is the depth. Never
// NaN.
void discounted_gains(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads,
                      std::span<double> values);

// The same for the ideal order, from the rows of every query in any order.
void ideal_gains(Offsets queries, Rows rows, Doubles gains, Doubles discounts, int n_threads,
                 std::span<double> ideals);

// Discounted gains, divided by the ideal ones.
void ndcgs(const RankedQueries& ranked, Doubles gains, Doubles discounts, Doubles ideals, int n_threads,
           std::span<double> values);

// Mean over n = 1 .. (number of documents) of NDCG@n.
void mean_ndcgs(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads,
                std::span<double> values);

// Sum of the precisions at the ranks of the relevant documents, divided by the number of relevant documents or, if
// `capped`, by the smaller of that number and the depth.
void average_precisions(const RankedQueries& ranked, Relevance relevance, std::size_t depth, bool capped,
                        int n_threads, std::span<double> values);

// 1 / rank of the first relevant document.
void reciprocal_ranks(const RankedQueries& ranked, Relevance relevance, std::size_t depth, int n_threads,
                      std::span<double> values);

// Sum over ranks of P(the user stops here) / rank; a user who reaches a document stops there with its probability
// (Chapelle et al. 2009).
void expected_reciprocal_ranks(const RankedQueries& ranked, Doubles stop_probability, std::size_t depth,
                               int n_threads, std::span<double> values);

// Fraction of the pairs with different labels whose better document ranks higher; a pair with equal scores counts
// half.
void pair_accuracies(const RankedQueries& ranked, Doubles labels, int n_threads, std::span<double> values);

}  // namespace rankwright
