#include "simd/paths/width.hpp"
#include "simd/query_kernels.hpp"

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

using Keys = float __attribute__((vector_size(kRegisterBytes), may_alias));
using Positions = std::int32_t __attribute__((vector_size(kRegisterBytes), may_alias));
constexpr std::size_t kParts = sizeof(FloatRow) / kRegisterBytes;
constexpr float kMissing = __builtin_inff();

inline Keys* keys_of(FloatRow& row) { return reinterpret_cast<Keys*>(row.lanes); }
inline Positions* positions_of(IntRow& row) { return reinterpret_cast<Positions*>(row.lanes); }

// Puts the lower key of each lane into the first row.
inline void exchange(const SortedLanes& lanes, std::size_t first, std::size_t second) {
    for (std::size_t part = 0; part < kParts; ++part) {
        Keys &low = keys_of(lanes.keys[first])[part], &high = keys_of(lanes.keys[second])[part];
        Positions& low_at = positions_of(lanes.positions[first])[part];
        Positions& high_at = positions_of(lanes.positions[second])[part];
        const Keys a = low, b = high;
        const Positions a_at = low_at, b_at = high_at, wrong = a > b;
        low = wrong ? b : a;
        high = wrong ? a : b;
        low_at = wrong ? b_at : a_at;
        high_at = wrong ? a_at : b_at;
    }
}

inline double or_one(double divisor) { return divisor > 0.0 ? divisor : 1.0; }

}  // namespace

void find_ranges(const FloatRow* values, SortedLanes lanes, LaneRanges& ranges) {
    IntRow known{};
    FloatRow low, high;
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        low.lanes[lane] = kMissing;
        high.lanes[lane] = -kMissing;
    }
    for (std::size_t position = 0; position < lanes.size; ++position)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            const float value = values[position].lanes[lane];
            const float key = value == value ? value : kMissing;
            lanes.keys[position].lanes[lane] = key;
            lanes.positions[position].lanes[lane] = static_cast<std::int32_t>(position);
            known.lanes[lane] += value == value;
            low.lanes[lane] = key < low.lanes[lane] ? key : low.lanes[lane];
            high.lanes[lane] = value > high.lanes[lane] ? value : high.lanes[lane];  // false for NaN
        }
    ranges = {known, low, high};
}

// Batcher's merge exchange (Knuth, volume 3, 5.2.2M): which rows are compared does not depend on the keys, so all
// lanes are sorted at once.
void sort_lanes(SortedLanes lanes) {
    std::size_t top = 1;
    while (2 * top < lanes.size) top *= 2;
    for (std::size_t run = lanes.size > 1 ? top : 0; run > 0; run /= 2) {
        std::size_t offset = 0, distance = run;
        for (std::size_t step = top;; step /= 2) {
            for (std::size_t start = offset; start + distance < lanes.size; start += 2 * run) {
                const std::size_t rest = lanes.size - distance, end = start + run < rest ? start + run : rest;
                for (std::size_t row = start; row < end; ++row) exchange(lanes, row, row + distance);
            }
            if (step == run) break;
            distance = step - run;
            offset = run;
        }
    }
}

void find_moments(SortedLanes lanes, const LaneRanges& ranges, LaneScales& moments) {
    DoubleRow sum{}, squares{}, count, mean;
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
        count.lanes[lane] = ranges.known.lanes[lane] > 1 ? ranges.known.lanes[lane] : 1;
    for (std::size_t rank = 0; rank < lanes.size; ++rank)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            const float key = lanes.keys[rank].lanes[lane];
            sum.lanes[lane] += key < kMissing ? key : 0.0f;
        }
    for (std::int64_t lane = 0; lane < kLanes; ++lane) mean.lanes[lane] = sum.lanes[lane] / count.lanes[lane];
    for (std::size_t rank = 0; rank < lanes.size; ++rank)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            const float key = lanes.keys[rank].lanes[lane];
            const double distance = key < kMissing ? key - mean.lanes[lane] : 0.0;
            squares.lanes[lane] += distance * distance;
        }
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
        moments.scale.lanes[lane] = or_one(__builtin_sqrt(squares.lanes[lane] / count.lanes[lane]));
    moments.centre = mean;
}

// Equal values have the ranks from low to high, and all get the middle.
void find_ranks(SortedLanes lanes, const LaneRanges& ranges, FloatRow* ranks) {
    IntRow low{}, high{}, single;
    DoubleRow others;
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        const std::int32_t known = ranges.known.lanes[lane];
        single.lanes[lane] = known > 1 ? 0 : 1;
        others.lanes[lane] = known > 2 ? known - 1 : 1;
    }
    for (std::size_t rank = 0; rank < lanes.size; ++rank) {
        const FloatRow &current = lanes.keys[rank], &before = lanes.keys[rank - (rank > 0)];
        for (std::int64_t lane = 0; lane < kLanes; ++lane)
            low.lanes[lane] =
                current.lanes[lane] == before.lanes[lane] ? low.lanes[lane] : static_cast<std::int32_t>(rank);
        lanes.low_ranks[rank] = low;
    }
    FloatRow next;  // no key equals NaN
    for (std::int64_t lane = 0; lane < kLanes; ++lane) next.lanes[lane] = __builtin_nanf("");
    for (std::size_t rank = lanes.size; rank-- > 0;) {
        const FloatRow current = lanes.keys[rank];
        FloatRow middle;
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            high.lanes[lane] =
                current.lanes[lane] == next.lanes[lane] ? high.lanes[lane] : static_cast<std::int32_t>(rank);
            const std::int32_t twice = lanes.low_ranks[rank].lanes[lane] + high.lanes[lane] + single.lanes[lane];
            const auto value = static_cast<float>(twice / 2.0 / others.lanes[lane]);
            middle.lanes[lane] = current.lanes[lane] < kMissing ? value : __builtin_nanf("");
        }
        next = current;
        for (std::int64_t lane = 0; lane < kLanes; ++lane)
            ranks[lanes.positions[rank].lanes[lane]].lanes[lane] = middle.lanes[lane];
    }
}

void scale_rows(const FloatRow* values, std::size_t size, const LaneScales& by, double zero, FloatRow* scaled) {
    for (std::size_t position = 0; position < size; ++position)
        for (std::int64_t lane = 0; lane < kLanes; ++lane)
            scaled[position].lanes[lane] = static_cast<float>(
                (values[position].lanes[lane] - by.centre.lanes[lane]) / by.scale.lanes[lane] + zero);
}

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
