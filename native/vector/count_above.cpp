#include "rankwright/vectors.hpp"

namespace rankwright::RANKWRIGHT_VECTOR_PATH {
namespace {

constexpr std::int64_t kHalf = kCountLanes / 2;
using Keys = float __attribute__((vector_size(64), aligned(4), may_alias));
using Counts = std::int32_t __attribute__((vector_size(64), aligned(4), may_alias));

}  // namespace

// Compares 32 documents at a time, one per lane, with every document.
void count_above(const float* keys, std::int64_t size, std::int32_t* ranks) {
    constexpr Counts lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    for (std::int64_t block = 0; block < size; block += kCountLanes) {
        const Keys left = *reinterpret_cast<const Keys*>(keys + block);
        const Keys right = *reinterpret_cast<const Keys*>(keys + block + kHalf);
        const Counts left_place = static_cast<std::int32_t>(block) + lane;
        const Counts right_place = static_cast<std::int32_t>(block + kHalf) + lane;
        const std::int64_t block_end = block + kCountLanes < size ? block + kCountLanes : size;
        Counts left_above = {}, right_above = {};
        for (std::int64_t other = 0; other < block; ++other) {
            left_above = keys[other] >= left ? left_above + 1 : left_above;
            right_above = keys[other] >= right ? right_above + 1 : right_above;
        }
        for (std::int64_t other = block; other < block_end; ++other) {
            const auto place = static_cast<std::int32_t>(other);
            left_above -= (keys[other] > left) | ((keys[other] == left) & (place < left_place));
            right_above -= (keys[other] > right) | ((keys[other] == right) & (place < right_place));
        }
        for (std::int64_t other = block_end; other < size; ++other) {
            left_above = keys[other] > left ? left_above + 1 : left_above;
            right_above = keys[other] > right ? right_above + 1 : right_above;
        }
        *reinterpret_cast<Counts*>(ranks + block) = left_above;
        *reinterpret_cast<Counts*>(ranks + block + kHalf) = right_above;
    }
}

}  // namespace rankwright::RANKWRIGHT_VECTOR_PATH
