// Sums over the pairs of documents that violate a margin, without listing the pairs (after Joachims 2006 and
// Lee & Lin 2014): the terms of the hinge losses of RankSVM and PermuRank, their gradients and their hessians.
//
// For every two documents i, j of a query with label_i > label_j and score_i - score_j < 1:
//
//   worse_i += weight_j        sums_i += weight_j value_j
//   better_j += weight_i       sums_j += weight_i value_i
//
// The documents of query q, best first, are order[queries[q]] .. order[queries[q + 1] - 1] (see
// sort_within_queries), which are rows that index all other arrays; the three outputs are overwritten for these
// rows. All numbers are finite. A query of n documents takes time n log n and memory n. One thread owns one query
// and sums in a fixed order: the result does not depend on n_threads.
#pragma once
#include <span>

#include "queries/ranking.hpp"

namespace rankwright {

struct RankedPairs {
    Offsets queries;
    Rows order;
    Doubles scores, labels;
};

struct MarginSums {
    std::span<double> worse, better, sums;
};

void margin_sums(const RankedPairs& pairs, Doubles weights, Doubles values, int n_threads, MarginSums totals);

}  // namespace rankwright
