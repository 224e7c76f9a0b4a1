// Checks of arguments that several kernels take.
#pragma once
#include <limits>
#include <optional>

#include "arrays.hpp"
#include "rankwright/vectors.hpp"

namespace rankwright::bindings {

// The number of ranks that count; None is all of them.
inline std::size_t checked_depth(std::optional<std::int64_t> depth,
                                 const char* sentence = "depth must be at least 1") {
    if (!depth) return std::numeric_limits<std::size_t>::max();
    require(*depth >= 1, sentence);
    return static_cast<std::size_t>(*depth);
}

// The vector path asked for, or the widest.
inline VectorPath checked_path(std::optional<int> path) {
    if (!path) return widest_path();
    require(0 <= *path && *path <= static_cast<int>(widest_path()), "this processor has no such path");
    return static_cast<VectorPath>(*path);
}

}  // namespace rankwright::bindings
