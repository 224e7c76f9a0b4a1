#include "rankwright/contributions.hpp"

#include <vector>

#include "arrays.hpp"

namespace rankwright::bindings {
namespace {

// Every child is a later split of its tree or one of its leaves, and nobody else's child.
void require_trees(const CoveredTrees& trees) {
    std::vector<bool> has_parent;  // splits, then leaves
    for (std::size_t tree = 1; tree < trees.splits.size(); ++tree) {
        const std::int64_t begin = trees.splits[tree - 1], size = trees.splits[tree] - begin;
        has_parent.assign(static_cast<std::size_t>(2 * size + 1), false);
        for (std::int64_t place = 0; place < size; ++place) {
            const auto split = static_cast<std::size_t>(begin + place);
            for (const std::int64_t child : {trees.left[split], trees.right[split]}) {
                require(child < 0 ? -1 - child <= size : place < child && child < size, "a child is out of range");
                auto&& taken = has_parent[static_cast<std::size_t>(child < 0 ? size - 1 - child : child)];
                require(!taken, "a child has two parents");
                taken = true;
            }
        }
    }
}

auto contributions(Vector<std::int64_t> splits, Vector<std::int32_t> feature, Vector<float> threshold,
                   Vector<std::uint8_t> missing_left, Vector<std::int32_t> left, Vector<std::int32_t> right,
                   Vector<double> leaf_value, Vector<double> cover, Matrix<float> values, int n_threads) {
    const std::size_t n = feature.size(), n_features = values.shape(1);
    require(n < (std::size_t{1} << 31), "there are too many splits");
    require(n_features > 0, "there must be at least one feature");
    const CoveredTrees trees{checked_offsets(splits, n), view(feature), view(threshold),
                             view(missing_left),         view(left),    view(right),
                             view(leaf_value),           view(cover)};
    require(threshold.size() == n && missing_left.size() == n && left.size() == n && right.size() == n,
            "there must be one value a split");
    require(leaf_value.size() == n + splits.size() - 1 && cover.size() == leaf_value.size(),
            "there must be one value a leaf");
    for (std::int32_t one : trees.feature)
        require(0 <= one && static_cast<std::size_t>(one) < n_features, "a feature is out of range");
    for (double one : trees.cover) require(one >= 0 && one - one == 0, "a cover is negative or not finite");
    require_trees(trees);
    Output<double, 2> result({values.shape(0), n_features + 1});
    {
        nb::gil_scoped_release release;
        tree_contributions(trees, {values.data(), values.size()}, n_features, n_threads, result.span());
    }
    return result.numpy();
}

}  // namespace

void bind_contributions(nb::module_& m) {
    m.def("tree_contributions", contributions, nb::arg("splits"), nb::arg("feature"), nb::arg("threshold"),
          nb::arg("missing_left"), nb::arg("left"), nb::arg("right"), nb::arg("leaf_value"), nb::arg("cover"),
          nb::arg("values"), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
