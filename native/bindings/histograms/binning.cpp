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

void require_row_count(std::size_t n_rows) {
    require(n_rows < (std::size_t{1} << 31), "there must be fewer than 2^31 rows");
}

BinnedMatrix encoded(Matrix<float> values, Array<std::int64_t> rows, Array<std::int64_t> sample,
                     std::vector<std::vector<float>> edges, bool coarse, int n_threads,
                     std::vector<std::uint32_t> n_levels) {
    check_edges(edges, values.shape(1));
    check_levels(values, n_levels, edges);
    checked_rows(rows, values.shape(0));
    checked_rows(sample, rows.size());
    require_row_count(rows.size());
    nb::gil_scoped_release release;
    return encode({values.data(), values.size()}, values.shape(1), view(rows), view(sample), std::move(edges),
                  n_levels, coarse, n_threads);
}

// Categories of these numbers of rows by level; features without any are numbers.
void add_categories(std::vector<std::vector<std::uint32_t>> n_rows, Binning& binning) {
    if (n_rows.empty()) return;
    require(n_rows.size() == binning.edges.size(), "there must be one list of rows by level per feature");
    for (std::size_t feature = 0; feature < n_rows.size(); ++feature) {
        require(n_rows[feature].size() <= kMostLevelsOfCategory, "a category has too many levels");
        require(n_rows[feature].empty() || binning.edges[feature].empty(), "a category has no edges");
        binning.categories.push_back(category_of(std::move(n_rows[feature])));
    }
}

Binning planned(std::vector<std::vector<float>> edges, Matrix<std::uint32_t> frequencies, bool coarse,
                std::vector<std::vector<std::uint32_t>> level_rows) {
    check_edges(edges, edges.size());
    require(frequencies.shape(0) == edges.size() && frequencies.shape(1) == kMostBins + 1,
            "there must be 256 frequencies per feature");
    std::vector<CodeFrequencies> counts(edges.size());
    for (std::size_t feature = 0; feature < counts.size(); ++feature)
        std::copy_n(frequencies.data() + feature * counts[feature].size(), counts[feature].size(),
                    counts[feature].begin());
    Binning binning;
    binning.edges = std::move(edges);
    add_categories(std::move(level_rows), binning);
    lay_out(counts, coarse, binning);
    return binning;
}

auto encoded_rows(const Binning& binning, Matrix<float> values, int n_threads) {
    require(values.shape(1) == binning.edges.size(), "values must have one column per feature");
    Output<std::uint8_t, 2> codes({values.shape(0), values.shape(1)});
    {
        nb::gil_scoped_release release;
        encode_rows({values.data(), values.size()}, binning, n_threads, codes.span());
    }
    return codes.numpy();
}

auto arranged(const Binning& binning, Matrix<std::uint8_t> codes, Array<std::int64_t> order, int n_threads) {
    require(codes.shape(1) == binning.edges.size(), "codes must have one column per feature");
    checked_rows(order, codes.shape(0));
    Output<std::uint8_t, 2> columns({codes.shape(1), order.size()}), rows({order.size(), binning.n_bytes});
    {
        nb::gil_scoped_release release;
        arrange_codes({codes.data(), codes.size()}, view(order), binning, n_threads, columns.span(), rows.span());
    }
    return nb::make_tuple(columns.numpy(), rows.numpy());
}

// Copies the levels of the rows of each category, which must be as many as the category counts.
void set_levels(const Matrix<std::uint32_t>& levels, BinnedMatrix& matrix) {
    std::size_t n_set = 0;
    for (Category& category : matrix.categories) {
        if (!category.exists()) continue;
        require(n_set < levels.shape(0) && levels.shape(1) == matrix.n_rows,
                "there must be one level per row of each category");
        const std::span<const std::uint32_t> own(levels.data() + n_set++ * matrix.n_rows, matrix.n_rows);
        std::vector<std::uint32_t> counts(category.n_rows.size());
        for (const std::uint32_t level : own) {
            require(level < counts.size() || level == kNoLevel, "a level is not one of its category");
            if (level != kNoLevel) ++counts[level];
        }
        require(counts == category.n_rows, "a category has another number of rows by level");
        category.level_of_row.assign(own.begin(), own.end());
    }
    require(n_set == levels.shape(0), "there must be levels of categories only");
}

// Codes that somebody else owns, such as a mapped file; the binding keeps both arrays alive. The bytes of rows are
// followed by padding. Trees code categories anew in memory, so that they cannot be read in blocks.
BinnedMatrix matrix_of(const Binning& binning, Matrix<std::uint8_t> columns, Array<std::uint8_t> rows,
                       std::size_t n_rows, std::size_t block_rows, Matrix<std::uint32_t> levels) {
    require(block_rows == 0 || binning.categories.empty(), "codes of categories must not be read in blocks");
    require_row_count(n_rows);
    require(columns.shape(0) == binning.edges.size(), "there must be one column of codes per feature");
    require(columns.shape(1) >= n_rows, "columns must have one code per row");
    require(rows.size() >= n_rows * binning.n_bytes + kRowPadding, "rows must have all bytes and padding");
    const auto kept = [](const std::uint8_t* codes) {
        return std::shared_ptr<const std::uint8_t[]>(codes, [](const std::uint8_t*) {});
    };
    BinnedMatrix matrix{binning,          n_rows,     columns.shape(0),  columns.shape(1),
                        next_matrix_id(), block_rows, kept(rows.data()), kept(columns.data())};
    set_levels(levels, matrix);
    return matrix;
}

// The rows [first, last) of a matrix, whose codes it shares.
BinnedMatrix part_of(const BinnedMatrix& binned, std::size_t first, std::size_t last) {
    require_numbers(binned);
    require(first <= last && last <= binned.n_rows, "a part must be within the matrix");
    BinnedMatrix part = binned;
    part.n_rows = last - first;
    part.id = next_matrix_id();
    part.by_row = {binned.by_row, binned.by_row.get() + first * binned.n_bytes};
    part.by_column = {binned.by_column, binned.by_column.get() + first};
    return part;
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
    m.attr("ROW_PADDING") = kRowPadding;
    nb::class_<Binning>(m, "Binning")
        .def(
            "__init__",
            [](Binning* binning, std::vector<std::vector<float>> edges, Matrix<std::uint32_t> frequencies,
               bool coarse, std::vector<std::vector<std::uint32_t>> level_rows) {
                new (binning) Binning(planned(std::move(edges), frequencies, coarse, std::move(level_rows)));
            },
            nb::arg("edges"), nb::arg("frequencies"), nb::arg("coarse"), nb::arg("level_rows"))
        .def_ro("edges", &Binning::edges)
        .def_ro("n_bytes", &Binning::n_bytes)
        .def_ro("coarse", &Binning::coarse)
        .def("encode", &encoded_rows, nb::arg("values"), nb::arg("n_threads"))
        .def("arrange", &arranged, nb::arg("codes"), nb::arg("order"), nb::arg("n_threads"))
        .def("matrix", &matrix_of, nb::arg("columns"), nb::arg("rows"), nb::arg("n_rows"), nb::arg("block_rows"),
             nb::arg("levels"), nb::keep_alive<0, 2>(), nb::keep_alive<0, 3>());
    nb::class_<BinnedMatrix, Binning>(m, "BinnedMatrix")
        .def("part", &part_of, nb::arg("first"), nb::arg("last"), nb::keep_alive<0, 1>())
        .def_ro("n_rows", &BinnedMatrix::n_rows)
        .def_ro("block_rows", &BinnedMatrix::block_rows)
        .def_ro("n_features", &BinnedMatrix::n_features)
        .def_prop_ro("has_categories", [](const BinnedMatrix& binned) { return !binned.categories.empty(); })
        .def("codes", &codes_of)
        .def("levels", &levels_of);
    m.def("encode", &encoded, nb::arg("values"), nb::arg("rows"), nb::arg("sample"), nb::arg("edges"),
          nb::arg("coarse"), nb::arg("n_threads"), nb::arg("n_levels") = std::vector<std::uint32_t>{});
    m.def("encode_column", &codes_of_values, nb::arg("values"), nb::arg("edges"), nb::arg("path"));
    m.def("column_codes", &column_of, nb::arg("binned"), nb::arg("feature"));
}

}  // namespace rankwright::bindings
