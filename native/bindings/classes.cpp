#include "rankwright/classes.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "arrays.hpp"
#include "rankwright/smooth_dcg.hpp"
#include "trees.hpp"

namespace rankwright::bindings {
namespace {

constexpr std::int32_t kMostTerms = 16;  // a product has up to 2^terms cells

// One thread fits in a workspace at a time: the GIL, released meanwhile, does not see to that.
struct GuardedClassWorkspace : ClassWorkspace {
    std::mutex turn;
};

using Fit = ClassTree (*)(const BinnedMatrix&, const ClassTask&, std::int32_t, int, ClassWorkspace&,
                          std::span<double>);

nb::tuple fitted(Fit fit, const BinnedMatrix& binned, const Matrix<double>& signed_weights, bool opposite,
                 std::int32_t size, int n_threads, GuardedClassWorkspace& workspace) {
    const std::size_t n_classes = signed_weights.shape(1);
    const Doubles weights{signed_weights.data(), signed_weights.size()};
    require(signed_weights.shape(0) == binned.n_rows && n_classes >= 1,
            "there must be a row of weights a document");
    require(binned.n_rows >= 1 && binned.n_features >= 1, "there must be documents and features");
    double total = 0.0;
    for (const double weight : weights) total += std::abs(weight);
    require(total - total == 0.0, "weights must be finite, and so must their sum");
    std::unique_lock turn(workspace.turn, std::try_to_lock);
    require(turn.owns_lock(), "another thread is using this workspace");
    Output<double, 2> outputs({binned.n_rows, n_classes});
    ClassTree tree;
    {
        nb::gil_scoped_release release;
        tree = fit(binned, {weights, n_classes, opposite}, size, n_threads, workspace, outputs.span());
    }
    Output<double, 2> votes({tree.cover.size(), n_classes});
    std::copy(tree.votes.begin(), tree.votes.end(), votes.span().begin());
    nb::dict arrays = shape_arrays(tree);
    arrays["cover"] = copied(tree.cover);
    return nb::make_tuple(arrays, votes.numpy(), outputs.numpy());
}

nb::tuple grown(const BinnedMatrix& binned, Matrix<double> signed_weights, bool opposite, std::int32_t max_leaves,
                int n_threads, GuardedClassWorkspace& workspace) {
    require(max_leaves >= 1, "max_leaves must be at least 1");
    return fitted(&grow_class_tree, binned, signed_weights, opposite, max_leaves, n_threads, workspace);
}

nb::tuple multiplied(const BinnedMatrix& binned, Matrix<double> signed_weights, bool opposite,
                     std::int32_t max_terms, int n_threads, GuardedClassWorkspace& workspace) {
    require(1 <= max_terms && max_terms <= kMostTerms, "max_terms must be from 1 to 16");
    return fitted(&fit_product, binned, signed_weights, opposite, max_terms, n_threads, workspace);
}

auto smoothed(Vector<std::int64_t> offsets, Vector<double> scores, Vector<double> gains, double sigma,
              int n_threads) {
    const Offsets queries = checked_offsets(offsets, scores.size());
    const Doubles numbers = checked_finite(scores, scores.size(), "scores must be finite");
    const Doubles worth = checked_finite(gains, scores.size(), "there must be a finite gain a score");
    require(sigma > 0.0 && sigma - sigma == 0.0, "sigma must be above 0");
    Output<double> values(queries.size() - 1);
    {
        nb::gil_scoped_release release;
        smooth_dcg(queries, numbers, worth, sigma, n_threads, values.span());
    }
    return values.numpy();
}

}  // namespace

void bind_classes(nb::module_& m) {
    nb::class_<GuardedClassWorkspace>(m, "ClassWorkspace").def(nb::init<>());
    m.def("grow_class_tree", &grown, nb::arg("binned"), nb::arg("signed_weights"), nb::arg("opposite"),
          nb::arg("max_leaves"), nb::arg("n_threads"), nb::arg("workspace"));
    m.def("fit_product", &multiplied, nb::arg("binned"), nb::arg("signed_weights"), nb::arg("opposite"),
          nb::arg("max_terms"), nb::arg("n_threads"), nb::arg("workspace"));
    m.def("smooth_dcg", &smoothed, nb::arg("offsets"), nb::arg("scores"), nb::arg("gains"), nb::arg("sigma"),
          nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
