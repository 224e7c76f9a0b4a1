#include "simd/vector_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

// The sums of neighbouring documents, one per lane. add: += first * query's first component + second * its second.
#if defined(__AVX512BW__)
constexpr std::size_t kQueriesTogether = 6;
struct Sums {
    static constexpr std::size_t kDocuments = 16;
    using Pairs = __m512i;
    __m512i lanes = _mm512_setzero_si512();
    static Pairs load(const std::int16_t* pairs) { return _mm512_loadu_si512(pairs); }
    static Pairs repeat(std::int32_t pair) { return _mm512_set1_epi32(pair); }
    void add(Pairs a, Pairs b) { lanes = _mm512_add_epi32(lanes, _mm512_madd_epi16(a, b)); }
    void store(std::int32_t* to) const { _mm512_storeu_si512(to, lanes); }
};
#elif defined(__AVX2__)
constexpr std::size_t kQueriesTogether = 2;
struct Sums {
    static constexpr std::size_t kDocuments = 8;
    using Pairs = __m256i;
    __m256i lanes = _mm256_setzero_si256();
    static Pairs load(const std::int16_t* pairs) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pairs));
    }
    static Pairs repeat(std::int32_t pair) { return _mm256_set1_epi32(pair); }
    void add(Pairs a, Pairs b) { lanes = _mm256_add_epi32(lanes, _mm256_madd_epi16(a, b)); }
    void store(std::int32_t* to) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), lanes); }
};
#elif defined(__SSE2__)
constexpr std::size_t kQueriesTogether = 1;
struct Sums {
    static constexpr std::size_t kDocuments = 4;
    using Pairs = __m128i;
    __m128i lanes = _mm_setzero_si128();
    static Pairs load(const std::int16_t* pairs) {
        return _mm_loadu_si128(reinterpret_cast<const __m128i*>(pairs));
    }
    static Pairs repeat(std::int32_t pair) { return _mm_set1_epi32(pair); }
    void add(Pairs a, Pairs b) { lanes = _mm_add_epi32(lanes, _mm_madd_epi16(a, b)); }
    void store(std::int32_t* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), lanes); }
};
#else
constexpr std::size_t kQueriesTogether = 1;
struct Sums {
    static constexpr std::size_t kDocuments = 4;
    struct Pairs {
        std::int16_t values[2 * kDocuments];
    };
    std::int32_t lanes[kDocuments] = {};
    static Pairs load(const std::int16_t* pairs) {
        Pairs loaded;
        __builtin_memcpy(&loaded, pairs, sizeof loaded);
        return loaded;
    }
    static Pairs repeat(std::int32_t pair) {
        Pairs repeated;
        for (std::size_t i = 0; i < kDocuments; ++i) __builtin_memcpy(repeated.values + 2 * i, &pair, sizeof pair);
        return repeated;
    }
    void add(const Pairs& a, const Pairs& b) {
        for (std::size_t i = 0; i < kDocuments; ++i)
            lanes[i] += a.values[2 * i] * b.values[2 * i] + a.values[2 * i + 1] * b.values[2 * i + 1];
    }
    void store(std::int32_t* to) const { __builtin_memcpy(to, lanes, sizeof lanes); }
};
#endif

constexpr std::size_t kRegisters = kGroupDocuments / Sums::kDocuments;  // of a group

// The products of one group and kQueries queries; the sums stay in registers.
template <std::size_t kQueries>
void group_products(const std::int16_t* group, const std::int16_t* queries, std::size_t n_pairs,
                    std::int32_t* sums, std::size_t stride) {
    Sums total[kQueries][kRegisters];
    for (std::size_t pair = 0; pair < n_pairs; ++pair) {
        typename Sums::Pairs documents[kRegisters];
        for (std::size_t r = 0; r < kRegisters; ++r)
            documents[r] = Sums::load(group + 2 * (pair * kGroupDocuments + r * Sums::kDocuments));
        for (std::size_t q = 0; q < kQueries; ++q) {
            std::int32_t components;
            __builtin_memcpy(&components, queries + 2 * (q * n_pairs + pair), sizeof components);
            const typename Sums::Pairs query = Sums::repeat(components);
            for (std::size_t r = 0; r < kRegisters; ++r) total[q][r].add(documents[r], query);
        }
    }
    for (std::size_t q = 0; q < kQueries; ++q)
        for (std::size_t r = 0; r < kRegisters; ++r) total[q][r].store(sums + q * stride + r * Sums::kDocuments);
}

void packed_products(const std::int16_t* packed, std::size_t n_groups, const std::int16_t* queries,
                     std::size_t n_queries, std::size_t n_pairs, std::int32_t* sums) {
    const std::size_t group_size = 2 * n_pairs * kGroupDocuments, stride = n_groups * kGroupDocuments;
    std::size_t query = 0;
    for (; query + kQueriesTogether <= n_queries; query += kQueriesTogether)
        for (std::size_t group = 0; group < n_groups; ++group)
            group_products<kQueriesTogether>(packed + group * group_size, queries + 2 * query * n_pairs, n_pairs,
                                             sums + query * stride + group * kGroupDocuments, stride);
    for (; query < n_queries; ++query)
        for (std::size_t group = 0; group < n_groups; ++group)
            group_products<1>(packed + group * group_size, queries + 2 * query * n_pairs, n_pairs,
                              sums + query * stride + group * kGroupDocuments, stride);
}

std::int32_t product(const std::int8_t* document, const std::int16_t* query, std::size_t n) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += document[i] * query[i];
    return sum;
}

}  // namespace

const VectorKernels vector_kernels = {packed_products, product};

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
