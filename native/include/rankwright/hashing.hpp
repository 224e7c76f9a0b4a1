// A number for what a row holds, by which documents are put in an order that their place in the input cannot
// change.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// hashes[row] depends on the row's values alone; values is row-major. All NaN are alike, and so are both zeros.
void hash_rows(std::span<const float> values, std::size_t n_features, int n_threads,
               std::span<std::uint64_t> hashes);

}  // namespace rankwright
