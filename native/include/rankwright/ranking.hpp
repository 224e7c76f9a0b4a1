// The one sort: who stands above whom, and who decides between equal scores.
#pragma once
#include <cstdint>
#include <span>

namespace rankwright {

// Query q holds places [offsets[q], offsets[q + 1]); offsets starts at 0 and does not fall.
using Offsets = std::span<const std::int64_t>;
// A row of the caller's arrays for every place; grouped by query.
using Rows = std::span<const std::int64_t>;
using Doubles = std::span<const double>;

// Writes each query's rows, best first, to `order`: higher score first, then lower `tie_break` (where it is
// not empty), then the earlier place in `rows`. Scores and tie_break are indexed by row and hold no NaN.
// tied[q] tells whether query q has equal scores, whoever decided between them. One thread owns one query.
void sort_within_queries(Offsets queries, Rows rows, Doubles scores, Doubles tie_break, int n_threads,
                         std::span<std::int64_t> order, std::span<bool> tied);

}  // namespace rankwright
