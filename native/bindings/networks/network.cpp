#include "bindings/networks/network.hpp"

#include "bindings/arguments/arrays.hpp"

namespace rankwright::bindings {
namespace {

nb::ndarray<nb::numpy, double> scores(Array<std::int64_t> widths, Array<double> parameters, Array<double> missing,
                                      Matrix<float> values, int n_threads) {
    const CheckedNetwork checked(widths, parameters, missing, values);
    Output<double> result(values.shape(0));
    {
        nb::gil_scoped_release release;
        network_scores(checked.network(), all(values), n_threads, result.span());
    }
    return result.numpy();
}

nb::ndarray<nb::numpy, double> slope(Array<std::int64_t> widths, Array<double> parameters, Array<double> missing,
                                     Matrix<float> values, Array<double> pull) {
    const CheckedNetwork checked(widths, parameters, missing, values);
    require(pull.size() == values.shape(0), "pull must be a number for every row");
    Output<double> result(parameters.size());
    {
        nb::gil_scoped_release release;
        network_slope(checked.network(), all(values), view(pull), result.span());
    }
    return result.numpy();
}

}  // namespace

void bind_network(nb::module_& m) {
    m.def("network_scores", scores, nb::kw_only(), nb::arg("widths"), nb::arg("parameters"), nb::arg("missing"),
          nb::arg("values"), nb::arg("n_threads"));
    m.def("network_slope", slope, nb::kw_only(), nb::arg("widths"), nb::arg("parameters"), nb::arg("missing"),
          nb::arg("values"), nb::arg("pull"));
}

}  // namespace rankwright::bindings
