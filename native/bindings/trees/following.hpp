// Checks the documents that follow a block of rounds.
#pragma once
#include <algorithm>

#include "bindings/arguments/arrays.hpp"
#include "trees/following.hpp"

namespace rankwright::bindings {

inline FollowingDocuments checked_following(const Matrix<float>& values, const Array<std::int64_t>& sources,
                                            std::size_t n_columns) {
    require(sources.size() == n_columns, "there must be one source per column");
    require(values.shape(0) == 0 ||
                std::ranges::all_of(view(sources),
                                    [&](std::int64_t source) {
                                        return 0 <= source && source < static_cast<std::int64_t>(values.shape(1));
                                    }),
            "a source is not a feature of the documents that follow");
    return {{values.data(), values.size()}, values.shape(1), view(sources)};
}

}  // namespace rankwright::bindings
