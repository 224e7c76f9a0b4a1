#include "simd/value_kernels.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

constexpr float kInfinity = __builtin_inff();
constexpr std::size_t kStride = sizeof(BlockValues) / sizeof(float);
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

// Fetches values that are read soon. Nothing is read, so the address may be beyond the end.
template <class T>
inline void prefetch(const T* values, std::ptrdiff_t offset, std::size_t n) {
    const auto begin = reinterpret_cast<std::uintptr_t>(values) + static_cast<std::uintptr_t>(offset) * sizeof(T);
    for (std::uintptr_t line = begin; line < begin + n * sizeof(T); line += kLine)
        __builtin_prefetch(reinterpret_cast<const void*>(line));
}

#if defined(__AVX512BW__)
inline __m512 masked_floats(const float* values, __mmask16 present) {
    return _mm512_maskz_loadu_ps(present, values);
}
inline __m512 masked_floats(const double* values, __mmask16 present) {
    const auto upper = static_cast<__mmask8>(present >> 8);
    const __m256 first = _mm512_cvtpd_ps(_mm512_maskz_loadu_pd(static_cast<__mmask8>(present), values));
    if (upper == 0) return _mm512_castps256_ps512(first);
    const __m256 last = _mm512_cvtpd_ps(_mm512_maskz_loadu_pd(upper, values + 8));
    return _mm512_insertf32x8(_mm512_castps256_ps512(first), last, 1);
}

// Transposes squares of four numbers within and then between the quarters of registers.
inline void transpose(__m512* rows) {
    __m512d pairs[kChunk], quarters[kChunk];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kChunk; i += 2) {
        pairs[i] = _mm512_castps_pd(_mm512_unpacklo_ps(rows[i], rows[i + 1]));
        pairs[i + 1] = _mm512_castps_pd(_mm512_unpackhi_ps(rows[i], rows[i + 1]));
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kChunk; i += 4) {
        quarters[i] = _mm512_unpacklo_pd(pairs[i], pairs[i + 2]);
        quarters[i + 1] = _mm512_unpackhi_pd(pairs[i], pairs[i + 2]);
        quarters[i + 2] = _mm512_unpacklo_pd(pairs[i + 1], pairs[i + 3]);
        quarters[i + 3] = _mm512_unpackhi_pd(pairs[i + 1], pairs[i + 3]);
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 4; ++i) {
        const __m512d even_front = _mm512_shuffle_f64x2(quarters[i], quarters[i + 4], 0x88),
                      odd_front = _mm512_shuffle_f64x2(quarters[i], quarters[i + 4], 0xdd),
                      even_back = _mm512_shuffle_f64x2(quarters[i + 8], quarters[i + 12], 0x88),
                      odd_back = _mm512_shuffle_f64x2(quarters[i + 8], quarters[i + 12], 0xdd);
        rows[i] = _mm512_castpd_ps(_mm512_shuffle_f64x2(even_front, even_back, 0x88));
        rows[i + 4] = _mm512_castpd_ps(_mm512_shuffle_f64x2(odd_front, odd_back, 0x88));
        rows[i + 8] = _mm512_castpd_ps(_mm512_shuffle_f64x2(even_front, even_back, 0xdd));
        rows[i + 12] = _mm512_castpd_ps(_mm512_shuffle_f64x2(odd_front, odd_back, 0xdd));
    }
}

// At most sixteen adjacent values of n rows. If more rows follow, the next n are fetched into the cache.
template <class T>
inline void copy_strip(const T* values, std::ptrdiff_t row_stride, std::size_t n, std::size_t n_features,
                       bool more_rows, float* copies) {
    const auto present = static_cast<__mmask16>((1u << n_features) - 1);
    for (std::size_t first = 0; first < n; first += kChunk) {
        __m512 rows[kChunk] = {};
#pragma GCC unroll 16
        for (std::size_t row = 0; row < kChunk; ++row) {
            if (first + row >= n) break;
            if (more_rows) prefetch(values, static_cast<std::ptrdiff_t>(n) * row_stride, kChunk);
            rows[row] = masked_floats(values, present);
            values += row_stride;
        }
        transpose(rows);
#pragma GCC unroll 16
        for (std::size_t feature = 0; feature < kChunk; ++feature)
            _mm512_store_ps(copies + feature * kStride + first, rows[feature]);
    }
}

// A block that is whole comes from memory, which is read fastest in long runs of a row.
template <class T>
void copy_rows(const T* values, std::ptrdiff_t row_stride, std::size_t n, std::size_t n_features,
               BlockValues* copies) {
    const std::size_t step = n == kBlock && n_features > kChunk ? kChunk : n;
    for (std::size_t first = 0; first < n; first += step)
        for (std::size_t feature = 0; feature < n_features; feature += kChunk)
            copy_strip(values + static_cast<std::ptrdiff_t>(first) * row_stride + feature, row_stride, step,
                       n_features - feature < kChunk ? n_features - feature : kChunk, n == kBlock,
                       copies[feature].documents + first);
}
#else
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
    _mm_store_ps(copies + kStride, second);
    _mm_store_ps(copies + 2 * kStride, third);
    _mm_store_ps(copies + 3 * kStride, fourth);
}
#else
constexpr std::size_t kSquare = 1;

template <class T>
inline void transpose_square(const T* values, std::ptrdiff_t, float* copies) {
    *copies = static_cast<float>(*values);
}
#endif

template <class T>
void copy_rows(const T* values, std::ptrdiff_t row_stride, std::size_t n, std::size_t n_features,
               BlockValues* copies) {
    const std::size_t n_squared = n / kSquare * kSquare, n_features_squared = n_features / kSquare * kSquare;
    for (std::size_t document = 0; document < n; ++document, values += row_stride) {
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

#endif

template <class T>
void copy_columns(const T* values, std::ptrdiff_t row_stride, std::ptrdiff_t feature_stride, std::size_t n,
                  std::size_t n_features, BlockValues* copies) {
    for (std::size_t feature = 0; feature < n_features; ++feature, values += feature_stride) {
        float* const documents = copies[feature].documents;
        if (row_stride == 1) {
            for (std::size_t document = 0; document < n; ++document)
                documents[document] = static_cast<float>(values[document]);
        } else {
            for (std::size_t document = 0; document < n; ++document)
                documents[document] =
                    static_cast<float>(values[static_cast<std::ptrdiff_t>(document) * row_stride]);
        }
    }
}

bool any_infinite(const BlockValues* copies, std::size_t n, std::size_t n_features) {
    std::uint32_t any = 0;
    for (std::size_t feature = 0; feature < n_features; ++feature)
        for (std::size_t document = 0; document < n; ++document)
            any |= __builtin_fabsf(copies[feature].documents[document]) == kInfinity;
    return any;
}

template <class T>
bool copy(const T* values, std::ptrdiff_t row_stride, std::ptrdiff_t feature_stride, std::size_t n,
          std::size_t n_features, BlockValues* copies) {
    if (feature_stride == 1 && row_stride != 1)
        copy_rows(values, row_stride, n, n_features, copies);
    else
        copy_columns(values, row_stride, feature_stride, n, n_features, copies);
    return sizeof(T) > sizeof(float) && any_infinite(copies, n, n_features);
}

#if defined(__AVX2__)
// Several documents search at once. The path of a document has one bit per level, the lowest for the root, which
// is 1 if it went right; it is its place in the table of the next level. Registers are looked up by the lowest
// bits of the path, and the comparisons that made the other bits choose among the results.
#if defined(__AVX512BW__)
using Floats = __m512;
using Below = __mmask16;
using Integers = __m512i;
constexpr int kLevelsLookedUp = 5;

inline Floats limited(Floats value, float highest) {
    value = _mm512_min_ps(_mm512_set1_ps(highest), value);   // NaN stays
    return _mm512_min_ps(value, _mm512_set1_ps(kInfinity));  // NaN becomes infinity
}
inline Floats all(float threshold) { return _mm512_set1_ps(threshold); }
inline Integers all(int number) { return _mm512_set1_epi32(number); }
inline Below is_below(Floats threshold, Floats value) { return _mm512_cmp_ps_mask(threshold, value, _CMP_LT_OQ); }
inline Floats choose(Below below, Floats left, Floats right) { return _mm512_mask_mov_ps(left, below, right); }
inline Integers with_bit(Integers bits, Below below, int bit) {
    return _mm512_mask_add_epi32(bits, below, bits, _mm512_set1_epi32(1 << bit));
}
// The threshold at a path, of at most 32.
template <int level>
inline Floats look_up(const float* table, Integers path) {
    if constexpr (level < kLevelsLookedUp)
        return _mm512_permutexvar_ps(path, _mm512_loadu_ps(table));
    else
        return _mm512_permutex2var_ps(_mm512_load_ps(table), path, _mm512_load_ps(table + 16));
}
inline Integers as_bytes(const Integers* codes) {
    const Integers first = _mm512_packs_epi32(codes[0], codes[1]), last = _mm512_packs_epi32(codes[2], codes[3]);
    const Integers order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, _mm512_packs_epi16(first, last));
}
#else
using Floats = __m256;
using Below = __m256;  // a bit is set in all its bits
using Integers = __m256i;
constexpr int kLevelsLookedUp = 3;

inline Floats limited(Floats value, float highest) {
    value = _mm256_min_ps(_mm256_set1_ps(highest), value);   // NaN stays
    return _mm256_min_ps(value, _mm256_set1_ps(kInfinity));  // NaN becomes infinity
}
inline Floats all(float threshold) { return _mm256_set1_ps(threshold); }
inline Integers all(int number) { return _mm256_set1_epi32(number); }
inline Below is_below(Floats threshold, Floats value) { return _mm256_cmp_ps(threshold, value, _CMP_LT_OQ); }
inline Floats choose(Below below, Floats left, Floats right) { return _mm256_blendv_ps(left, right, below); }
inline Integers with_bit(Integers bits, Below below, int bit) {
    return _mm256_add_epi32(bits, _mm256_and_si256(_mm256_castps_si256(below), _mm256_set1_epi32(1 << bit)));
}
template <int level>
inline Floats look_up(const float* table, Integers path) {
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), path);
}
inline Integers as_bytes(const Integers* codes) {
    const Integers first = _mm256_packs_epi32(codes[0], codes[1]), last = _mm256_packs_epi32(codes[2], codes[3]);
    const Integers order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(first, last), order);
}
#endif
constexpr std::size_t kLanesTogether = sizeof(Floats) / sizeof(float);

// The threshold at the path through the levels above, whose comparisons are given.
template <int level>
inline Floats threshold_at(const float* table, Integers path, const Below* below) {
    if constexpr (level <= kLevelsLookedUp)
        return look_up<level>(table, path);
    else
        return choose(below[level - 1], threshold_at<level - 1>(table, path, below),
                      threshold_at<level - 1>(table + (1 << (level - 1)), path, below));
}

template <int depth, int level = 0>
inline Integers search(const float* table, Floats value, Integers path, Integers code, Below* below) {
    if constexpr (level == depth) {
        return code;
    } else {
        if constexpr (level == 0)
            below[level] = is_below(all(table[1]), value);
        else
            below[level] = is_below(threshold_at<level>(table + (1 << level), path, below), value);
        if constexpr (level < kLevelsLookedUp) path = with_bit(path, below[level], level);
        code = with_bit(code, below[level], depth - 1 - level);
        return search<depth, level + 1>(table, value, path, code, below);
    }
}

template <int depth, bool missing_right>
void encode_by(const Column& column, const float* values, std::size_t n, BlockBytes& codes) {
    const float* const table = column.search;
    const float highest = column.highest;
    for (std::size_t first = 0; first < n; first += sizeof(Integers)) {
        Integers found[sizeof(float)] = {};
#pragma GCC unroll 4
        for (std::size_t part = 0; part < sizeof(float); ++part) {
            const std::size_t document = first + part * kLanesTogether;
            if (document >= n) break;
            Floats value;
            __builtin_memcpy(&value, values + document, sizeof value);
            if (missing_right) value = limited(value, highest);
            Below below[depth];
            found[part] = search<depth>(table, value, all(0), all(-128), below);
        }
        *reinterpret_cast<Integers*>(codes.documents + first) = as_bytes(found);
    }
}

template <bool right>
constexpr EncodeKernel kEncodeBy[] = {encode_by<1, right>, encode_by<2, right>, encode_by<3, right>,
                                      encode_by<4, right>, encode_by<5, right>, encode_by<6, right>,
                                      encode_by<7, right>, encode_by<8, right>};

void encode(const Column& column, const float* values, std::size_t n, BlockBytes& codes) {
    const auto* const by_depth = column.missing_right ? kEncodeBy<true> : kEncodeBy<false>;
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
void encode_as(const Column& column, const float* values, std::size_t n, BlockBytes& codes) {
    for (std::size_t document = 0; document < n; ++document) {
        const float value = values[document];
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

void encode(const Column& column, const float* values, std::size_t n, BlockBytes& codes) {
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
