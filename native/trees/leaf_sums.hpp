// Sums of the rows of each leaf in fixed point: exact, so that neither the order of rows nor their division among
// threads or machines changes a bit.
//
// All numbers are below 2^e in size, for an e that they share. Each is cut to a multiple of 2^(e - 92), and the
// multiples are summed as integers: the sum of n rows is at most n x 2^(e - 92) from that of the numbers, and is
// exact where none is below 2^(e - 40) in size. Fewer than 2^35 rows may be summed.
#pragma once
#include <cstdint>
#include <span>

namespace rankwright {

__extension__ typedef __int128 FixedSum;

// The smallest e such that all numbers are below 2^e in size, but at least -970: of the whole, the maximum over
// its parts. Numbers are finite.
int common_exponent(std::span<const double> values, int n_threads);

// Adds each row's number, as a multiple of 2^(exponent - 92), to the sum of its leaf.
void add_leaf_sums(std::span<const double> values, std::span<const std::uint32_t> leaf_of_row, int exponent,
                   int n_threads, std::span<FixedSum> sums);

// The double nearest to a sum.
double rounded(FixedSum sum, int exponent);

// Overwrites one double per leaf with the sum of its rows.
void sum_leaves(std::span<const double> values, std::span<const std::uint32_t> leaf_of_row, int n_threads,
                std::span<double> sums);

}  // namespace rankwright
