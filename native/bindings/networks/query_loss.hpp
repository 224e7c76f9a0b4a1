// The loss of one query at a time, as an object of Python: checked when it is made, and immutable afterwards.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "bindings/arguments/arrays.hpp"
#include "networks/query_loss.hpp"

namespace rankwright::bindings {

// A pull whose function keeps the arrays that it reads; `row` is the first row of the query.
class BoundPull {
  public:
    using Function =
        std::function<void(std::size_t query, std::size_t row, Doubles scores, std::span<double> pull)>;

    BoundPull(std::vector<std::int64_t> offsets, Function function)
        : offsets_(std::move(offsets)), function_(std::move(function)) {}

    void operator()(std::size_t query, Doubles scores, std::span<double> pull) const {
        require(query + 1 < offsets_.size(), "the loss has no such query");
        const auto row = static_cast<std::size_t>(offsets_[query]);
        require(static_cast<std::size_t>(offsets_[query + 1]) - row == scores.size(),
                "the loss and the scores must have the same number of documents");
        if (!scores.empty()) function_(query, row, scores, pull);
    }

  private:
    std::vector<std::int64_t> offsets_;
    Function function_;
};

inline std::vector<std::int64_t> copied_offsets(const Array<std::int64_t>& offsets, std::size_t n_rows) {
    const Offsets queries = checked_offsets(offsets, n_rows);
    return {queries.begin(), queries.end()};
}

}  // namespace rankwright::bindings
