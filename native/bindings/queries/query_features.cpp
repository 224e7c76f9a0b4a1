#include "queries/query_features.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/arguments/arrays.hpp"

namespace rankwright::bindings {
namespace {

// Rows that are all of [0, n), each once: their order is that of the queries.
Rows checked_all_rows(const Array<std::int64_t>& rows, std::size_t n) {
    require(rows.size() == n, "rows must have every row once");
    const Rows all = checked_rows(rows, n);
    std::vector<bool> seen(n);
    for (std::int64_t row : all) seen[static_cast<std::size_t>(row)] = true;
    require(std::find(seen.begin(), seen.end(), false) == seen.end(), "rows must have every row once");
    return all;
}

nb::ndarray<nb::numpy, float> made_columns(Array<std::int64_t> offsets, Array<std::int64_t> rows,
                                           Matrix<float> values, std::vector<QueryColumn> kinds, bool raw,
                                           int n_threads) {
    const std::size_t n_rows = values.shape(0), n_features = values.shape(1);
    const Offsets queries = checked_offsets(offsets, n_rows);
    const Rows checked = checked_all_rows(rows, n_rows);
    for (std::size_t query = 1; query < queries.size(); ++query)
        require(queries[query] - queries[query - 1] < (std::int64_t{1} << 31), "a query is too long");
    require(kinds.size() <= 8, "there are too many kinds of columns");
    Output<float, 2> result({n_rows, n_features * (raw + kinds.size())});
    {
        nb::gil_scoped_release release;
        query_columns(queries, checked, {values.data(), n_rows * n_features}, n_features, kinds, raw, n_threads,
                      result.span());
    }
    return result.numpy();
}

nb::ndarray<nb::numpy, double> standardised(Array<std::int64_t> offsets, Array<std::int64_t> rows,
                                            Array<double> scores, int n_threads) {
    const Offsets queries = checked_offsets(offsets, scores.size());
    const Rows checked = checked_all_rows(rows, scores.size());
    Output<double> result(scores.size());
    {
        nb::gil_scoped_release release;
        standardise_scores(queries, checked, view(scores), n_threads, result.span());
    }
    return result.numpy();
}

}  // namespace

void bind_query_features(nb::module_& m) {
    nb::enum_<QueryColumn>(m, "QueryColumn")
        .value("zscore", QueryColumn::zscore)
        .value("rank", QueryColumn::rank)
        .value("minmax", QueryColumn::minmax);
    m.def("query_columns", &made_columns, nb::arg("offsets"), nb::arg("rows"), nb::arg("values"), nb::arg("kinds"),
          nb::arg("raw"), nb::arg("n_threads"));
    m.def("standardise_scores", &standardised, nb::arg("offsets"), nb::arg("rows"), nb::arg("scores"),
          nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
