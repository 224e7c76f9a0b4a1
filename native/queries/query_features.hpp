// Columns computed within the query, and scores standardised within it.
#pragma once
#include "queries/ranking.hpp"

namespace rankwright {

// A column computed from a feature x, over the n values of the query that are not missing (NaN); where x is
// missing, so is the column.
//   zscore: (x - mean) / deviation, with the standard deviation, or 1 if that is 0;
//   rank: (the number of lower values + half the number of other equal ones) / (n - 1), or 1/2 if n is 1;
//   minmax: (x - lowest) / (highest - lowest), or 0 if these are equal.
// Sums are in double precision and in ascending order of the values, so that they do not depend on the order of
// documents.
enum class QueryColumn : int { zscore, rank, minmax };

// values: n_features per row, finite or NaN. Writes to each row of `columns` the features, if `raw`, then one
// column per feature for each kind. `rows` has every row once. One thread owns some features of one query.
void query_columns(Offsets queries, Rows rows, std::span<const float> values, std::size_t n_features,
                   std::span<const QueryColumn> kinds, bool raw, int n_threads, std::span<float> columns);

// The z-score of each score within its query, as above but in double precision. The scores are scaled to [0, 1]
// first, so that their squares do not overflow. Sums are pairwise, over ascending scores. `rows` has every row
// once. One thread owns one query.
void standardise_scores(Offsets queries, Rows rows, Doubles scores, int n_threads, std::span<double> standardised);

}  // namespace rankwright
