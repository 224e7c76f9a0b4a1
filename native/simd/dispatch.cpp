#include "simd/kernels.hpp"
#include "simd/pair_kernels.hpp"
#include "simd/tree_kernels.hpp"

namespace rankwright {

#if defined(__x86_64__)
SimdPath widest_path() {
    static const SimdPath widest = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
                                       ? SimdPath::avx512
                                   : __builtin_cpu_supports("avx2") ? SimdPath::avx2
                                                                    : SimdPath::portable;
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

void encode_column(const float* values, const float* edges, std::uint8_t* codes, SimdPath path) {
    RANKWRIGHT_KERNEL(path, encode_column)(values, edges, codes);
}

void split_gains(const std::int64_t* left, std::int64_t size, const SplitTerms& terms, double* gains,
                 SimdPath path) {
    RANKWRIGHT_KERNEL(path, split_gains)(left, size, terms, gains);
}

void class_gains(const ClassSides& sides, std::int64_t size, double* gains, SimdPath path) {
    RANKWRIGHT_KERNEL(path, class_gains)(sides, size, gains);
}

void add_wide_rows(const WideTask& task, SimdPath path) { RANKWRIGHT_KERNEL(path, add_wide_rows)(task); }

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

#if defined(__x86_64__)
const TreeKernels& tree_kernels(SimdPath path) {
    switch (path) {
        case SimdPath::avx512:
            return avx512::tree_kernels;
        case SimdPath::avx2:
            return avx2::tree_kernels;
        case SimdPath::portable:
            break;
    }
    return portable::tree_kernels;
}
#else
const TreeKernels& tree_kernels(SimdPath) { return portable::tree_kernels; }
#endif

}  // namespace rankwright
