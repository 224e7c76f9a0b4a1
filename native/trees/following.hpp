// Documents that are not trained on but follow the trees that a block of rounds grows, such as validation
// documents.
#pragma once
#include <bit>
#include <cstdint>
#include <span>

#include "trees/tree_shape.hpp"

namespace rankwright {

struct FollowingDocuments {
    std::span<const float> values;  // one row of features per document
    std::size_t n_features;
    std::span<const std::int64_t> sources;  // the feature that each column of the binned matrix was made of

    std::size_t size() const { return n_features == 0 ? 0 : values.size() / n_features; }

    // Overwrites one leaf per document: the one that it reaches. A child of a split has a higher number.
    void find_leaves(const TreeShape& tree, int n_threads, std::span<std::uint32_t> leaf_of_document) const;
};

// Why a block of rounds ended.
enum class RoundsEnd { kAllDone, kNothingLeft, kNotFinite };

// Infinity and NaN have all bits of the exponent set. Adding its lowest bit then carries into the sign, so that
// many numbers are checked at once.
inline bool all_finite(std::span<const double> values) {
    constexpr std::uint64_t kExponent = 0x7ff0000000000000, kLowest = 0x0010000000000000;
    std::uint64_t carried = 0;
    for (const double value : values) carried |= (std::bit_cast<std::uint64_t>(value) & kExponent) + kLowest;
    return carried >> 63 == 0;
}

}  // namespace rankwright
