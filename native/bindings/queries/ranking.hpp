// Sorted queries, as an object of Python: checked when they are sorted, and immutable afterwards.
#pragma once
#include <memory>
#include <vector>

#include "bindings/arguments/arrays.hpp"

namespace rankwright::bindings {

struct SortedQueries {
    std::vector<std::int64_t> offsets;
    Array<double> scores;
    std::size_t n_positions;
    std::unique_ptr<std::int64_t[]> order;
    std::unique_ptr<bool[]> tied;

    std::size_t n_queries() const { return offsets.size() - 1; }
};

}  // namespace rankwright::bindings
