// A metric of given documents as an object of Python: checked when it is made, and immutable afterwards.
#pragma once
#include "bindings/arguments/arrays.hpp"
#include "metrics/metrics.hpp"

namespace rankwright::bindings {

struct BoundMeasure {
    Array<std::int64_t> offsets, rows;
    std::size_t n_rows;
    bool average_ties;
    RankMeasure measure;
};

}  // namespace rankwright::bindings
