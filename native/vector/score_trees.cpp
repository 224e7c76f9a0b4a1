#include "rankwright/tree_kernels.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace rankwright::RANKWRIGHT_VECTOR_PATH {
namespace {

#if defined(__AVX512BW__)
constexpr std::size_t kWidth = 64;
#elif defined(__AVX2__)
constexpr std::size_t kWidth = 32;
#else
constexpr std::size_t kWidth = 16;
#endif
using SignedBytes = std::int8_t __attribute__((vector_size(kWidth), may_alias));
using Bytes = std::uint8_t __attribute__((vector_size(kWidth), may_alias));
using Words = std::uint32_t __attribute__((vector_size(kWidth), may_alias));

// How many of 16 numbers lie below x.
#if defined(__AVX512BW__)
inline unsigned count_below(const Chunk& numbers, float x) {
    const __mmask16 below = _mm512_cmp_ps_mask(_mm512_load_ps(numbers.thresholds), _mm512_set1_ps(x), _CMP_LT_OQ);
    unsigned bits = _cvtmask16_u32(below);
    asm("" : "+r"(bits));  // or the compiler counts in 16 bits, with an instruction more
    return static_cast<unsigned>(__builtin_popcount(bits));
}
#elif defined(__AVX2__)
inline unsigned count_below(const Chunk& numbers, float x) {
    const __m256 value = _mm256_set1_ps(x);
    const int low = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(numbers.thresholds), value, _CMP_LT_OQ));
    const int high = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(numbers.thresholds + 8), value, _CMP_LT_OQ));
    return static_cast<unsigned>(__builtin_popcount(static_cast<unsigned>(low | high << 8)));
}
#else
inline unsigned count_below(const Chunk& numbers, float x) {
    using Floats = float __attribute__((vector_size(16), may_alias));
    const auto* four = reinterpret_cast<const Floats*>(numbers.thresholds);
    const auto below = (four[0] < x) + (four[1] < x) + (four[2] < x) + (four[3] < x);  // -1 where it holds
    return static_cast<unsigned>(-(below[0] + below[1] + below[2] + below[3]));
}
#endif

template <bool several_chunks, bool has_missing, class T>
void encode_as(const Column& column, const T* values, std::ptrdiff_t stride, std::size_t n, std::int8_t* codes) {
    const Chunk ends = column.ends, *const chunks = column.chunks;
    const float missing = column.missing;
#pragma GCC unroll 4
    for (std::size_t document = 0; document < n; ++document, values += stride) {
        const float value = static_cast<float>(*values);
        const float x = has_missing && value != value ? missing : value;
        const unsigned chunk = several_chunks ? count_below(ends, x) : 0;
        codes[document] = static_cast<std::int8_t>(chunk * kChunk + count_below(chunks[chunk], x) - 128);
    }
}

template <class T>
void encode(const Column& column, const T* values, std::ptrdiff_t stride, std::size_t n, bool has_missing,
            std::int8_t* codes) {
    const bool several = column.n_chunks > 1;
    const auto encode_it = several       ? has_missing ? encode_as<true, true, T> : encode_as<true, false, T>
                           : has_missing ? encode_as<false, true, T>
                                         : encode_as<false, false, T>;
    encode_it(column, values, stride, n, codes);
}

inline std::uint32_t magnitude_bits(float x) { return __builtin_bit_cast(std::uint32_t, x) & 0x7fffffffu; }
constexpr std::uint32_t kInfinityBits = 0x7f800000u;

// No way out of the loop, so that it vectorises.
template <class T>
Specials inspect_adjacent(const T* values, std::size_t n) {
    std::uint32_t missing = 0, infinite = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t bits = magnitude_bits(static_cast<float>(values[i]));
        missing |= bits > kInfinityBits;
        infinite |= bits == kInfinityBits;
    }
    return {missing != 0, infinite != 0};
}

template <class T>
Specials inspect(const T* values, std::ptrdiff_t stride, std::size_t n) {
    if (stride == 1) return inspect_adjacent(values, n);
    Specials found{};
    for (std::size_t i = 0; i < n; ++i) {
        const Specials one = inspect_adjacent(values + static_cast<std::ptrdiff_t>(i) * stride, 1);
        found = {found.missing || one.missing, found.infinite || one.infinite};
    }
    return found;
}

// The leaf of every document, without a branch. A document stands at the first leaf of the subtree that it has come
// to. A split on whose right side it belongs leads it past the leaves of the left side: who stands at the split's
// first leaf moves; who stands beyond has passed them already; and who stands before it counts, in bytes that wrap,
// as far beyond. So the larger of two bytes is all that is needed.
template <std::size_t n_documents>
inline void find_leaves(const CodedTree& tree, const BlockBytes* codes, BlockBytes& leaf) {
    constexpr std::size_t n_parts = n_documents / kWidth;
    Bytes place[n_parts] = {};
    for (const CodedSplit* split = tree.splits; split != tree.splits + tree.n_splits; ++split) {
        const auto* const code = reinterpret_cast<const SignedBytes*>(codes->documents + split->codes);
        const SignedBytes rank = (SignedBytes)(split->rank - Words{});
        const Bytes skipped = (Bytes)(split->leap.skipped - Words{}), step = (Bytes)(split->leap.step - Words{});
#pragma GCC unroll 8
        for (std::size_t part = 0; part < n_parts; ++part) {
#if defined(__AVX512BW__)
            const Bytes passed = place[part] > skipped ? place[part] : skipped;
            place[part] = (code[part] > rank ? passed : place[part]) + step;
#else
            const Bytes s = (Bytes)(code[part] > rank) & skipped;
            place[part] = (place[part] > s ? place[part] : s) + step;
#endif
        }
    }
    __builtin_memcpy(leaf.documents, place, sizeof place);
}

template <std::size_t n_documents>
inline void add_leaves_one_by_one(const CodedTree& tree, const BlockBytes& leaf, BlockScores& scores) {
    const double* const values = tree.leaves->values;
    for (std::size_t document = 0; document < n_documents; ++document)
        scores.documents[document] += values[static_cast<std::uint8_t>(leaf.documents[document])];
}

#if defined(__AVX512BW__)
// Up to 32 leaves stay in four registers, the lower halves of their values and the upper ones, and are looked up there.
template <std::size_t n_documents>
inline void add_leaves(const CodedTree& tree, const BlockBytes& leaf, BlockScores& scores) {
    if (tree.n_splits >= 32) return add_leaves_one_by_one<n_documents>(tree, leaf, scores);
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    const __m512i front = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i back = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    const auto* const values = reinterpret_cast<const __m512i*>(tree.leaves->values);
    const __m512i lower[2] = {_mm512_permutex2var_epi32(values[0], even, values[1]),
                              _mm512_permutex2var_epi32(values[2], even, values[3])};
    const __m512i upper[2] = {_mm512_permutex2var_epi32(values[0], odd, values[1]),
                              _mm512_permutex2var_epi32(values[2], odd, values[3])};
    for (std::size_t document = 0; document < n_documents; document += 16) {
        const __m512i place =
            _mm512_cvtepu8_epi32(*reinterpret_cast<const __m128i*>(leaf.documents + document));
        const __m512i low = _mm512_permutex2var_epi32(lower[0], place, lower[1]);
        const __m512i high = _mm512_permutex2var_epi32(upper[0], place, upper[1]);
        auto* const sums = reinterpret_cast<__m512d*>(scores.documents + document);
        sums[0] += (__m512d)_mm512_permutex2var_epi32(low, front, high);
        sums[1] += (__m512d)_mm512_permutex2var_epi32(low, back, high);
    }
}
#else
template <std::size_t n_documents>
inline void add_leaves(const CodedTree& tree, const BlockBytes& leaf, BlockScores& scores) {
    add_leaves_one_by_one<n_documents>(tree, leaf, scores);
}
#endif

// A tree too large for bytes: each document goes its own way down.
template <std::size_t n_documents>
void walk(const CodedTree& tree, const BlockBytes* codes, BlockScores& scores) {
    const std::int8_t* const first_code = codes->documents;
    const double* const values = tree.leaves->values;
    for (std::size_t document = 0; document < n_documents; ++document) {
        std::int32_t node = 0;
        while (node >= 0) {
            const CodedSplit& split = tree.splits[node];
            const bool right = first_code[split.codes + document] > static_cast<std::int8_t>(split.rank);
            node = right ? split.child.right : split.child.left;
        }
        scores.documents[document] += values[-1 - node];
    }
}

template <std::size_t n_documents>
void add_trees_to(const CodedTree* trees, std::size_t n_trees, const BlockBytes* codes, BlockScores& scores) {
    BlockBytes leaf;
    for (const CodedTree* tree = trees; tree != trees + n_trees; ++tree) {
        if (tree->n_splits < kSmallTree) {
            find_leaves<n_documents>(*tree, codes, leaf);
            asm("" : "+m"(leaf));  // or the compiler takes the leaves out of registers, with more instructions
            add_leaves<n_documents>(*tree, leaf, scores);
        } else {
            walk<n_documents>(*tree, codes, scores);
        }
    }
}

void add_trees(const CodedTree* trees, std::size_t n_trees, const BlockBytes* codes, bool first_half,
               BlockScores& scores) {
    const auto add = first_half ? add_trees_to<kHalfBlock> : add_trees_to<kBlock>;
    add(trees, n_trees, codes, scores);
}

}  // namespace

const TreeKernels tree_kernels = {inspect<float>, inspect<double>, encode<float>, encode<double>, add_trees};

}  // namespace rankwright::RANKWRIGHT_VECTOR_PATH
