#include "trees/leaf_sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr int kHalfBits = 46;  // of the upper and of the lower half of a number
// Halves of so many rows fit 64 bits, which are faster to add than 128.
constexpr std::size_t kRowsPerRun = 1 << 15;
// Neighbouring rows often have the same leaf, and an addition waits for the one before it: they take turns.
constexpr std::size_t kTurns = 4;
constexpr int kLeastExponent = -970;  // 2^(46 - e) must be finite

struct Halves {
    std::int64_t upper = 0, lower = 0;
};

int exponent_of(std::span<const double> values) {
    std::int32_t largest = 0;  // the upper halves of doubles without their signs: 32 bits, for SIMD instructions
    for (const double value : values)
        largest =
            std::max(largest, static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(value) >> 32 & 0x7fffffff));
    return std::max(kLeastExponent, (largest >> 20) - 1022);
}

// `sums` has kTurns of them per leaf.
void add_run(std::span<const double> values, const std::uint32_t* leaf_of_row, double scale, Halves* sums) {
    constexpr double kUnits = std::int64_t{1} << kHalfBits;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double scaled = values[i] * scale;
        const auto upper = static_cast<std::int64_t>(scaled);
        Halves& sum = sums[leaf_of_row[i] * kTurns + i % kTurns];
        sum.upper += upper;
        sum.lower += static_cast<std::int64_t>((scaled - static_cast<double>(upper)) * kUnits);
    }
}

}  // namespace

int common_exponent(std::span<const double> values, int n_threads) {
    std::vector<int> exponents((values.size() + kRowsPerRun - 1) / kRowsPerRun + 1, kLeastExponent);
    parallel_ranges(values.size(), kRowsPerRun, n_threads, [&](std::size_t first, std::size_t last) {
        exponents[first / kRowsPerRun] = exponent_of(values.subspan(first, last - first));
    });
    return *std::ranges::max_element(exponents);
}

void add_leaf_sums(std::span<const double> values, std::span<const std::uint32_t> leaf_of_row, int exponent,
                   int n_threads, std::span<FixedSum> sums) {
    const double scale = std::ldexp(1.0, kHalfBits - exponent);
    const std::size_t per_run = sums.size() * kTurns;
    std::vector<Halves> runs((values.size() + kRowsPerRun - 1) / kRowsPerRun * per_run);
    parallel_ranges(values.size(), kRowsPerRun, n_threads, [&](std::size_t first, std::size_t last) {
        add_run(values.subspan(first, last - first), leaf_of_row.data() + first, scale,
                runs.data() + first / kRowsPerRun * per_run);
    });
    for (std::size_t i = 0; i < runs.size(); ++i)
        sums[i % per_run / kTurns] +=
            FixedSum{runs[i].upper} * (std::int64_t{1} << kHalfBits) + FixedSum{runs[i].lower};
}

double rounded(FixedSum sum, int exponent) {
    return std::ldexp(static_cast<double>(sum), exponent - 2 * kHalfBits);
}

void sum_leaves(std::span<const double> values, std::span<const std::uint32_t> leaf_of_row, int n_threads,
                std::span<double> sums) {
    const int exponent = common_exponent(values, n_threads);
    std::vector<FixedSum> exact(sums.size());
    add_leaf_sums(values, leaf_of_row, exponent, n_threads, exact);
    std::ranges::transform(exact, sums.begin(), [&](FixedSum sum) { return rounded(sum, exponent); });
}

}  // namespace rankwright
