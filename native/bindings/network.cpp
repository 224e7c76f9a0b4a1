#include "rankwright/network.hpp"

#include <vector>

#include "arrays.hpp"

namespace rankwright::bindings {
namespace {

constexpr std::size_t kMostUnits = std::size_t{1} << 31;

// A network whose parameters are as many as its widths say, for features of the right number.
class CheckedNetwork {
  public:
    CheckedNetwork(const Vector<std::int64_t>& widths, const Vector<double>& parameters,
                   const Vector<double>& missing, const Matrix<float>& values)
        : parameters_(view(parameters)), missing_(view(missing)) {
        require(widths.size() >= 2, "widths must be those of the features and one layer at least");
        std::size_t n_parameters = 0;
        for (std::int64_t width : view(widths)) {
            require(1 <= width && static_cast<std::size_t>(width) < kMostUnits, "a width must be at least 1");
            const auto n_units = static_cast<std::size_t>(width);
            if (!widths_.empty()) n_parameters += (widths_.back() + 1) * n_units;
            require(n_parameters <= parameters.size(), "there must be as many parameters as widths say");
            widths_.push_back(n_units);
        }
        require(widths_.back() == 1, "the last width must be 1");
        require(n_parameters == parameters.size(), "there must be as many parameters as widths say");
        require(missing.size() == widths_.front(), "missing must be a number for every feature");
        require(values.shape(1) == widths_.front(), "values must have a column for every feature");
    }

    Network network() const { return {widths_, parameters_, missing_}; }

  private:
    std::vector<std::size_t> widths_;
    std::span<const double> parameters_, missing_;
};

std::span<const float> all(const Matrix<float>& values) { return {values.data(), values.size()}; }

nb::ndarray<nb::numpy, double> scores(Vector<std::int64_t> widths, Vector<double> parameters,
                                      Vector<double> missing, Matrix<float> values, int n_threads) {
    const CheckedNetwork checked(widths, parameters, missing, values);
    Output<double> result(values.shape(0));
    {
        nb::gil_scoped_release release;
        network_scores(checked.network(), all(values), n_threads, result.span());
    }
    return result.numpy();
}

nb::ndarray<nb::numpy, double> slope(Vector<std::int64_t> widths, Vector<double> parameters,
                                     Vector<double> missing, Matrix<float> values, Vector<double> pull) {
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
