// Checks arguments that several kernels have in common.
#pragma once
#include <limits>
#include <optional>

#include "bindings/arguments/arrays.hpp"
#include "simd/kernels.hpp"

namespace rankwright::bindings {

// The number of ranks that count; None: all.
inline std::size_t checked_depth(std::optional<std::int64_t> depth,
                                 const char* sentence = "depth must be at least 1") {
    if (!depth) return std::numeric_limits<std::size_t>::max();
    require(*depth >= 1, sentence);
    return static_cast<std::size_t>(*depth);
}

// The requested SIMD path; None: the widest that the processor supports.
inline SimdPath checked_path(std::optional<int> path) {
    if (!path) return widest_path();
    require(0 <= *path && *path <= static_cast<int>(widest_path()), "this processor does not support this path");
    return static_cast<SimdPath>(*path);
}

}  // namespace rankwright::bindings
