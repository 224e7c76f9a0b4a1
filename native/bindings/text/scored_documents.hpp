// Results of searches as arrays.
#pragma once
#include <vector>

#include "bindings/arguments/arrays.hpp"
#include "text/best.hpp"

namespace rankwright::bindings {

// (offsets, documents, scores)
inline nb::tuple to_arrays(const std::vector<std::vector<ScoredDocument>>& results) {
    Output<std::int64_t> offsets(results.size() + 1);
    offsets.span()[0] = 0;
    for (std::size_t q = 0; q < results.size(); ++q)
        offsets.span()[q + 1] = offsets.span()[q] + static_cast<std::int64_t>(results[q].size());
    const auto size = static_cast<std::size_t>(offsets.span().back());
    Output<std::int64_t> documents(size);
    Output<double> scores(size);
    std::size_t next = 0;
    for (const auto& query : results) {
        for (const ScoredDocument& scored : query) {
            documents.span()[next] = scored.document;
            scores.span()[next++] = scored.score;
        }
    }
    return nb::make_tuple(offsets.numpy(), documents.numpy(), scores.numpy());
}

}  // namespace rankwright::bindings
