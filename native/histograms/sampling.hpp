// Samples rows, each with its own probability.
//
// Kernels keep no random state: each row's number is a hash of a seed, which Python draws, and of the row. So
// neither the number of threads nor the order in which rows are processed changes a sample.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankwright {

// A number between 0 and 1, from the seed and i alone: the i-th output of SplitMix64 (Steele, Lea & Flood 2014),
// which can be computed without those before it.
inline double uniform(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t bits = seed + (i + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
    return (static_cast<double>(static_cast<std::int64_t>(bits >> 12)) + 0.5) * 0x1p-52;
}

using Values = std::span<const std::span<const double>>;

// The output of a draw; each span has room for all rows.
struct Draw {
    std::span<std::uint32_t> rows;  // ascending
    std::span<double> weights;      // one over the probability of each
};

// Samples each row with probability min(1, size / mu), where a row's size is the Euclidean norm of its numbers in
// `values`; a row of size 0 is never sampled. Returns the number of rows sampled. `first` is the number of the
// first row among all rows, where these are a part of them.
std::size_t draw_by_size(Values values, double mu, std::uint64_t seed, std::uint64_t first, int n_threads,
                         Draw draw);

// The gains, on all rows, of a tree's splits: those of the two features that the sample ranks first in each leaf,
// and those of all four that it selects. Both are 0 for a tree whose splits the sample chooses alone.
struct SampleGains {
    double of_first = 0.0, of_all = 0.0;
};

// The fraction of rows that trees are given as a sample, drawn by size; it grows where samples mislead. If
// features that a sample ranks third or fourth have much higher gains on all rows than those that it ranks first,
// then features beyond may have them too. So wherever the third and fourth add more than a tenth of the gains
// of five trees, the fraction grows by half; above a half, all rows are used. It never falls.
class SampleGuard {
  public:
    struct State {
        double fraction;
        int n_trees = 0;  // since the fraction was last judged
        SampleGains sums{};
    };

    explicit SampleGuard(const State& state) : state_(state) {}
    double fraction() const { return state_.fraction; }
    const State& state() const { return state_; }
    void check(const SampleGains& tree);

  private:
    State state_;
};

// The mu with which draw_by_size samples about this fraction of the rows, estimated from 20,000 of them, evenly
// spaced: the sum of min(1, size / mu) over these is the fraction of their number.
double size_threshold(Values values, double fraction);

// Overwrites `rest` with the rows, of n_rows, that are not in the sample; both ascend.
void leave_out(std::span<const std::uint32_t> sample, std::size_t n_rows, std::vector<std::uint32_t>& rest);

}  // namespace rankwright
