// Hashes the values of rows, to sort documents in an order that does not depend on their order in the input.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// hashes[row] depends only on the row's values; values is row-major. All NaN hash alike, and so do 0.0 and -0.0.
void hash_rows(std::span<const float> values, std::size_t n_features, int n_threads,
               std::span<std::uint64_t> hashes);

}  // namespace rankwright
