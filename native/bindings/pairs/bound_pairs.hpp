// Checks the documents whose pairs are summed, and their codes.
#pragma once
#include <algorithm>
#include <cmath>

#include "bindings/arguments/arrays.hpp"
#include "pairs/pairs.hpp"

namespace rankwright::bindings {

// Sorted codes, with the queries and the matrix that they belong to: with others, a sweep would read out of
// bounds.
struct BoundCodes {
    BoundCodes(const BinnedMatrix& codes, Array<std::int64_t> offsets, int n_threads)
        : binned(codes),
          queries(view(offsets).begin(), view(offsets).end()),
          sorted(codes, checked_offsets(offsets, codes.n_rows), n_threads) {}

    const BinnedMatrix& binned;
    std::vector<std::int64_t> queries;
    SortedCodes sorted;
};

inline PairTask checked_task(Offsets queries, const Array<std::uint8_t>& labels, const Matrix<double>& strengths,
                             const Array<double>& shares, const Array<double>& scores) {
    const std::size_t n_rows = static_cast<std::size_t>(queries.back()), n_labels = strengths.shape(0);
    require(strengths.shape(1) == n_labels, "strengths must be square");
    require(n_labels >= 1 && n_labels <= kMostLabels, "there are too many labels");
    require(labels.size() == n_rows, "there must be one label per row");
    std::uint8_t highest = 0;
    for (std::uint8_t label : view(labels)) highest = std::max(highest, label);
    require(highest < n_labels, "a label is out of range");
    for (std::size_t better = 1; better < n_labels; ++better)
        for (std::size_t worse = 0; worse < better; ++worse) {
            const double strength = strengths.data()[better * n_labels + worse];
            require(std::isfinite(strength) && strength > 0.0, "strengths must be finite and positive");
        }
    for (double share : checked_finite(shares, n_rows, "there must be one finite share per row"))
        require(share >= 0.0, "shares must not be negative");
    return {queries,      view(labels),
            n_labels,     {strengths.data(), strengths.size()},
            view(shares), checked_finite(scores, n_rows, "there must be one finite score per row")};
}

}  // namespace rankwright::bindings
