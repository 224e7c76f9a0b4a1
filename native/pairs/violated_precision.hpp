// The ranking that violates SVMmap's margin most (Yue, Finley, Radlinski & Joachims 2007, section 4.3).
//
// For a query with g relevant and b irrelevant documents, it is the ranking that maximises
//
//   (average precision lost)  -  2 / (g b) x sum of (score_i - score_j) over relevant i after irrelevant j.
//
// Both kinds stay sorted by score. The best position of an irrelevant document among the relevant ones does not
// depend on the other irrelevant documents, and does not rise from one to the next, so the search halves its range
// for both halves of the documents: a query of n documents takes time n log n and memory n.
//
// Query q's documents, best first, are order[queries[q]] .. order[queries[q + 1] - 1] (see sort_within_queries),
// rows that index scores, relevant and crossings. A query of one kind loses nothing. All numbers are finite.
// One thread owns one query: the result does not depend on n_threads.
#pragma once
#include <cstdint>
#include <span>

#include "queries/ranking.hpp"

namespace rankwright {

// crossings[row] is the number of irrelevant documents before a relevant one, or of relevant ones after an
// irrelevant one; lost[q] is 1 - average precision.
void most_violated_precision(Offsets queries, Rows order, Doubles scores, std::span<const bool> relevant,
                             int n_threads, std::span<std::int64_t> crossings, std::span<double> lost);

}  // namespace rankwright
