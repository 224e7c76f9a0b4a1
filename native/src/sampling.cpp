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
    return (static_cast<double>(static_cast<std::int64_t>(bits >> 12)) + 0.5) * 0x1p-52;
}

}  // namespace

std::size_t draw_by_size(std::span<const std::span<const double>> values, double mu, std::uint64_t seed,
                         Draw draw) {
    const std::size_t n_rows = draw.rows.size();
    std::size_t n_drawn = 0;
    std::array<double, kBlock> squares;
    for (std::size_t begin = 0; begin < n_rows; begin += kBlock) {
        const std::size_t count = std::min(kBlock, n_rows - begin), drawn_before = n_drawn;
        std::fill_n(squares.begin(), count, 0.0);
        for (const std::span<const double> own : values)
            for (std::size_t i = 0; i < count; ++i) squares[i] += own[begin + i] * own[begin + i];
        for (std::size_t i = 0; i < count; ++i) {  // all are written, few stay: no branch to guess
            const auto row = static_cast<std::uint32_t>(begin + i);
            const double least = uniform(seed, row) * mu;
            draw.rows[n_drawn] = row;
            draw.weights[n_drawn] = squares[i];
            n_drawn += least * least < squares[i];
        }
        for (std::size_t i = drawn_before; i < n_drawn; ++i)
            draw.weights[i] = std::max(1.0, mu / std::sqrt(draw.weights[i]));
    }
    return n_drawn;
}

void leave_out(std::span<const std::uint32_t> sample, std::size_t n_rows, std::vector<std::uint32_t>& rest) {
    rest.resize(n_rows - sample.size());
    auto place = rest.begin();
    std::uint32_t next = 0;
    const auto leave_out_up_to = [&](std::size_t end) {
        while (next < end) *place++ = next++;
    };
    for (const std::uint32_t row : sample) {
        leave_out_up_to(row);
        ++next;
    }
    leave_out_up_to(n_rows);
}

}  // namespace rankwright
