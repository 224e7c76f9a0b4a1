#include "histograms/binning.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>

#include "bindings/arguments/checks.hpp"
#include "bindings/trees/tree_arrays.hpp"

namespace rankwright::bindings {
namespace {

std::vector<std::vector<float>> all_edges(Matrix<float> values, Array<std::int64_t> sample, int max_bins,
                                          int n_threads) {
    checked_rows(sample, values.shape(0));
    require(2 <= max_bins && max_bins <= kMostBins, "max_bins must be from 2 to 255");
    nb::gil_scoped_release release;
    return find_all_edges({values.data(), values.size()}, values.shape(1), view(sample), max_bins, n_threads);
}

void check_edges(const std::vector<std::vector<float>>& edges, std::size_t n_features) {
    require(edges.size() == n_features, "there must be one list of edges per feature");
    for (const std::vector<float>& feature_edges : edges) {
        require(feature_edges.size() < static_cast<std::size_t>(kMostBins), "a feature has too many edges");
        for (std::size_t i = 0; i < feature_edges.size(); ++i)
            require(
                feature_edges[i] - feature_edges[i] == 0.0f && (i == 0 || feature_edges[i - 1] < feature_edges[i]),
                "edges must be finite and ascend");
    }
}

// Values of categories must be levels.
void check_levels(const Matrix<float>& values, std::span<const std::uint32_t> n_levels,
                  const std::vector<std::vector<float>>& edges) {
    require(n_levels.empty() || n_levels.size() == values.shape(1), "n_levels must have one number per feature");
    for (std::size_t feature = 0; feature < n_levels.size(); ++feature) {
        if (n_levels[feature] == 0) continue;
        require(n_levels[feature] <= kMostLevelsOfCategory, "a category has too many levels");
        require(edges[feature].empty(), "a category has no edges");
        const auto highest = static_cast<float>(n_levels[feature] - 1);
        for (std::size_t row = 0; row < values.shape(0); ++row) {
            const float value = values.data()[row * values.shape(1) + feature];
            require(value != value || (0.0f <= value && value <= highest && value == std::floor(value)),
                    "a value of a category is not one of its levels");
        }
    }
}

BinnedMatrix encoded(Matrix<float> values, Array<std::int64_t> rows, std::vector<std::vector<float>> edges,
                     bool coarse, int n_threads, std::vector<std::uint32_t> n_levels) {
    check_edges(edges, values.shape(1));
    check_levels(values, n_levels, edges);
    checked_rows(rows, values.shape(0));
    require(rows.size() < (std::size_t{1} << 31), "there must be fewer than 2^31 rows");
    nb::gil_scoped_release release;
    return encode({values.data(), values.size()}, values.shape(1), view(rows), std::move(edges), n_levels, coarse,
                  n_threads);
}

// For tests: one feature's codes, by the SIMD path asked for.
auto codes_of_values(Array<float> values, std::vector<float> edges, int path) {
    check_edges({edges}, 1);
    const SimdPath checked = checked_path(path);
    edges.resize(kEdgeStride, INFINITY);
    std::vector<float> column(view(values).begin(), view(values).end());
    column.resize((column.size() + kEncodeRows - 1) / kEncodeRows * kEncodeRows);
    std::vector<std::uint8_t> codes(column.size());
    for (std::size_t row = 0; row < column.size(); row += kEncodeRows)
        encode_column(column.data() + row, edges.data(), codes.data() + row, checked);
    codes.resize(values.size());
    return to_numpy(codes);
}

auto codes_of(const BinnedMatrix& binned) {
    Output<std::uint8_t, 2> codes({binned.n_rows, binned.n_features});
    for (std::size_t row = 0; row < binned.n_rows; ++row)
        for (std::size_t feature = 0; feature < binned.n_features; ++feature)
            codes.span()[row * binned.n_features + feature] = binned.column(feature)[row];
    return codes.numpy();
}

// For tests: the level of every code, one row per feature.
auto levels_of(const BinnedMatrix& binned) {
    Output<std::uint8_t, 2> levels({binned.n_features, std::size_t{256}});
    for (std::size_t feature = 0; feature < binned.n_features; ++feature)
        std::ranges::copy(binned.levels[feature].level,
                          levels.span().begin() + static_cast<std::ptrdiff_t>(feature * 256));
    return levels.numpy();
}

auto column_of(const BinnedMatrix& binned, std::size_t feature) {
    require(feature < binned.n_features, "there is no such feature");
    Output<std::uint8_t> codes(binned.n_rows);
    std::copy_n(binned.column(feature), binned.n_rows, codes.span().begin());
    return codes.numpy();
}

}  // namespace

void bind_binning(nb::module_& m) {
    m.def("find_all_edges", &all_edges, nb::arg("values"), nb::arg("sample"), nb::arg("max_bins"),
          nb::arg("n_threads"));
    nb::class_<BinnedMatrix>(m, "BinnedMatrix")
        .def_ro("n_rows", &BinnedMatrix::n_rows)
        .def_ro("n_features", &BinnedMatrix::n_features)
        .def_ro("edges", &BinnedMatrix::edges)
        .def_ro("n_bytes", &BinnedMatrix::n_bytes)
        .def_ro("coarse", &BinnedMatrix::coarse)
        .def_prop_ro("has_categories", [](const BinnedMatrix& binned) { return !binned.categories.empty(); })
        .def("codes", &codes_of)
        .def("levels", &levels_of);
    m.def("encode", &encoded, nb::arg("values"), nb::arg("rows"), nb::arg("edges"), nb::arg("coarse"),
          nb::arg("n_threads"), nb::arg("n_levels") = std::vector<std::uint32_t>{});
    m.def("encode_column", &codes_of_values, nb::arg("values"), nb::arg("edges"), nb::arg("path"));
    m.def("column_codes", &column_of, nb::arg("binned"), nb::arg("feature"));
}

}  // namespace rankwright::bindings
