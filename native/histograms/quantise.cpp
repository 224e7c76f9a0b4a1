#include "histograms/quantise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

// Numbers below this count as zero: one over a step must be finite.
constexpr double kSmallest = 1e-290;
constexpr std::size_t kRowsPerChunk = 1 << 16;
constexpr double kMostSum = std::numeric_limits<std::int32_t>::max();

// The nearest integer of a small number: adding 1.5 x 2^52 leaves no bits for a fraction. A call of lround would
// take most of the time.
std::int32_t rounded(double value) {
    return static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(value + 6755399441055744.0));
}

NumberSizes total(const RoundedRows& source) {
    NumberSizes sum;
    for (std::size_t i = 0; i < source.size(); ++i) {
        sum.gradient += std::abs(source.gradient_at(i));
        sum.hessian += source.hessian_at(i);
    }
    return sum;
}

double step(double size, double n_steps) { return size > kSmallest ? size / n_steps : 1.0; }

template <class Store>
void round_all(const RoundedRows& source, const Quantised& units, int n_threads, const Store& store) {
    const double per_gradient = 1.0 / units.gradient_step, per_hessian = 1.0 / units.hessian_step;
    parallel_ranges(source.size(), kRowsPerChunk, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i)
            store(source.row(i), rounded(source.gradient_at(i) * per_gradient),
                  rounded(source.hessian_at(i) * per_hessian));
    });
}

// Rounding adds at most half a step per row, for which the sums leave room.
void round_finely(const RoundedRows& source, const NumberSizes& sum, int n_threads, Quantised& quantised) {
    const double n_steps = kMostSum - 1.0 - std::ceil(static_cast<double>(source.size()) / 2.0);
    quantised.gradient_step = step(sum.gradient, n_steps);
    quantised.hessian_step = step(sum.hessian, n_steps);
    quantised.wide_steps.resize(source.gradient.size());
    round_all(source, quantised, n_threads, [&](std::size_t row, std::int32_t gradient, std::int32_t hessian) {
        quantised.wide_steps[row] = pack(gradient, hessian);
    });
}

}  // namespace

NumberSizes largest(const RoundedRows& rows, int n_threads) {
    std::vector<NumberSizes> most((rows.size() + kRowsPerChunk - 1) / kRowsPerChunk + 1);
    parallel_ranges(rows.size(), kRowsPerChunk, n_threads, [&](std::size_t first, std::size_t last) {
        NumberSizes own;  // other threads write its neighbours
        for (std::size_t i = first; i < last; ++i)
            own.grow_to({std::abs(rows.gradient_at(i)), rows.hessian_at(i)});
        most[first / kRowsPerChunk] = own;
    });
    for (const NumberSizes& part : most) most.back().grow_to(part);
    return most.back();
}

double step_of(double largest, std::size_t n_rows, int levels) {
    const double most_steps = std::floor(kMostSum / static_cast<double>(std::max<std::size_t>(1, n_rows)));
    return step(largest, std::max(1.0, std::min(static_cast<double>(levels), most_steps)));
}

void round_to_steps(const RoundedRows& rows, int n_threads, Quantised& quantised) {
    quantised.is_wide = false;
    quantised.steps.resize(rows.gradient.size());
    round_all(rows, quantised, n_threads, [&](std::size_t row, std::int32_t gradient, std::int32_t hessian) {
        quantised.steps[row] = {static_cast<std::int8_t>(gradient), static_cast<std::int8_t>(hessian)};
    });
}

void quantise(std::span<const double> gradient, std::span<const double> hessian,
              std::span<const std::uint32_t> rows, std::span<const double> factors, int levels, int n_threads,
              Quantised& quantised) {
    const bool are_all = rows.size() == gradient.size();
    const RoundedRows source{gradient, hessian, are_all ? std::span<const std::uint32_t>() : rows, factors};
    if (levels == kFineLevels) {
        const NumberSizes sum = total(source);
        quantised.is_wide = std::isfinite(sum.gradient) && std::isfinite(sum.hessian);
        if (quantised.is_wide) return round_finely(source, sum, n_threads, quantised);
        levels = kMostLevels;
    }
    const NumberSizes most = largest(source, n_threads);
    quantised.gradient_step = step_of(most.gradient, source.size(), levels);
    quantised.hessian_step = step_of(most.hessian, source.size(), levels);
    round_to_steps(source, n_threads, quantised);
}

}  // namespace rankwright
