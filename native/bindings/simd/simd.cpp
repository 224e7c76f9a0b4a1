// Array kernels by path, for the tests that compare all paths.
#include <cmath>
#include <limits>
#include <vector>

#include "bindings/arguments/checks.hpp"
#include "bindings/trees/tree_arrays.hpp"
#include "histograms/histogram.hpp"
#include "simd/kernels.hpp"

namespace rankwright::bindings {
namespace {

// A copy with zeros up to a multiple of `lanes`.
template <class T>
std::vector<T> padded(const Array<T>& values, std::int64_t lanes) {
    std::vector<T> copy(view(values).begin(), view(values).end());
    const auto step = static_cast<std::size_t>(lanes);
    copy.resize((copy.size() + step - 1) / step * step);
    return copy;
}

auto keys_above(Array<float> keys, int path) {
    const SimdPath checked = checked_path(path);
    for (float value : view(keys)) require(value == value, "keys must not be NaN");
    std::vector<float> values = padded(keys, kCountLanes);
    values.resize(values.size() + kCountLanes);
    std::vector<std::int32_t> ranks(values.size());
    count_above(values.data(), static_cast<std::int64_t>(keys.size()), ranks.data(), checked);
    ranks.resize(keys.size());
    return to_numpy(ranks);
}

auto exponentials(Array<double> values, int path) {
    const SimdPath checked = checked_path(path);
    std::vector<double> raised(view(values).begin(), view(values).end());
    for (const double value : raised) require(value <= 700.0, "values must be at most 700");
    exponentiate(raised.data(), static_cast<std::int64_t>(raised.size()), checked);
    return to_numpy(raised);
}

// The kernels subtract the left side from the total.
void check_right_sides(std::int64_t total, std::span<const std::int64_t> left) {
    std::int64_t right = 0;
    for (const std::int64_t sum : left)
        require(!__builtin_sub_overflow(total, sum, &right), "a right side exceeds 64 bits");
}

auto gains_of(Array<std::int64_t> left, std::int64_t total, double gradient_step, double hessian_step, double l2,
              double min_hessian, double parent_gain, int path) {
    const SimdPath checked = checked_path(path);
    check_right_sides(total, view(left));
    const std::vector<std::int64_t> sums = padded(left, kGainLanes);
    std::vector<double> gains(sums.size());
    split_gains(sums.data(), static_cast<std::int64_t>(left.size()),
                {total, gradient_step, hessian_step, l2, min_hessian, parent_gain}, gains.data(), checked);
    gains.resize(left.size());
    return to_numpy(gains);
}

// The sides are those of split_gains, in steps.
float highest_sides_of(Array<std::int64_t> sums, std::int64_t before, std::int32_t gradient, std::int32_t hessian,
                       std::int32_t least, float l2, int path) {
    const SimdPath checked = checked_path(path);
    constexpr std::int64_t kMost = 1 << 30;
    require(std::abs(std::int64_t{gradient}) <= kMost && 0 <= hessian && hessian <= kMost && least >= 1 && l2 >= 0,
            "sums must fit 31 bits, and limits must be positive");
    std::int64_t left_gradient = gradient_of(before), left_hessian = hessian_of(before);
    const auto fits = [&] { return std::abs(left_gradient) <= kMost && left_hessian <= kMost; };
    require(fits(), "a left side exceeds 31 bits");
    for (const std::int64_t sum : view(sums)) {
        left_gradient += gradient_of(sum);
        left_hessian += hessian_of(sum);
        require(fits(), "a left side exceeds 31 bits");
    }
    return highest_sides(padded(sums, kSideLanes).data(), static_cast<std::int64_t>(sums.size()), before,
                         {gradient, hessian, least, l2}, checked);
}

// One row of sums per class; totals and steps are one per class.
auto gains_of_classes(Matrix<std::int64_t> left, Array<std::int64_t> totals, Array<double> gradient_steps,
                      Array<double> hessian_steps, double l2, double min_hessian, double parent_gain, int path) {
    const SimdPath checked = checked_path(path);
    const std::size_t n_classes = left.shape(0), size = left.shape(1);
    require(n_classes >= 1 && totals.size() == n_classes && gradient_steps.size() == n_classes &&
                hessian_steps.size() == n_classes,
            "there must be one total and one step per class");
    const auto lanes = static_cast<std::size_t>(kGainLanes), stride = (size + lanes - 1) / lanes * lanes;
    std::vector<std::int64_t> sums(n_classes * stride);
    std::vector<SplitTerms> terms;
    for (std::size_t k = 0; k < n_classes; ++k) {
        check_right_sides(totals.data()[k], {left.data() + k * size, size});
        std::copy_n(left.data() + k * size, size, sums.begin() + static_cast<std::ptrdiff_t>(k * stride));
        terms.push_back(
            {totals.data()[k], gradient_steps.data()[k], hessian_steps.data()[k], l2, min_hessian, parent_gain});
    }
    std::vector<double> gains(stride);
    class_gains(
        {sums.data(), static_cast<std::int64_t>(stride), static_cast<std::int64_t>(n_classes), terms.data()},
        static_cast<std::int64_t>(size), gains.data(), checked);
    gains.resize(size);
    return to_numpy(gains);
}

// The sums of the rows listed, by column and code: width per code, as many as a row has values, padded.
auto sums_of_rows(Matrix<std::uint8_t> codes, Matrix<std::int64_t> values, Array<std::uint32_t> rows, int path) {
    const SimdPath checked = checked_path(path);
    const std::size_t n_rows = codes.shape(0), n_columns = codes.shape(1), n_values = values.shape(1);
    require(values.shape(0) == n_rows, "there must be one row of values per row of codes");
    for (std::uint32_t row : view(rows)) require(row < n_rows, "a row is out of range");
    const auto most = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(rows.size() + 1);
    for (std::int64_t value : std::span(values.data(), values.size()))
        require(-most <= value && value <= most, "sums of values must fit in 64 bits");
    WideRows numbers;
    numbers.resize(n_rows, n_values);
    for (std::size_t row = 0; row < n_rows; ++row)
        std::copy_n(values.data() + row * n_values, n_values, numbers.row(row));
    const HistogramLayout layout{numbers.width, std::vector<int>(n_columns, static_cast<int>(kCodes))};
    const Histogram histogram = new_histogram(layout.size());
    layout.clear(0, n_columns, histogram.get());
    std::vector<const std::uint8_t*> columns;
    for (std::size_t column = 0; column < n_columns; ++column) columns.push_back(codes.data() + column);
    add_wide_rows({rows.data(), rows.size(), columns.data(), n_columns, n_columns, numbers.row(0), numbers.width,
                   histogram.get(), layout.slot_size()},
                  checked);
    Output<std::int64_t, 3> sums({n_columns, kCodes, numbers.width});
    for (std::size_t column = 0; column < n_columns; ++column)
        std::copy_n(histogram.get() + column * layout.slot_size(), kCodes * numbers.width,
                    sums.span().begin() + static_cast<std::ptrdiff_t>(column * kCodes * numbers.width));
    return sums.numpy();
}

}  // namespace

void bind_simd(nb::module_& m) {
    m.def("widest_path", [] { return static_cast<int>(widest_path()); });
    m.def("count_above", &keys_above, nb::arg("keys"), nb::arg("path"));
    m.def("exponentials", &exponentials, nb::arg("values"), nb::arg("path"));
    m.def("split_gains", &gains_of, nb::arg("left"), nb::arg("total"), nb::arg("gradient_step"),
          nb::arg("hessian_step"), nb::arg("l2"), nb::arg("min_hessian"), nb::arg("parent_gain"), nb::arg("path"));
    m.def("highest_sides", &highest_sides_of, nb::arg("sums"), nb::arg("before"), nb::arg("gradient"),
          nb::arg("hessian"), nb::arg("least"), nb::arg("l2"), nb::arg("path"));
    m.def("class_gains", &gains_of_classes, nb::arg("left"), nb::arg("totals"), nb::arg("gradient_steps"),
          nb::arg("hessian_steps"), nb::arg("l2"), nb::arg("min_hessian"), nb::arg("parent_gain"),
          nb::arg("path"));
    m.def("wide_sums", &sums_of_rows, nb::arg("codes"), nb::arg("values"), nb::arg("rows"), nb::arg("path"));
}

}  // namespace rankwright::bindings
