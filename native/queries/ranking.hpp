// Ranks documents within their queries; the only place that orders equal scores.
#pragma once
#include <cstdint>
#include <span>

namespace rankwright {

// Query q has the positions [offsets[q], offsets[q + 1]); offsets start at 0 and never decrease.
using Offsets = std::span<const std::int64_t>;
// For each position, a row of the caller's arrays; grouped by query.
using Rows = std::span<const std::int64_t>;
using Doubles = std::span<const double>;

inline double at(Doubles values, std::int64_t row) { return values[static_cast<std::size_t>(row)]; }

// Writes the rows of each query, best first, to `order`: by descending score, equal scores by ascending
// `tie_break` (if it is not empty), then in the order of `rows`. Scores and tie_break are indexed by row and have
// no NaN. tied[q] is whether query q has equal scores. One thread owns one query.
void sort_within_queries(Offsets queries, Rows rows, Doubles scores, Doubles tie_break, int n_threads,
                         std::span<std::int64_t> order, std::span<bool> tied);

}  // namespace rankwright
