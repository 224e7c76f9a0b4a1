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

using Values = std::span<const std::span<const double>>;

// The output of a draw; each span has room for all rows.
struct Draw {
    std::span<std::uint32_t> rows;  // ascending
    std::span<double> weights;      // one over the probability of each
};

// Samples each row with probability min(1, size / mu), where a row's size is the Euclidean norm of its numbers in
// `values`; a row of size 0 is never sampled. Returns the number of rows sampled.
std::size_t draw_by_size(Values values, double mu, std::uint64_t seed, int n_threads, Draw draw);

// Overwrites `rest` with the rows, of n_rows, that are not in the sample; both ascend.
void leave_out(std::span<const std::uint32_t> sample, std::size_t n_rows, std::vector<std::uint32_t>& rest);

}  // namespace rankwright
