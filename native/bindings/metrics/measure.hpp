// A metric of given documents as an object of Python: checked when it is made, and immutable afterwards.
#pragma once
#include <algorithm>
#include <optional>

#include "bindings/arguments/arrays.hpp"
#include "metrics/round_measure.hpp"

namespace rankwright::bindings {

struct BoundMeasure {
    Array<std::int64_t> offsets, rows;
    std::size_t n_rows;
    bool average_ties;
    RankMeasure measure;
};

inline bool same(const Array<std::int64_t>& a, const Array<std::int64_t>& b) {
    return a.data() == b.data() ? a.size() == b.size() : std::ranges::equal(view(a), view(b));
}

// The measure of rounds whose rule has these queries and rows.
inline std::optional<RoundMeasure> checked_measure(const BoundMeasure* measure, std::size_t n_rows,
                                                   const Array<std::int64_t>& offsets,
                                                   const Array<std::int64_t>& rows) {
    if (measure == nullptr) return std::nullopt;
    require(measure->n_rows == n_rows, "the rule and the measure must have the same rows");
    return RoundMeasure{view(measure->offsets), view(measure->rows), measure->average_ties, measure->measure,
                        same(measure->offsets, offsets) && same(measure->rows, rows)};
}

}  // namespace rankwright::bindings
