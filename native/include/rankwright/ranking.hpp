// Ranks documents within their queries: the one sort, and the one rule for ties.
#pragma once
#include <cstdint>
#include <span>

namespace rankwright {

// Query q holds places [offsets[q], offsets[q + 1]); offsets start at 0 and never decrease.
using Offsets = std::span<const std::int64_t>;
// One row of the caller's arrays per place, grouped by query.
using Rows = std::span<const std::int64_t>;
using Doubles = std::span<const double>;

inline double at(Doubles values, std::int64_t row) { return values[static_cast<std::size_t>(row)]; }

// Writes each query's rows, best first, to `order`: higher score first, then lower `tie_break` (where it is
// not empty), then the earlier place in `rows`. Scores and tie_break are indexed by row and hold no NaN.
// tied[q] says whether query q has equal scores, however they were ordered. One thread owns one query.
void sort_within_queries(Offsets queries, Rows rows, Doubles scores, Doubles tie_break, int n_threads,
                         std::span<std::int64_t> order, std::span<bool> tied);

}  // namespace rankwright
