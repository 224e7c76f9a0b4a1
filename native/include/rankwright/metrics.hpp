// Values of ranking metrics, one a query, from documents sorted by sort_within_queries.
//
// In all of them: query q's documents, best first, are order[queries[q]] .. order[queries[q + 1] - 1], rows that
// index `scores` and the per-row inputs. Where `average_ties` is true a run of equal scores counts as the exact
// expectation over every order of that run (McSherry & Najork 2008), otherwise documents count as they are sorted.
// `depth` is how many ranks count. One value a query goes to `values`; one thread owns one query.
#pragma once
#include <cstddef>
#include <span>

#include "rankwright/ranking.hpp"

namespace rankwright {

struct RankedQueries {
    Offsets queries;
    Rows order;
    Doubles scores;
    bool average_ties;
};

// sum over ranks of gain x discount; discounts[0] is that of the first rank, its length the depth.
void discounted_gains(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads,
                      std::span<double> values);

// The same for the best possible order; `rows` lists each query's documents in any order.
void ideal_gains(Offsets queries, Rows rows, Doubles gains, Doubles discounts, int n_threads,
                 std::span<double> values);

// Mean over n = 1 .. (number of documents) of NDCG@n; 0 where no gain is positive.
void mean_ndcgs(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads,
                std::span<double> values);

// sum over the relevant documents of precision at their rank; relevance is 0 or 1 a row. Not normalised.
void precision_sums(const RankedQueries& ranked, Doubles relevance, std::size_t depth, int n_threads,
                    std::span<double> values);

// 1 / rank of the first relevant document, 0 where there is none.
void reciprocal_ranks(const RankedQueries& ranked, Doubles relevance, std::size_t depth, int n_threads,
                      std::span<double> values);

// sum over ranks of P(the reader stops here) / rank, where a document stops the reader with its probability and
// only who was not stopped reads on (Chapelle et al. 2009).
void expected_reciprocal_ranks(const RankedQueries& ranked, Doubles stop_probability, std::size_t depth,
                               int n_threads, std::span<double> values);

// correct[q] = number of pairs with different labels whose higher label stands higher, a tied pair counting half;
// pairs[q] = number of pairs with different labels.
void correct_pairs(const RankedQueries& ranked, Doubles labels, int n_threads, std::span<double> correct,
                   std::span<double> pairs);

}  // namespace rankwright
