#include <algorithm>
#include <cmath>

#include "bindings/arguments/arrays.hpp"
#include "bindings/trees/tree_arrays.hpp"
#include "bindings/trees/workspace.hpp"
#include "trees/hamming_tree.hpp"
#include "trees/product.hpp"

namespace rankwright::bindings {
namespace {

constexpr std::int32_t kMostTerms = 16;  // a product has up to 2^terms cells

using Fit = VoteTree (*)(const BinnedMatrix&, const VoteTask&, std::int32_t, int, GrowthWorkspace&,
                         std::span<double>);

nb::tuple fitted(Fit fit, const BinnedMatrix& binned, const Matrix<double>& signed_weights, bool opposite,
                 std::int32_t size, int n_threads, GuardedWorkspace& workspace) {
    const std::size_t n_classes = signed_weights.shape(1);
    const Doubles weights{signed_weights.data(), signed_weights.size()};
    require(signed_weights.shape(0) == binned.n_rows && n_classes >= 1,
            "there must be one row of weights per document");
    require(binned.n_rows >= 1 && binned.n_features >= 1, "there must be documents and features");
    double total = 0.0;
    for (const double weight : weights) total += std::abs(weight);
    require(total - total == 0.0, "weights must be finite, and so must their sum");
    Output<double, 2> outputs({binned.n_rows, n_classes});
    const VoteTask task{weights, n_classes, opposite};
    const VoteTree tree =
        grow_alone(workspace, [&] { return fit(binned, task, size, n_threads, workspace, outputs.span()); });
    Output<double, 2> votes({tree.cover.size(), n_classes});
    std::copy(tree.votes.begin(), tree.votes.end(), votes.span().begin());
    return nb::make_tuple(shape_arrays(tree), votes.numpy(), outputs.numpy());
}

nb::tuple grown(const BinnedMatrix& binned, Matrix<double> signed_weights, bool opposite, std::int32_t max_leaves,
                int n_threads, GuardedWorkspace& workspace) {
    require(max_leaves >= 1, "max_leaves must be at least 1");
    return fitted(&grow_hamming_tree, binned, signed_weights, opposite, max_leaves, n_threads, workspace);
}

nb::tuple multiplied(const BinnedMatrix& binned, Matrix<double> signed_weights, bool opposite,
                     std::int32_t max_terms, int n_threads, GuardedWorkspace& workspace) {
    require(1 <= max_terms && max_terms <= kMostTerms, "max_terms must be from 1 to 16");
    return fitted(&fit_product, binned, signed_weights, opposite, max_terms, n_threads, workspace);
}

}  // namespace

void bind_votes(nb::module_& m) {
    m.def("grow_hamming_tree", &grown, nb::arg("binned"), nb::arg("signed_weights"), nb::arg("opposite"),
          nb::arg("max_leaves"), nb::arg("n_threads"), nb::arg("workspace"));
    m.def("fit_product", &multiplied, nb::arg("binned"), nb::arg("signed_weights"), nb::arg("opposite"),
          nb::arg("max_terms"), nb::arg("n_threads"), nb::arg("workspace"));
}

}  // namespace rankwright::bindings
