#include "rankwright/vectors.hpp"

namespace rankwright {

#if defined(__x86_64__)
VectorPath widest_path() {
    static const VectorPath widest = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                             __builtin_cpu_supports("avx512dq") &&
                                             __builtin_cpu_supports("avx512vl")
                                         ? VectorPath::avx512
                                     : __builtin_cpu_supports("avx2") ? VectorPath::avx2
                                                                      : VectorPath::portable;
    return widest;
}

void count_above(const float* keys, std::int64_t size, std::int32_t* ranks, VectorPath path) {
    switch (path) {
        case VectorPath::avx512:
            return avx512::count_above(keys, size, ranks);
        case VectorPath::avx2:
            return avx2::count_above(keys, size, ranks);
        case VectorPath::portable:
            return portable::count_above(keys, size, ranks);
    }
}
void encode_column(const float* values, const float* edges, std::uint8_t* codes, VectorPath path) {
    switch (path) {
        case VectorPath::avx512:
            return avx512::encode_column(values, edges, codes);
        case VectorPath::avx2:
            return avx2::encode_column(values, edges, codes);
        case VectorPath::portable:
            return portable::encode_column(values, edges, codes);
    }
}
void split_gains(const std::int64_t* left, std::int64_t size, const SplitTerms& terms, double* gains,
                 VectorPath path) {
    switch (path) {
        case VectorPath::avx512:
            return avx512::split_gains(left, size, terms, gains);
        case VectorPath::avx2:
            return avx2::split_gains(left, size, terms, gains);
        case VectorPath::portable:
            return portable::split_gains(left, size, terms, gains);
    }
}
#else
VectorPath widest_path() { return VectorPath::portable; }

void encode_column(const float* values, const float* edges, std::uint8_t* codes, VectorPath) {
    portable::encode_column(values, edges, codes);
}

void count_above(const float* keys, std::int64_t size, std::int32_t* ranks, VectorPath) {
    portable::count_above(keys, size, ranks);
}

void split_gains(const std::int64_t* left, std::int64_t size, const SplitTerms& terms, double* gains, VectorPath) {
    portable::split_gains(left, size, terms, gains);
}
#endif

}  // namespace rankwright
