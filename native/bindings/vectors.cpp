// Vector kernels by the path asked for: tests hold all paths equal.
#include "rankwright/vectors.hpp"

#include <cmath>
#include <vector>

#include "checks.hpp"
#include "trees.hpp"

namespace rankwright::bindings {
namespace {

// A copy with zeros up to a multiple of `lanes`.
template <class T>
std::vector<T> padded(const Vector<T>& values, std::int64_t lanes) {
    std::vector<T> copy(view(values).begin(), view(values).end());
    const auto step = static_cast<std::size_t>(lanes);
    copy.resize((copy.size() + step - 1) / step * step);
    return copy;
}

auto keys_above(Vector<float> keys, int path) {
    const VectorPath checked = checked_path(path);
    for (float value : view(keys)) require(value == value, "keys must not be NaN");
    std::vector<float> values = padded(keys, kCountLanes);
    values.resize(values.size() + kCountLanes);
    std::vector<std::int32_t> ranks(values.size());
    count_above(values.data(), static_cast<std::int64_t>(keys.size()), ranks.data(), checked);
    ranks.resize(keys.size());
    return copied(ranks);
}

auto gains_of(Vector<std::int64_t> left, std::int64_t total, double gradient_step, double hessian_step, double l2,
              double min_hessian, double parent_gain, int path) {
    const VectorPath checked = checked_path(path);
    const std::vector<std::int64_t> sums = padded(left, kGainLanes);
    std::vector<double> gains(sums.size());
    split_gains(sums.data(), static_cast<std::int64_t>(left.size()),
                {total, gradient_step, hessian_step, l2, min_hessian, parent_gain}, gains.data(), checked);
    gains.resize(left.size());
    return copied(gains);
}

// Gain and hessian of the left sides, then of the right sides.
auto gains_of_sides(Vector<std::int64_t> left, std::int64_t total, double gradient_step, double hessian_step,
                    double l2, int path) {
    const VectorPath checked = checked_path(path);
    const std::vector<std::int64_t> sums = padded(left, kGainLanes);
    std::vector<std::vector<double>> parts(4, std::vector<double>(sums.size()));
    add_side_gains(sums.data(), static_cast<std::int64_t>(left.size()),
                   {total, gradient_step, hessian_step, l2, 0.0, 0.0},
                   {parts[0].data(), parts[2].data(), parts[1].data(), parts[3].data()}, checked);
    Output<double, 2> result({parts.size(), left.size()});
    for (std::size_t part = 0; part < parts.size(); ++part)
        std::copy_n(parts[part].begin(), left.size(),
                    result.span().begin() + static_cast<std::ptrdiff_t>(part * left.size()));
    return result.numpy();
}

}  // namespace

void bind_vectors(nb::module_& m) {
    m.def("widest_path", [] { return static_cast<int>(widest_path()); });
    m.def("count_above", &keys_above, nb::arg("keys"), nb::arg("path"));
    m.def("split_gains", &gains_of, nb::arg("left"), nb::arg("total"), nb::arg("gradient_step"),
          nb::arg("hessian_step"), nb::arg("l2"), nb::arg("min_hessian"), nb::arg("parent_gain"), nb::arg("path"));
    m.def("side_gains", &gains_of_sides, nb::arg("left"), nb::arg("total"), nb::arg("gradient_step"),
          nb::arg("hessian_step"), nb::arg("l2"), nb::arg("path"));
}

}  // namespace rankwright::bindings
