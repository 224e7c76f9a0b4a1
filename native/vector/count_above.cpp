#include "rankwright/vectors.hpp"

namespace rankwright::RANKWRIGHT_VECTOR_PATH {
namespace {

constexpr std::int64_t kHalf = kLanes / 2;
using Scores = double __attribute__((vector_size(64), aligned(8), may_alias));
using Counts = std::int64_t __attribute__((vector_size(64), aligned(8), may_alias));

}  // namespace

// Sixteen documents at a time, each in a lane of its own, go past every document. A comparison that holds is -1.
void count_above(const double* scores, std::int64_t size, std::int64_t* ranks) {
    constexpr Counts lane = {0, 1, 2, 3, 4, 5, 6, 7};
    for (std::int64_t block = 0; block < size; block += kLanes) {
        const Scores left = *reinterpret_cast<const Scores*>(scores + block);
        const Scores right = *reinterpret_cast<const Scores*>(scores + block + kHalf);
        const Counts left_place = block + lane, right_place = block + kHalf + lane;
        const std::int64_t block_end = block + kLanes < size ? block + kLanes : size;
        Counts left_above = {}, right_above = {};
        for (std::int64_t other = 0; other < block; ++other) {
            left_above = scores[other] >= left ? left_above + 1 : left_above;
            right_above = scores[other] >= right ? right_above + 1 : right_above;
        }
        for (std::int64_t other = block; other < block_end; ++other) {
            left_above -= (scores[other] > left) | ((scores[other] == left) & (other < left_place));
            right_above -= (scores[other] > right) | ((scores[other] == right) & (other < right_place));
        }
        for (std::int64_t other = block_end; other < size; ++other) {
            left_above = scores[other] > left ? left_above + 1 : left_above;
            right_above = scores[other] > right ? right_above + 1 : right_above;
        }
        *reinterpret_cast<Counts*>(ranks + block) = left_above;
        *reinterpret_cast<Counts*>(ranks + block + kHalf) = right_above;
    }
}

}  // namespace rankwright::RANKWRIGHT_VECTOR_PATH
