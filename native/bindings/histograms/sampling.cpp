#include "histograms/sampling.hpp"

#include <nanobind/stl/vector.h>

#include <limits>

#include "bindings/arguments/arrays.hpp"

namespace rankwright::bindings {
namespace {

nb::tuple draw_rows(std::vector<Array<double>> values, double mu, std::uint64_t seed, int n_threads,
                    std::uint64_t first) {
    require(!values.empty(), "values must have a number for every row");
    const std::size_t n_rows = values.front().size();
    require(n_rows < std::numeric_limits<std::uint32_t>::max(), "there are too many rows");
    require(mu > 0.0, "mu must be above 0");
    std::vector<std::span<const double>> numbers;
    for (const auto& column : values) numbers.push_back(checked_finite(column, n_rows, "values must be finite"));
    Output<std::uint32_t> rows(n_rows);
    Output<double> weights(n_rows);
    std::size_t n_drawn = 0;
    {
        nb::gil_scoped_release release;
        n_drawn = draw_by_size(numbers, mu, seed, first, n_threads, {rows.span(), weights.span()});
    }
    return nb::make_tuple(rows.first(n_drawn), weights.first(n_drawn));
}

double checked_threshold(std::vector<Array<double>> values, double fraction) {
    require(!values.empty(), "values must have a number for every row");
    require(0.0 < fraction && fraction <= 1.0, "fraction must be above 0 and at most 1");
    std::vector<std::span<const double>> numbers;
    for (const auto& column : values)
        numbers.push_back(checked_finite(column, values.front().size(), "values must be finite"));
    nb::gil_scoped_release release;
    return size_threshold(numbers, fraction);
}

}  // namespace

void bind_sampling(nb::module_& m) {
    m.def("draw_by_size", &draw_rows, nb::arg("values"), nb::arg("mu"), nb::arg("seed"), nb::arg("n_threads"),
          nb::arg("first") = 0);
    m.def("size_threshold", &checked_threshold, nb::arg("values"), nb::arg("fraction"));
}

}  // namespace rankwright::bindings
