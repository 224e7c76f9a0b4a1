// Rows drawn with chances of their own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankwright {

using Values = std::span<const std::span<const double>>;

// Where a draw goes: room for all rows in each.
struct Draw {
    std::span<std::uint32_t> rows;  // ascending
    std::span<double> weights;      // one over the chance of each
};

// Draws each row with the chance min(1, size / mu), where a row's size is the length of the vector that its
// numbers in `values` make; a size of 0 is never drawn. Returns how many were drawn. The seed and the row alone
// say what falls to a row.
std::size_t draw_by_size(Values values, double mu, std::uint64_t seed, int n_threads, Draw draw);

// Overwrites `rest` with those of n_rows rows that the sample, ascending, leaves out.
void leave_out(std::span<const std::uint32_t> sample, std::size_t n_rows, std::vector<std::uint32_t>& rest);

}  // namespace rankwright
