#include "scoring/tree_scorer.hpp"

#include <memory>

#include "bindings/arguments/checks.hpp"
#include "bindings/trees/tree_arrays.hpp"

namespace rankwright::bindings {
namespace {

// A scorer with the number of features of its data.
struct BoundScorer : TreeScorer {
    BoundScorer(const FlatTrees& trees, std::size_t width) : TreeScorer(trees), n_features(width) {}
    const std::size_t n_features;
};

// The scores, or None if a finite value is too large for 32 bits.
template <class Matrix>
nb::object run(const BoundScorer& scorer, const Matrix& matrix, std::size_t n_rows, int n_threads,
               std::optional<int> path) {
    const SimdPath checked = checked_path(path);
    Output<double> scores(n_rows);
    bool fits;
    {
        nb::gil_scoped_release release;
        fits = scorer.score(matrix, n_threads, checked, scores.span());
    }
    return fits ? nb::cast(scores.numpy()) : nb::none();
}

template <class T>
using AnyMatrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

template <class T>
nb::object score_dense(const BoundScorer& scorer, const AnyMatrix<T>& X, int n_threads, std::optional<int> path) {
    require(X.shape(1) == scorer.n_features, "X must have one column per feature");
    require(reinterpret_cast<std::uintptr_t>(X.data()) % alignof(T) == 0, "X must be aligned");
    const DenseRows<T> matrix{X.data(), X.shape(0), X.shape(1), X.stride(0), X.stride(1)};
    return run(scorer, matrix, X.shape(0), n_threads, path);
}

template <class T, class Index>
nb::object score_sparse(const BoundScorer& scorer, const Array<Index>& offsets, const Array<Index>& features,
                        const Array<T>& values, int n_threads, std::optional<int> path) {
    const SparseRows<T, Index> matrix{view(offsets), view(features), view(values)};
    require(offsets.size() > 0 && matrix.offsets.front() == 0 && features.size() == values.size() &&
                static_cast<std::size_t>(matrix.offsets.back()) == values.size(),
            "offsets must run from 0 to the number of values");
    for (std::size_t row = 1; row < offsets.size(); ++row)
        require(matrix.offsets[row - 1] <= matrix.offsets[row], "offsets must not decrease");
    for (const Index feature : matrix.features)
        require(0 <= feature && static_cast<std::size_t>(feature) < scorer.n_features,
                "a feature is out of range");
    return run(scorer, matrix, offsets.size() - 1, n_threads, path);
}

}  // namespace

void bind_tree_scorer(nb::module_& m) {
    nb::class_<BoundScorer> scorer(m, "TreeScorer");
    scorer.def(
        "__init__",
        [](BoundScorer* self, Array<std::int64_t> splits, Array<std::int32_t> feature, Array<float> threshold,
           Array<std::uint8_t> missing_left, Array<std::int32_t> left, Array<std::int32_t> right,
           Array<std::uint32_t> set_size, Array<std::uint32_t> set_words, Array<double> leaf_value,
           std::int64_t n_features) {
            require(feature.size() < kMaxSplits, "there are too many splits");
            const FlatTrees trees = checked_trees(splits, feature, threshold, missing_left, left, right, set_size,
                                                  set_words, leaf_value, n_features);
            new (self) BoundScorer(trees, static_cast<std::size_t>(n_features));
        },
        nb::arg("splits"), nb::arg("feature"), nb::arg("threshold"), nb::arg("missing_left"), nb::arg("left"),
        nb::arg("right"), nb::arg("set_size"), nb::arg("set_words"), nb::arg("leaf_value"), nb::arg("n_features"));
    const auto dense = [&scorer](auto function) {
        scorer.def("score", function, nb::arg("X").noconvert(), nb::arg("n_threads"),
                   nb::arg("path") = nb::none());
    };
    dense(score_dense<float>);
    dense(score_dense<double>);
    const auto sparse = [&scorer](auto function) {
        scorer.def("score_sparse", function, nb::arg("offsets").noconvert(), nb::arg("features").noconvert(),
                   nb::arg("values").noconvert(), nb::arg("n_threads"), nb::arg("path") = nb::none());
    };
    sparse(score_sparse<float, std::int32_t>);
    sparse(score_sparse<float, std::int64_t>);
    sparse(score_sparse<double, std::int32_t>);
    sparse(score_sparse<double, std::int64_t>);
}

}  // namespace rankwright::bindings
