// Values of ranking metrics, one a query, from documents sorted by sort_within_queries.
//
// In all of them: query q's documents, best first, are order[queries[q]] .. order[queries[q + 1] - 1], rows that
// index `scores` and the per-row inputs. Where `average_ties` is true a run of equal scores counts as the exact
// expectation over every order of that run (McSherry & Najork 2008), otherwise documents count as they are sorted;
// `tied` tells which queries have such runs at all. A document is relevant if its label reaches `threshold`;
// `depth` is how many ranks count. One value a query goes to `values`: NaN where no order is better than another
// (nothing relevant, no gain, all labels equal). One thread owns one query.
#pragma once
#include <cstddef>
#include <span>

#include "rankwright/ranking.hpp"

namespace rankwright {

struct RankedQueries {
    Offsets queries;
    Rows order;
    Doubles scores;
    std::span<const bool> tied;  // one a query
    bool average_ties;
};

struct Relevance {
    Doubles labels;
    double threshold;
};

// sum over ranks of gain x discount; discounts[0] is that of the first rank, its length the depth. Never NaN.
void discounted_gains(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads,
                      std::span<double> values);

// The same over its value for the best order.
void ndcgs(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads, std::span<double> values);

// Mean over n = 1 .. (number of documents) of NDCG@n.
void mean_ndcgs(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads,
                std::span<double> values);

// sum over the relevant documents of the precision at their rank, over the number of relevant documents or,
// `capped`, over the depth where that is smaller.
void average_precisions(const RankedQueries& ranked, Relevance relevance, std::size_t depth, bool capped,
                        int n_threads, std::span<double> values);

// 1 / rank of the first relevant document.
void reciprocal_ranks(const RankedQueries& ranked, Relevance relevance, std::size_t depth, int n_threads,
                      std::span<double> values);

// sum over ranks of P(the reader stops here) / rank, where a document stops the reader with its probability and
// only who was not stopped reads on (Chapelle et al. 2009).
void expected_reciprocal_ranks(const RankedQueries& ranked, Doubles stop_probability, std::size_t depth,
                               int n_threads, std::span<double> values);

// Share of the pairs with different labels whose higher label stands higher; a tied pair counts half.
void pair_accuracies(const RankedQueries& ranked, Doubles labels, int n_threads, std::span<double> values);

}  // namespace rankwright
