#include "scoring/contributions.hpp"

#include "bindings/trees/tree_arrays.hpp"

namespace rankwright::bindings {
namespace {

auto contributions(Array<std::int64_t> splits, Array<std::int32_t> feature, Array<float> threshold,
                   Array<std::uint8_t> missing_left, Array<std::int32_t> left, Array<std::int32_t> right,
                   Array<std::uint32_t> set_size, Array<std::uint32_t> set_words, Array<double> leaf_value,
                   Array<double> cover, Matrix<float> values, int n_threads) {
    const std::size_t n_features = values.shape(1);
    require(feature.size() < (std::size_t{1} << 31), "there are too many splits");
    require(n_features > 0, "there must be at least one feature");
    const CoveredTrees trees{checked_trees(splits, feature, threshold, missing_left, left, right, set_size,
                                           set_words, leaf_value, static_cast<std::int64_t>(n_features)),
                             view(cover)};
    require(cover.size() == leaf_value.size(), "there must be one value per leaf");
    for (double count : trees.cover)
        require(count >= 0 && count - count == 0, "a cover is negative or not finite");
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
          nb::arg("missing_left"), nb::arg("left"), nb::arg("right"), nb::arg("set_size"), nb::arg("set_words"),
          nb::arg("leaf_value"), nb::arg("cover"), nb::arg("values"), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
