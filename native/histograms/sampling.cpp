#include "histograms/sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kRun = 4096;

// Samples the rows [begin, begin + count) to the front of `draw`; returns how many.
std::size_t draw_run(Values values, std::size_t begin, std::size_t count, double mu, std::uint64_t seed,
                     std::uint64_t first, Draw draw) {
    std::array<double, kRun> squares;
    std::fill_n(squares.begin(), count, 0.0);
    for (const std::span<const double> column : values)
        for (std::size_t i = 0; i < count; ++i) squares[i] += column[begin + i] * column[begin + i];
    std::size_t n_drawn = 0;
    for (std::size_t i = 0; i < count; ++i) {  // all are written, few stay: no branch to predict
        const double least = uniform(seed, first + begin + i) * mu;
        draw.rows[n_drawn] = static_cast<std::uint32_t>(begin + i);
        draw.weights[n_drawn] = squares[i];
        n_drawn += least * least < squares[i];
    }
    for (double& weight : draw.weights.first(n_drawn)) weight = std::max(1.0, mu / std::sqrt(weight));
    return n_drawn;
}

}  // namespace

std::size_t draw_by_size(Values values, double mu, std::uint64_t seed, std::uint64_t first, int n_threads,
                         Draw draw) {
    const std::size_t n_rows = draw.rows.size();
    std::vector<std::size_t> n_drawn((n_rows + kRun - 1) / kRun);
    parallel_ranges(n_rows, kRun, n_threads, [&](std::size_t begin, std::size_t end) {
        n_drawn[begin / kRun] = draw_run(values, begin, end - begin, mu, seed, first,
                                         {draw.rows.subspan(begin), draw.weights.subspan(begin)});
    });
    std::size_t all = 0;
    for (std::size_t run = 0; run < n_drawn.size(); all += n_drawn[run++]) {
        if (all == run * kRun) continue;  // already in position
        std::copy_n(draw.rows.begin() + run * kRun, n_drawn[run], draw.rows.begin() + all);
        std::copy_n(draw.weights.begin() + run * kRun, n_drawn[run], draw.weights.begin() + all);
    }
    return all;
}

double size_threshold(Values values, double fraction) {
    constexpr std::size_t kKnown = 20'000;
    constexpr double kSmallest = std::numeric_limits<double>::min();
    const std::size_t n_rows = values.front().size(), step = std::max<std::size_t>(1, n_rows / kKnown);
    std::vector<double> sizes;
    for (std::size_t row = 0; row < n_rows; row += step) {
        double square = 0.0;
        for (const std::span<const double> column : values) square += column[row] * column[row];
        sizes.push_back(std::sqrt(square));
    }
    // Sizes from mu on are certain, and the others share what is left. Fewer are certain than in the end, so mu
    // falls until it stays.
    const double wanted = fraction * static_cast<double>(sizes.size());
    for (double mu = std::numeric_limits<double>::infinity();;) {
        double shared = 0.0, n_certain = 0.0;
        for (const double size : sizes) {
            shared += size < mu ? size : 0.0;
            n_certain += size < mu ? 0.0 : 1.0;
        }
        const double next = wanted > n_certain ? shared / (wanted - n_certain) : mu;
        if (!(next < mu)) return std::max(mu, kSmallest);
        mu = next;
    }
}

void SampleGuard::check(const SampleGains& tree) {
    constexpr int kTrees = 5;
    constexpr double kLeast = 0.9, kGrowth = 1.5, kMost = 0.5;
    if (!(tree.of_all > 0.0)) return;
    state_.sums.of_first += tree.of_first;
    state_.sums.of_all += tree.of_all;
    if (++state_.n_trees < kTrees) return;
    if (state_.sums.of_first < kLeast * state_.sums.of_all) state_.fraction *= kGrowth;
    if (state_.fraction > kMost) state_.fraction = 1.0;
    state_.n_trees = 0;
    state_.sums = {};
}

void leave_out(std::span<const std::uint32_t> sample, std::size_t n_rows, std::vector<std::uint32_t>& rest) {
    rest.resize(n_rows - sample.size());
    std::size_t n_left_out = 0, next = 0;
    for (std::uint32_t row = 0; n_left_out < rest.size(); ++row) {  // writes every row: no branch to mispredict
        const bool is_drawn = next < sample.size() && sample[next] == row;
        rest[n_left_out] = row;
        next += is_drawn;
        n_left_out += !is_drawn;
    }
}

}  // namespace rankwright
