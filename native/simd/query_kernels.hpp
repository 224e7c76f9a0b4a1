// The kernels of columns within the query, compiled once per SIMD path; see simd/kernels.hpp. They process kLanes
// features of one query side by side: a row has one number per feature.
#pragma once
#include <cstddef>
#include <cstdint>

#include "simd/kernels.hpp"

namespace rankwright {

template <class T>
struct alignas(64) LaneRow {
    T lanes[kLanes];
};
using FloatRow = LaneRow<float>;
using IntRow = LaneRow<std::int32_t>;
using DoubleRow = LaneRow<double>;

// Of the values that are not missing: their number, the lowest and the highest, or infinity and -infinity.
struct LaneRanges {
    IntRow known;
    FloatRow low, high;
};

// A value x is scaled to (x - centre) / scale.
struct LaneScales {
    DoubleRow centre, scale;
};

// Each lane in ascending order, infinity for missing values last: the keys, and the position of each in its query.
struct SortedLanes {
    FloatRow* keys;
    IntRow* positions;
    IntRow* low_ranks;  // space for find_ranks
    std::size_t size;
};

// Values are finite or NaN (missing), one row per document.
// find_ranges: also fills the lanes that are to be sorted. sort_lanes: sorts each lane. find_moments: the mean and
// the standard deviation, or 1 if that is 0; sums in double precision, in ascending order of the values.
// find_ranks: by position, the rank column of queries/query_features.hpp. scale_rows: (value - centre) / scale +
// zero.
#define RANKWRIGHT_DECLARE_QUERY_KERNELS(path)                                                   \
    namespace path {                                                                             \
    void find_ranges(const FloatRow* values, SortedLanes lanes, LaneRanges& ranges);             \
    void sort_lanes(SortedLanes lanes);                                                          \
    void find_moments(SortedLanes lanes, const LaneRanges& ranges, LaneScales& moments);         \
    void find_ranks(SortedLanes lanes, const LaneRanges& ranges, FloatRow* ranks);               \
    void scale_rows(const FloatRow* values, std::size_t size, const LaneScales& by, double zero, \
                    FloatRow* scaled);                                                           \
    }

RANKWRIGHT_DECLARE_QUERY_KERNELS(portable)
#if defined(__x86_64__)
RANKWRIGHT_DECLARE_QUERY_KERNELS(avx2)
RANKWRIGHT_DECLARE_QUERY_KERNELS(avx512)
#endif

void find_ranges(const FloatRow* values, SortedLanes lanes, LaneRanges& ranges, SimdPath path);
void sort_lanes(SortedLanes lanes, SimdPath path);
void find_moments(SortedLanes lanes, const LaneRanges& ranges, LaneScales& moments, SimdPath path);
void find_ranks(SortedLanes lanes, const LaneRanges& ranges, FloatRow* ranks, SimdPath path);
void scale_rows(const FloatRow* values, std::size_t size, const LaneScales& by, double zero, FloatRow* scaled,
                SimdPath path);

}  // namespace rankwright
