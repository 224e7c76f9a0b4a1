// Sums of gradient and weight for every value of every byte of a row: what a split is chosen from.
//
// Both are whole numbers, packed into one: the gradient in the upper 32 bits, the weight in the lower. One
// addition adds both, and sums are exact, so that neither the order of rows nor the number of threads can change
// them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "rankwright/binning.hpp"

namespace rankwright {

using Packed = std::int64_t;

inline Packed pack(std::int32_t gradient, std::int32_t weight) {
    return static_cast<Packed>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(gradient)) << 32) + weight;
}
inline std::int64_t gradient_of(Packed sum) { return sum >> 32; }
inline std::int64_t weight_of(Packed sum) { return sum & 0xffffffff; }

// Entries a byte takes: 256 values and padding. With 256 the busiest values of all bytes would fall on the same
// few lines of the cache.
constexpr std::size_t kBinStride = 264;

// A row's gradient and weight as whole numbers of steps. So small that many rows' fit into the nearest caches.
struct Steps {
    std::int8_t gradient, weight;
};
inline Packed pack(Steps steps) { return pack(steps.gradient, steps.weight); }
constexpr int kMostLevels = 127;

// Gradients and weights, times each row's factor if there are factors, in at most `levels` steps, so few that no
// sum over rows overflows. Overwrites those of the rows listed; none listed: all.
struct Quantised {
    std::vector<Steps> steps;  // one a row
    double gradient_step = 0.0, weight_step = 0.0;
};
void quantise(std::span<const double> gradient, std::span<const double> weight,
              std::span<const std::uint32_t> rows, std::span<const double> factors, int levels, int n_threads,
              Quantised& quantised);

// Overwrites histogram[slot * kBinStride + value] with the sums over `rows` for the bytes listed, a slot each.
void fill_histogram(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Steps> steps,
                    std::span<const std::uint32_t> bytes, int n_threads, std::span<Packed> histogram);

// Adds the sums over `rows` to sums[slot * 256 + code] for the features listed, a slot each.
void add_codes(const BinnedMatrix& binned, std::span<const std::uint32_t> rows, std::span<const Steps> steps,
               std::span<const std::uint32_t> features, int n_threads, std::span<Packed> sums);

}  // namespace rankwright
