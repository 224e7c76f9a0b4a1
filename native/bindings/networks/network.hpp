// Checked networks, for scoring and for training.
#pragma once
#include <vector>

#include "bindings/arguments/arrays.hpp"
#include "networks/network.hpp"

namespace rankwright::bindings {

// A network whose numbers of parameters and features match its widths.
class CheckedNetwork {
  public:
    CheckedNetwork(const Array<std::int64_t>& widths, const Array<double>& parameters,
                   const Array<double>& missing, const Matrix<float>& values)
        : parameters_(view(parameters)), missing_(view(missing)) {
        require(widths.size() >= 2, "widths must have at least two entries: the number of features and one layer");
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
    static constexpr std::size_t kMostUnits = std::size_t{1} << 31;

    std::vector<std::size_t> widths_;
    std::span<const double> parameters_, missing_;
};

inline std::span<const float> all(const Matrix<float>& values) { return {values.data(), values.size()}; }

}  // namespace rankwright::bindings
