#include "queries/hashing.hpp"

#include <bit>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio: odd and irregular
constexpr std::size_t kChains = 4;  // independent ones, because each multiplication waits for the previous one

std::uint64_t bits_of(float value) {
    return value == value ? std::bit_cast<std::uint32_t>(value + 0.0f) : 0x7fc00000u;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t bits) { return std::rotl((hash ^ bits) * kMultiplier, 29); }

std::uint64_t hash_row(const float* values, std::size_t size) {
    std::uint64_t chains[kChains] = {1, 2, 3, 4};
    std::size_t i = 0;
    for (; i + kChains <= size; i += kChains)
        for (std::size_t chain = 0; chain < kChains; ++chain)
            chains[chain] = mix(chains[chain], bits_of(values[i + chain]));
    for (; i < size; ++i) chains[0] = mix(chains[0], bits_of(values[i]));
    return mix(mix(mix(chains[0], chains[1]), chains[2]), chains[3]);
}

}  // namespace

void hash_rows(std::span<const float> values, std::size_t n_features, int n_threads,
               std::span<std::uint64_t> hashes) {
    parallel_ranges(hashes.size(), 4096, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row)
            hashes[row] = hash_row(values.data() + row * n_features, n_features);
    });
}

}  // namespace rankwright
