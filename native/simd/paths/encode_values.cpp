#include "simd/value_kernels.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

constexpr float kInfinity = __builtin_inff();
constexpr std::uintptr_t kLine = 64;  // bytes of a line of the cache

// The lowest double that becomes infinite is in the middle between the highest float and 2^128.
inline std::uint64_t is_too_large(double x) {
    const double size = __builtin_fabs(x);
    return (size >= 0x1.ffffffp127) & (size < __builtin_inf());
}

// The loop has no early exit, so that it compiles to SIMD instructions.
bool any_too_large(const double* values, std::ptrdiff_t stride, std::size_t n) {
    std::uint64_t any = 0;
    if (stride == 1)
        for (std::size_t i = 0; i < n; ++i) any |= is_too_large(values[i]);
    else
        for (std::size_t i = 0; i < n; ++i, values += stride) any |= is_too_large(*values);
    return any;
}

#if defined(__SSE2__)
constexpr std::size_t kSquare = 4;

inline __m128 four_floats(const float* values) { return _mm_loadu_ps(values); }
inline __m128 four_floats(const double* values) {
    return _mm_movelh_ps(_mm_cvtpd_ps(_mm_loadu_pd(values)), _mm_cvtpd_ps(_mm_loadu_pd(values + 2)));
}

// Four adjacent values of four rows.
template <class T>
inline void transpose_square(const T* values, std::ptrdiff_t row_stride, float* copies) {
    __m128 first = four_floats(values), second = four_floats(values + row_stride),
           third = four_floats(values + 2 * row_stride), fourth = four_floats(values + 3 * row_stride);
    _MM_TRANSPOSE4_PS(first, second, third, fourth);
    _mm_store_ps(copies, first);
    _mm_store_ps(copies + kBlock, second);
    _mm_store_ps(copies + 2 * kBlock, third);
    _mm_store_ps(copies + 3 * kBlock, fourth);
}
#else
constexpr std::size_t kSquare = 1;

template <class T>
inline void transpose_square(const T* values, std::ptrdiff_t, float* copies) {
    *copies = static_cast<float>(*values);
}
#endif

// Fetches the values that the next block will read here: processors do not foresee reads that skip most of a row
// or of a column. Nothing is read, so the address may be beyond the end.
template <class T>
inline void prefetch(const T* values, std::ptrdiff_t offset, std::size_t n) {
    const auto begin = reinterpret_cast<std::uintptr_t>(values) + static_cast<std::uintptr_t>(offset) * sizeof(T);
    for (std::uintptr_t line = begin; line < begin + n * sizeof(T); line += kLine)
        __builtin_prefetch(reinterpret_cast<const void*>(line), 0, 2);
}

template <class T>
void copy_rows(const T* values, std::ptrdiff_t row_stride, std::size_t n, std::size_t n_features,
               BlockValues* copies) {
    const std::size_t n_squared = n / kSquare * kSquare, n_features_squared = n_features / kSquare * kSquare;
    for (std::size_t document = 0; document < n; ++document, values += row_stride) {
        if (sizeof(T) == sizeof(float))  // doubles have been read before, one row after another, by too_large
            prefetch(values, static_cast<std::ptrdiff_t>(kBlock) * row_stride, n_features);
        std::size_t feature = 0;
        if (document < n_squared) {
            if (document % kSquare == 0)
                for (; feature < n_features_squared; feature += kSquare)
                    transpose_square(values + feature, row_stride, copies[feature].documents + document);
            feature = n_features_squared;
        }
        for (; feature < n_features; ++feature)
            copies[feature].documents[document] = static_cast<float>(values[feature]);
    }
}

template <class T>
void copy(const T* values, std::ptrdiff_t row_stride, std::ptrdiff_t feature_stride, std::size_t n,
          std::size_t n_features, BlockValues* copies) {
    if (feature_stride == 1 && row_stride != 1) return copy_rows(values, row_stride, n, n_features, copies);
    for (std::size_t feature = 0; feature < n_features; ++feature, values += feature_stride) {
        float* const documents = copies[feature].documents;
        if (row_stride == 1) {
            prefetch(values, kBlock, n);
            for (std::size_t document = 0; document < n; ++document)
                documents[document] = static_cast<float>(values[document]);
        } else {
            for (std::size_t document = 0; document < n; ++document)
                documents[document] =
                    static_cast<float>(values[static_cast<std::ptrdiff_t>(document) * row_stride]);
        }
    }
}

#if defined(__AVX2__)
// Several documents search at once. Registers hold the nodes of the first levels; at a lower level, as many
// registers as needed are looked up, and bits of the node choose among the results.
#if defined(__AVX512BW__)
using Floats = __m512;
using Nodes = __m512i;
constexpr int kFirstLevels = 5;

inline Nodes root() { return _mm512_set1_epi32(1); }
inline Floats limited(Floats value, float highest) {
    value = _mm512_min_ps(_mm512_set1_ps(highest), value);   // NaN stays
    return _mm512_min_ps(value, _mm512_set1_ps(kInfinity));  // NaN becomes infinity
}
inline Floats look_up(const Floats* table, Nodes node) { return _mm512_permutex2var_ps(table[0], node, table[1]); }
template <int bit>
inline Floats choose(Nodes node, Floats zero, Floats one) {
    return _mm512_mask_mov_ps(zero, _mm512_test_epi32_mask(node, _mm512_set1_epi32(1 << bit)), one);
}
inline Nodes descend(Nodes node, Floats threshold, Floats value) {
    const Nodes twice = _mm512_add_epi32(node, node);
    const __mmask16 below = _mm512_cmp_ps_mask(threshold, value, _CMP_LT_OQ);
    return _mm512_mask_add_epi32(twice, below, twice, root());
}
inline void store(Nodes node, int first_code, std::int8_t* codes) {
    const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_sub_epi32(node, _mm512_set1_epi32(first_code)));
    _mm_store_si128(reinterpret_cast<__m128i*>(codes), bytes);
}
#else
using Floats = __m256;
using Nodes = __m256i;
constexpr int kFirstLevels = 3;

inline Nodes root() { return _mm256_set1_epi32(1); }
inline Floats limited(Floats value, float highest) {
    value = _mm256_min_ps(_mm256_set1_ps(highest), value);   // NaN stays
    return _mm256_min_ps(value, _mm256_set1_ps(kInfinity));  // NaN becomes infinity
}
inline Floats look_up(const Floats* table, Nodes node) { return _mm256_permutevar8x32_ps(table[0], node); }
template <int bit>
inline Floats choose(Nodes node, Floats zero, Floats one) {
    return _mm256_blendv_ps(zero, one, _mm256_castsi256_ps(_mm256_slli_epi32(node, 31 - bit)));
}
inline Nodes descend(Nodes node, Floats threshold, Floats value) {
    const Floats below = _mm256_cmp_ps(threshold, value, _CMP_LT_OQ);  // -1 where it holds
    return _mm256_sub_epi32(_mm256_add_epi32(node, node), _mm256_castps_si256(below));
}
inline void store(Nodes node, int first_code, std::int8_t* codes) {
    const Nodes code = _mm256_sub_epi32(node, _mm256_set1_epi32(first_code));
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(code), _mm256_extracti128_si256(code, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(codes), _mm_packs_epi16(words, words));
}
#endif
constexpr std::size_t kLanesTogether = sizeof(Floats) / sizeof(float);

// The threshold of a node of this level, counted from 0; the table begins with the first node of the level, or
// with that of the first levels.
template <int level>
inline Floats threshold_at(const Floats* table, Nodes node) {
    if constexpr (level <= kFirstLevels) {
        return look_up(table, node);
    } else {
        constexpr std::size_t half = (std::size_t{1} << (level - 1)) / kLanesTogether;
        return choose<level - 1>(node, threshold_at<level - 1>(table, node),
                                 threshold_at<level - 1>(table + half, node));
    }
}

template <int depth, int level = 0>
inline Nodes search(const Floats* table, Floats value, Nodes node) {
    if constexpr (level == depth) {
        return node;
    } else {
        constexpr std::size_t first = level < kFirstLevels ? 0 : (std::size_t{1} << level) / kLanesTogether;
        return search<depth, level + 1>(table, value,
                                        descend(node, threshold_at<level>(table + first, node), value));
    }
}

template <int depth>
void encode_by(const Column& column, const BlockValues& values, std::size_t n, BlockBytes& codes) {
    const auto* const table = reinterpret_cast<const Floats*>(column.search);
    for (std::size_t document = 0; document < n; document += kLanesTogether) {
        Floats value = *reinterpret_cast<const Floats*>(values.documents + document);
        if (column.missing_right) value = limited(value, column.highest);
        store(search<depth>(table, value, root()), (1 << depth) + 128, codes.documents + document);
    }
}

void encode(const Column& column, const BlockValues& values, std::size_t n, BlockBytes& codes) {
    constexpr EncodeKernel by_depth[] = {encode_by<1>, encode_by<2>, encode_by<3>, encode_by<4>,
                                         encode_by<5>, encode_by<6>, encode_by<7>, encode_by<8>};
    by_depth[column.depth - 1](column, values, n, codes);
}
#else
// The number of values, of 16, that are below x.
inline unsigned count_below(const float* numbers, float x) {
    using Floats = float __attribute__((vector_size(16)));
    Floats four[4];
    __builtin_memcpy(four, numbers, sizeof four);
    const auto below = (four[0] < x) + (four[1] < x) + (four[2] < x) + (four[3] < x);  // -1 where it holds
    return static_cast<unsigned>(-(below[0] + below[1] + below[2] + below[3]));
}

// A search in two stages: the first four steps at once, then all others at once.
template <bool long_search, bool missing_right>
void encode_as(const Column& column, const BlockValues& values, std::size_t n, BlockBytes& codes) {
    for (std::size_t document = 0; document < n; ++document) {
        const float value = values.documents[document];
        const float limited = value < column.highest ? value : value == value ? column.highest : kInfinity;
        const float x = missing_right ? limited : value;
        unsigned code = count_below(column.search, x);
        if (long_search) {
            code <<= column.depth - 4;
            code += count_below(column.sorted + code, x);
        }
        codes.documents[document] = static_cast<std::int8_t>(code - 128);
    }
}

void encode(const Column& column, const BlockValues& values, std::size_t n, BlockBytes& codes) {
    const bool right = column.missing_right;
    const auto encode_it = column.depth > 4 ? right ? encode_as<true, true> : encode_as<true, false>
                           : right          ? encode_as<false, true>
                                            : encode_as<false, false>;
    encode_it(column, values, n, codes);
}
#endif

}  // namespace

const ValueKernels value_kernels = {any_too_large, copy<float>, copy<double>, encode};

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
