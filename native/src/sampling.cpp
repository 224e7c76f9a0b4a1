#include "rankwright/sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace rankwright {
namespace {

constexpr std::size_t kBlock = 1024;

// A number from 0 to 1, neither of them: SplitMix64 (Steele, Lea & Flood 2014) at its i-th step.
double uniform(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t bits = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
    return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

}  // namespace

std::size_t draw_by_size(std::span<const std::span<const double>> values, double mu, std::uint64_t seed,
                         Draw draw) {
    const std::size_t n_rows = draw.rows.size();
    std::size_t n_drawn = 0;
    std::array<double, kBlock> sizes;
    for (std::size_t begin = 0; begin < n_rows; begin += kBlock) {
        const std::size_t count = std::min(kBlock, n_rows - begin);
        std::fill_n(sizes.begin(), count, 0.0);
        for (const std::span<const double> own : values)
            for (std::size_t i = 0; i < count; ++i) sizes[i] += own[begin + i] * own[begin + i];
        for (std::size_t i = 0; i < count; ++i) sizes[i] = std::sqrt(sizes[i]);
        for (std::size_t i = 0; i < count; ++i) {  // all are written, one moves on: no branch to guess
            const auto row = static_cast<std::uint32_t>(begin + i);
            const bool drawn = uniform(seed, row) * mu < sizes[i];
            draw.rows[n_drawn] = row;
            draw.weights[n_drawn] = std::max(1.0, mu / sizes[i]);
            draw.rest[row - n_drawn] = row;
            n_drawn += drawn;
        }
    }
    return n_drawn;
}

}  // namespace rankwright
