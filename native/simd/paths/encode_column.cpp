#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "simd/kernels.hpp"

// A binary search of eight steps, for many values at once. The code of a value is the number of edges below it; a
// missing value is above none of them, and gets its code at the end.
namespace rankwright::RANKWRIGHT_SIMD_PATH {

#if defined(__AVX512F__)

// The first five steps need only every eighth edge: these 32 edges stay in two registers.
void encode_column(const float* values, const float* edges, std::uint8_t* codes) {
    alignas(64) float pivots[32];
    for (int i = 0; i < 32; ++i) pivots[i] = edges[8 * i + 7];
    const __m512 low = _mm512_load_ps(pivots), high = _mm512_load_ps(pivots + 16);
    for (std::int64_t i = 0; i < kEncodeRows; i += 16) {
        const __m512 value = _mm512_loadu_ps(values + i);
        __m512i below = _mm512_setzero_si512();
        for (int step = 16; step > 0; step /= 2) {
            const __m512i probe = _mm512_add_epi32(below, _mm512_set1_epi32(step - 1));
            const __mmask16 above =
                _mm512_cmp_ps_mask(_mm512_permutex2var_ps(low, probe, high), value, _CMP_LT_OQ);
            below = _mm512_mask_add_epi32(below, above, below, _mm512_set1_epi32(step));
        }
        below = _mm512_slli_epi32(below, 3);
        for (int step = 4; step > 0; step /= 2) {
            const __m512i probe = _mm512_add_epi32(below, _mm512_set1_epi32(step - 1));
            const __mmask16 above = _mm512_cmp_ps_mask(_mm512_i32gather_ps(probe, edges, 4), value, _CMP_LT_OQ);
            below = _mm512_mask_add_epi32(below, above, below, _mm512_set1_epi32(step));
        }
        const __mmask16 missing = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
        below = _mm512_mask_mov_epi32(below, missing, _mm512_set1_epi32(255));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(codes + i), _mm512_cvtepi32_epi8(below));
    }
}

#elif defined(__AVX2__)

void encode_column(const float* values, const float* edges, std::uint8_t* codes) {
    for (std::int64_t i = 0; i < kEncodeRows; i += 8) {
        const __m256 value = _mm256_loadu_ps(values + i);
        __m256i below = _mm256_setzero_si256();
        for (int step = 128; step > 0; step /= 2) {
            const __m256i probe = _mm256_add_epi32(below, _mm256_set1_epi32(step - 1));
            const __m256 above = _mm256_cmp_ps(_mm256_i32gather_ps(edges, probe, 4), value, _CMP_LT_OQ);
            below = _mm256_add_epi32(below, _mm256_and_si256(_mm256_castps_si256(above), _mm256_set1_epi32(step)));
        }
        const __m256 missing = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
        below = _mm256_blendv_epi8(below, _mm256_set1_epi32(255), _mm256_castps_si256(missing));
        alignas(32) std::int32_t lanes[8];
        _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), below);
        for (int lane = 0; lane < 8; ++lane) codes[i + lane] = static_cast<std::uint8_t>(lanes[lane]);
    }
}

#else

void encode_column(const float* values, const float* edges, std::uint8_t* codes) {
    for (std::int64_t i = 0; i < kEncodeRows; ++i) {
        std::int32_t below = 0;
        for (std::int32_t step = 128; step > 0; step /= 2) below += edges[below + step - 1] < values[i] ? step : 0;
        codes[i] = static_cast<std::uint8_t>(values[i] == values[i] ? below : 255);
    }
}

#endif

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
