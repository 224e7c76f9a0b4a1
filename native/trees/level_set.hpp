// A set of levels of a category as bits: level l is bit l % 32 of word l / 32.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rankwright {

using LevelSet = std::span<const std::uint32_t>;

constexpr std::size_t kWordBits = 32;
constexpr std::uint32_t kMostSetWords = (1 << 24) / kWordBits;  // a 32-bit float tells so many levels apart

// The level of a value above `lowest` is the integer before its decimal point; others have none. The numbers
// between -1 and 0 are of level 0 to LightGBM, and of none to XGBoost: `lowest` is one of these.
constexpr float kAboveMinusOne = -1.0f, kFromZero = -std::numeric_limits<float>::denorm_min();

inline bool contains(LevelSet set, float lowest, float value) {
    if (!(value > lowest && value < static_cast<float>(kWordBits * set.size()))) return false;
    const auto level = static_cast<std::size_t>(value > 0.0f ? value : 0.0f);
    return set[level / kWordBits] >> level % kWordBits & 1;
}

// The set of each split; that of a split with a threshold is empty.
inline std::vector<LevelSet> level_sets(LevelSet sizes, LevelSet words) {
    std::vector<LevelSet> sets;
    sets.reserve(sizes.size());
    for (std::size_t first = 0; const std::uint32_t size : sizes) {
        sets.push_back(words.subspan(first, size));
        first += size;
    }
    return sets;
}

}  // namespace rankwright
