// The gradients of a loss as an object of Python: checked when it is made, and immutable afterwards.
#pragma once
#include <algorithm>
#include <optional>

#include "bindings/arguments/arrays.hpp"
#include "trees/gradient_rounds.hpp"

namespace rankwright::bindings {

struct BoundRule {
    std::size_t n_rows;
    GradientRule gradients;
    Array<std::int64_t> offsets, rows;  // of the queries that it ranks; empty if it ranks none
    std::size_t n_classes = 1;          // scores of each row
};

// Multiplies gradients and hessians by the rows' weights, if there are any.
template <class Gradients>
GradientRule weighted_rule(std::size_t n_rows, const std::optional<Array<double>>& row_weights,
                           const Gradients& gradients) {
    if (!row_weights) return gradients;
    const char* const sentence = "row_weights must be one number per row, none of them negative";
    const Doubles checked = checked_finite(*row_weights, n_rows, sentence);
    require(checked.empty() || std::ranges::min(checked) >= 0.0, sentence);
    return [gradients, weights = *row_weights](Doubles scores, Rows order, int n_threads, Lambdas sums) {
        gradients(scores, order, n_threads, sums);
        for (std::size_t first = 0; first < scores.size(); first += weights.size())
            for (std::size_t row = 0; row < weights.size(); ++row) {
                sums.gradient[first + row] *= view(weights)[row];
                sums.hessian[first + row] *= view(weights)[row];
            }
    };
}

}  // namespace rankwright::bindings
