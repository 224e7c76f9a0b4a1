#include "clicks/bayesian_lists.hpp"

#include <nanobind/stl/tuple.h>

#include "bindings/arguments/arrays.hpp"

namespace rankwright::bindings {
namespace {

std::span<const double> chances(const Array<double>& values, std::size_t n, const char* sentence) {
    require(values.size() == n, sentence);
    for (double value : view(values)) require(0.0 < value && value < 1.0, sentence);
    return view(values);
}

using Numbers = nb::ndarray<nb::numpy, double>;

std::tuple<Numbers, Numbers, Numbers> expected(Array<std::int64_t> offsets, Array<std::uint8_t> clicked,
                                               Array<double> attraction, Array<double> satisfaction,
                                               double continuation, int n_threads) {
    const std::size_t n = clicked.size();
    const ClickedLists lists{checked_offsets(offsets, n), view(clicked),
                             chances(attraction, n, "attraction must be between 0 and 1, one number per row"),
                             chances(satisfaction, n, "satisfaction must be between 0 and 1, one number per row")};
    require(0.0 < continuation && continuation < 1.0, "continuation must be between 0 and 1");
    Output<double> read(n), satisfied(n), log_likelihood(offsets.size() - 1);
    {
        nb::gil_scoped_release release;
        expect_reading(lists, continuation, n_threads, read.span(), satisfied.span(), log_likelihood.span());
    }
    return {read.numpy(), satisfied.numpy(), log_likelihood.numpy()};
}

}  // namespace

void bind_bayesian_lists(nb::module_& m) {
    m.def("expect_reading", &expected, nb::arg("offsets"), nb::arg("clicked"), nb::arg("attraction"),
          nb::arg("satisfaction"), nb::arg("continuation"), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
