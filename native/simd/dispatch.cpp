#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string_view>

#if defined(_WIN32) && defined(__x86_64__)
#define NOMINMAX
#include <windows.h>
// after windows.h
#include <intrin.h>
#endif

#include "simd/kernels.hpp"
#include "simd/pair_kernels.hpp"
#include "simd/query_kernels.hpp"
#include "simd/tree_kernels.hpp"
#include "simd/value_kernels.hpp"
#include "simd/vector_kernels.hpp"

namespace rankwright {

#if defined(__x86_64__)
namespace {

#if defined(_WIN32)  // where __builtin_cpu_supports needs a library that Visual Studio does not link
SimdPath supported_path() {
    constexpr DWORD avx2 = 40, avx512f = 41;  // PF_AVX2_INSTRUCTIONS_AVAILABLE and so on; older headers lack them
    constexpr unsigned bw_dq_vl = 1u << 30 | 1u << 17 | 1u << 31;  // of EBX in leaf 7 of CPUID
    int registers[4] = {};
    __cpuidex(registers, 7, 0);
    const bool has_all = (static_cast<unsigned>(registers[1]) & bw_dq_vl) == bw_dq_vl;
    if (IsProcessorFeaturePresent(avx512f) && has_all) return SimdPath::avx512;
    return IsProcessorFeaturePresent(avx2) ? SimdPath::avx2 : SimdPath::portable;
}
#else
SimdPath supported_path() {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return SimdPath::avx512;
    return __builtin_cpu_supports("avx2") ? SimdPath::avx2 : SimdPath::portable;
}
#endif

SimdPath named_path(std::string_view name) {
    constexpr std::string_view names[] = {"portable", "avx2", "avx512"};
    const auto* const match = std::find(std::begin(names), std::end(names), name);
    if (match == std::end(names)) throw std::invalid_argument("RANKWRIGHT_SIMD must be portable, avx2 or avx512");
    return std::min(supported_path(), static_cast<SimdPath>(match - names));
}

}  // namespace

SimdPath widest_path() {
    static const SimdPath widest = [] {
        const char* name = std::getenv("RANKWRIGHT_SIMD");
        return name == nullptr ? supported_path() : named_path(name);
    }();
    return widest;
}
#define RANKWRIGHT_KERNEL(path, kernel) \
    ((path) == SimdPath::avx512 ? avx512::kernel : (path) == SimdPath::avx2 ? avx2::kernel : portable::kernel)
#else
SimdPath widest_path() { return SimdPath::portable; }
#define RANKWRIGHT_KERNEL(path, kernel) (static_cast<void>(path), portable::kernel)
#endif

void count_above(const float* keys, std::int64_t size, std::int32_t* ranks, SimdPath path) {
    RANKWRIGHT_KERNEL(path, count_above)(keys, size, ranks);
}

void find_ranges(const FloatRow* values, SortedLanes lanes, LaneRanges& ranges, SimdPath path) {
    RANKWRIGHT_KERNEL(path, find_ranges)(values, lanes, ranges);
}

void sort_lanes(SortedLanes lanes, SimdPath path) { RANKWRIGHT_KERNEL(path, sort_lanes)(lanes); }

void find_moments(SortedLanes lanes, const LaneRanges& ranges, LaneScales& moments, SimdPath path) {
    RANKWRIGHT_KERNEL(path, find_moments)(lanes, ranges, moments);
}

void find_ranks(SortedLanes lanes, const LaneRanges& ranges, FloatRow* ranks, SimdPath path) {
    RANKWRIGHT_KERNEL(path, find_ranks)(lanes, ranges, ranks);
}

void scale_rows(const FloatRow* values, std::size_t size, const LaneScales& by, double zero, FloatRow* scaled,
                SimdPath path) {
    RANKWRIGHT_KERNEL(path, scale_rows)(values, size, by, zero, scaled);
}

void encode_column(const float* values, const float* edges, std::uint8_t* codes, SimdPath path) {
    RANKWRIGHT_KERNEL(path, encode_column)(values, edges, codes);
}

void split_gains(const std::int64_t* left, std::int64_t size, const SplitTerms& terms, double* gains,
                 SimdPath path) {
    RANKWRIGHT_KERNEL(path, split_gains)(left, size, terms, gains);
}

float highest_sides(const std::int64_t* sums, std::int64_t size, std::int64_t before, const SideTerms& terms,
                    SimdPath path) {
    return RANKWRIGHT_KERNEL(path, highest_sides)(sums, size, before, terms);
}

void class_gains(const ClassSides& sides, std::int64_t size, double* gains, SimdPath path) {
    RANKWRIGHT_KERNEL(path, class_gains)(sides, size, gains);
}

void add_wide_rows(const WideTask& task, SimdPath path) { RANKWRIGHT_KERNEL(path, add_wide_rows)(task); }

void weigh_inputs(const double* inputs, std::int64_t n_inputs, const double* weights, std::int64_t n_units,
                  double* units, SimdPath path) {
    RANKWRIGHT_KERNEL(path, weigh_inputs)(inputs, n_inputs, weights, n_units, units);
}

void add_products(const double* inputs, std::int64_t n_inputs, const double* pulls, std::int64_t n_units,
                  double* sums, SimdPath path) {
    RANKWRIGHT_KERNEL(path, add_products)(inputs, n_inputs, pulls, n_units, sums);
}

void exponentiate(double* values, std::int64_t size, SimdPath path) {
    RANKWRIGHT_KERNEL(path, exponentiate)(values, size);
}

#if defined(__x86_64__)
PairRows pair_rows(SimdPath path) {
    switch (path) {
        case SimdPath::avx512:
            return {avx512::measure_from, avx512::linear_row, avx512::given_row};
        case SimdPath::avx2:
            return {avx2::measure_from, avx2::linear_row, avx2::given_row};
        case SimdPath::portable:
            break;
    }
    return {portable::measure_from, portable::linear_row, portable::given_row};
}
#else
PairRows pair_rows(SimdPath) { return {portable::measure_from, portable::linear_row, portable::given_row}; }
#endif

const ValueKernels& value_kernels(SimdPath path) { return RANKWRIGHT_KERNEL(path, value_kernels); }

const VectorKernels& vector_kernels(SimdPath path) { return RANKWRIGHT_KERNEL(path, vector_kernels); }

AddTrees& add_trees_on(SimdPath path) { return RANKWRIGHT_KERNEL(path, add_trees); }

void fetch_share(NextValues& next, std::size_t n_steps) {
    constexpr std::size_t line_bytes = 64;
    next.step = std::min(next.step + n_steps, next.n_steps);
    for (; next.n_fetched * next.n_steps < next.n_runs * next.step; ++next.n_fetched) {
        const auto number =
            next.numbers == nullptr ? next.n_fetched : static_cast<std::size_t>(next.numbers[next.n_fetched]);
        const std::uintptr_t run = next.first + number * next.stride;
        for (std::size_t byte = 0; byte < next.n_bytes; byte += line_bytes)
            __builtin_prefetch(reinterpret_cast<const void*>(run + byte), 0, 2);
    }
}

}  // namespace rankwright
