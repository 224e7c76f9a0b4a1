#include "simd/tree_kernels.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "simd/paths/width.hpp"

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

// Number of bytes of a register, and of documents that are processed together: they fill at most half of the
// registers.
constexpr std::size_t kWidth = kRegisterBytes;
constexpr std::size_t kTogether = kWidth >= 32 ? 256 : 128;
using SignedBytes = std::int8_t __attribute__((vector_size(kWidth), may_alias));
using Bytes = std::uint8_t __attribute__((vector_size(kWidth), may_alias));
using Words = std::uint32_t __attribute__((vector_size(kWidth), may_alias));

#if defined(__AVX512BW__)
// Looks up sixteen indices in a table of n, by their lowest bits.
template <int n>
inline __m512 look_up(const __m512* table, __m512i index) {
    if constexpr (n == 32) {
        return _mm512_permutex2var_ps(table[0], index, table[1]);
    } else {
        const __mmask16 upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(n / 2));
        return _mm512_mask_mov_ps(look_up<n / 2>(table, index), upper, look_up<n / 2>(table + n / 32, index));
    }
}

#endif

// The position of a document is the first leaf of the subtree that it has reached, relative to the first leaf of
// the current split. If it goes right at this split, it skips the leaves of the left side. The position of a
// document that has not reached this split is after these leaves, or before the first leaf of the split: then its
// byte has wrapped around and is even larger. So the maximum of two bytes is correct in all cases, without a test.
#if defined(__AVX512BW__)
inline Bytes pass(Bytes position, SignedBytes goes_right, Bytes left_leaves) {
    const Bytes passed = position > left_leaves ? position : left_leaves;
    return goes_right ? passed : position;
}
#else
inline Bytes pass(Bytes position, SignedBytes goes_right, Bytes left_leaves) {
    const Bytes passed = (Bytes)goes_right & left_leaves;
    return position > passed ? position : passed;
}
#endif

// The leaf of every document, without conditional jumps.
template <std::size_t n_documents>
inline void find_leaves(const CodedTree& tree, const std::int8_t* codes, std::uint8_t* leaf) {
    constexpr std::size_t n_parts = n_documents / kWidth;
    Bytes position[n_parts] = {};
    for (const CodedSplit* split = tree.splits; split != tree.splits + tree.n_splits; ++split) {
        const auto* const code = reinterpret_cast<const SignedBytes*>(codes + kCodesStep * split->codes);
        const SignedBytes rank = (SignedBytes)(split->rank - Words{});
        const Bytes left_leaves = (Bytes)(split->offset.left_leaves - Words{});
        const Bytes rebase = (Bytes)(split->offset.rebase - Words{});
#pragma GCC unroll 8
        for (std::size_t part = 0; part < n_parts; ++part)
            position[part] = pass(position[part], code[part] > rank, left_leaves) + rebase;
    }
    __builtin_memcpy(leaf, position, n_documents);
    asm(""
        :
        : "r"(leaf)
        : "memory");  // otherwise the compiler extracts the leaves from registers, which is slower
}

// Sets the bit of a test if the document goes right.
#if defined(__AVX512BW__)
inline Bytes with_bit(Bytes position, SignedBytes goes_right, Bytes bit) {
    return goes_right ? position + bit : position;
}
#else
inline Bytes with_bit(Bytes position, SignedBytes goes_right, Bytes bit) {
    return position | ((Bytes)goes_right & bit);
}
#endif

// The number that at most eight tests give to every document.
template <std::size_t n_documents>
inline void find_by_tests(const CodedSplit* first, const CodedSplit* last, const std::int8_t* codes,
                          std::uint8_t* leaf) {
    constexpr std::size_t n_parts = n_documents / kWidth;
    Bytes position[n_parts] = {};
    Bytes bit = (Bytes{} + 1) << (last - first - 1);
    for (const CodedSplit* test = first; test != last; ++test, bit >>= 1) {
        const auto* const code = reinterpret_cast<const SignedBytes*>(codes + kCodesStep * test->codes);
        const SignedBytes rank = (SignedBytes)(test->rank - Words{});
#pragma GCC unroll 8
        for (std::size_t part = 0; part < n_parts; ++part)
            position[part] = with_bit(position[part], code[part] > rank, bit);
    }
    __builtin_memcpy(leaf, position, n_documents);
    asm("" : : "r"(leaf) : "memory");  // as in find_leaves
}

// Several trees share the reading and writing of scores.
constexpr std::size_t kTreesTogether = 4;

template <std::size_t n_documents>
inline void add_leaves_one_by_one(const double* values, const std::uint8_t* leaf, double* scores) {
    for (std::size_t document = 0; document < n_documents; ++document) scores[document] += values[leaf[document]];
}

// Four trees in order for each document: a score is read and written once for all of them.
template <std::size_t n_documents>
inline void add_leaves_of_four(const CodedTree* const* trees, const std::uint8_t (*leaf)[n_documents],
                               double* scores) {
    const double *const first = trees[0]->leaves->values, *const second = trees[1]->leaves->values,
                        *const third = trees[2]->leaves->values, *const fourth = trees[3]->leaves->values;
    for (std::size_t document = 0; document < n_documents; ++document)
        scores[document] = scores[document] + first[leaf[0][document]] + second[leaf[1][document]] +
                           third[leaf[2][document]] + fourth[leaf[3][document]];
}

#if defined(__AVX512BW__)
// Up to n leaf values of each of n_trees trees stay in registers, lower and upper halves separately.
template <int n, std::size_t n_trees, std::size_t n_documents>
inline void add_leaves_in_registers(const CodedTree* const* trees, const std::uint8_t (*leaf)[n_documents],
                                    double* scores) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    const __m512i front = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i back = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    __m512 lower[n_trees][n / 16], upper[n_trees][n / 16];
#pragma GCC unroll 4
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        const auto* const values = reinterpret_cast<const __m512*>(trees[tree]->leaves->values);
#pragma GCC unroll 8
        for (int part = 0; part < n / 16; ++part) {
            lower[tree][part] = _mm512_permutex2var_ps(values[2 * part], even, values[2 * part + 1]);
            upper[tree][part] = _mm512_permutex2var_ps(values[2 * part], odd, values[2 * part + 1]);
        }
    }
    for (std::size_t document = 0; document < n_documents; document += 16) {
        auto* const sums = reinterpret_cast<__m512d*>(scores + document);
        __m512d first = sums[0], last = sums[1];
#pragma GCC unroll 4
        for (std::size_t tree = 0; tree < n_trees; ++tree) {
            const auto* const bytes = reinterpret_cast<const __m128i*>(leaf[tree] + document);
            const __m512i index = _mm512_cvtepu8_epi32(*bytes);
            const __m512 low = look_up<n>(lower[tree], index), high = look_up<n>(upper[tree], index);
            first += (__m512d)_mm512_permutex2var_ps(low, front, high);
            last += (__m512d)_mm512_permutex2var_ps(low, back, high);
        }
        sums[0] = first;
        sums[1] = last;
    }
}

// A tree's values fill whole LeafValues, so a table of 64 or 128 is read only if it has more than half as many.
template <std::size_t n_documents>
inline void add_leaves(const CodedTree* const* trees, const std::uint8_t (*leaf)[n_documents], double* scores) {
    const std::int32_t n_leaves = trees[0]->n_leaves;
    if (n_leaves <= 32)
        add_leaves_in_registers<32, 1>(trees, leaf, scores);
    else if (n_leaves <= 64)
        add_leaves_in_registers<64, 1>(trees, leaf, scores);
    else
        add_leaves_one_by_one<n_documents>(trees[0]->leaves->values, leaf[0], scores);
}

template <std::size_t n_documents>
inline void add_leaves_together(const CodedTree* const* trees, const std::uint8_t (*leaf)[n_documents],
                                double* scores) {
    std::int32_t most = 0, fewest = kSmallTree;
    for (std::size_t tree = 0; tree < 4; ++tree) {
        const std::int32_t n_leaves = trees[tree]->n_leaves;
        most = n_leaves > most ? n_leaves : most;
        fewest = n_leaves < fewest ? n_leaves : fewest;
    }
    if (most <= 32) {
        add_leaves_in_registers<32, 4>(trees, leaf, scores);
    } else if (most <= 64 && fewest > 32) {
        add_leaves_in_registers<64, 2>(trees, leaf, scores);
        add_leaves_in_registers<64, 2>(trees + 2, leaf + 2, scores);
    } else {
        add_leaves_of_four<n_documents>(trees, leaf, scores);
    }
}
#else
template <std::size_t n_documents>
inline void add_leaves(const CodedTree* const* trees, const std::uint8_t (*leaf)[n_documents], double* scores) {
    add_leaves_one_by_one<n_documents>(trees[0]->leaves->values, leaf[0], scores);
}

#if defined(__AVX2__)
// Four trees of at most eight leaves, whose values stay in registers, lower and upper halves separately.
template <std::size_t n_documents>
inline void add_eight_leaves(const CodedTree* const* trees, const std::uint8_t (*leaf)[n_documents],
                             double* scores) {
    __m256 lower[kTreesTogether], upper[kTreesTogether];
#pragma GCC unroll 4
    for (std::size_t tree = 0; tree < kTreesTogether; ++tree) {
        const auto* const values = reinterpret_cast<const __m256*>(trees[tree]->leaves->values);
        lower[tree] = (__m256)_mm256_permute4x64_pd((__m256d)_mm256_shuffle_ps(values[0], values[1], 0x88), 0xd8);
        upper[tree] = (__m256)_mm256_permute4x64_pd((__m256d)_mm256_shuffle_ps(values[0], values[1], 0xdd), 0xd8);
    }
    const __m128i order = _mm_setr_epi8(0, 1, 4, 5, 2, 3, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1);  // of unpacking
    for (std::size_t document = 0; document < n_documents; document += 8) {
        auto* const sums = reinterpret_cast<__m256d*>(scores + document);
        __m256d first = sums[0], last = sums[1];
#pragma GCC unroll 4
        for (std::size_t tree = 0; tree < kTreesTogether; ++tree) {
            const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(leaf[tree] + document));
            const __m256i index = _mm256_cvtepu8_epi32(_mm_shuffle_epi8(bytes, order));
            const __m256 low = _mm256_permutevar8x32_ps(lower[tree], index),
                         high = _mm256_permutevar8x32_ps(upper[tree], index);
            first += (__m256d)_mm256_unpacklo_ps(low, high);
            last += (__m256d)_mm256_unpackhi_ps(low, high);
        }
        sums[0] = first;
        sums[1] = last;
    }
}
#endif

template <std::size_t n_documents>
inline void add_leaves_together(const CodedTree* const* trees, const std::uint8_t (*leaf)[n_documents],
                                double* scores) {
#if defined(__AVX2__)
    bool small = true;
    for (std::size_t tree = 0; tree < kTreesTogether; ++tree) small &= trees[tree]->n_leaves <= 8;
    if (small) return add_eight_leaves<n_documents>(trees, leaf, scores);
#endif
    add_leaves_of_four<n_documents>(trees, leaf, scores);
}
#endif

// A tree that is too large for bytes: the first n documents descend one by one.
void walk(const CodedTree& tree, const std::int8_t* codes, std::size_t n, double* scores) {
    const double* const values = tree.leaves->values;
    for (std::size_t document = 0; document < n; ++document) {
        std::int32_t node = 0;
        while (node >= 0) {
            const CodedSplit& split = tree.splits[node];
            const bool right = codes[kCodesStep * split.codes + document] > static_cast<std::int8_t>(split.rank);
            node = right ? split.child.right : split.child.left;
        }
        scores[document] += values[-1 - node];
    }
}

// A tree of more than eight tests: the first ones give the high byte of the leaf's number.
template <std::size_t n_documents>
void add_deep_tree(const CodedTree& tree, const std::int8_t* codes, double* scores) {
    alignas(64) std::uint8_t high[n_documents], low[n_documents];
    const CodedSplit* const middle = tree.splits + tree.n_splits - 8;
    find_by_tests<n_documents>(tree.splits, middle, codes, high);
    find_by_tests<n_documents>(middle, tree.splits + tree.n_splits, codes, low);
    const double* const values = tree.leaves->values;
    for (std::size_t document = 0; document < n_documents; ++document)
        scores[document] += values[high[document] * 256 + low[document]];
}

template <std::size_t n_documents>
inline bool try_find_leaves(const CodedTree& tree, const std::int8_t* codes, std::uint8_t* leaf) {
    if (tree.n_leaves > kSmallTree) return false;
    if (tree.by_tests)
        find_by_tests<n_documents>(tree.splits, tree.splits + tree.n_splits, codes, leaf);
    else
        find_leaves<n_documents>(tree, codes, leaf);
    return true;
}

template <std::size_t n_documents>
void add_trees_to(const CodedTree* trees, std::size_t n_trees, const std::int8_t* codes, std::size_t n,
                  NextValues& next, double* scores) {
    alignas(64) std::uint8_t leaf[kTreesTogether][n_documents];
    const CodedTree* together[kTreesTogether];
    for (const CodedTree *tree = trees, *const end = trees + n_trees; tree != end;) {
        fetch_share(next, kTreesTogether);
        std::size_t n_together = 0;
        while (n_together < kTreesTogether && tree != end &&
               try_find_leaves<n_documents>(*tree, codes, leaf[n_together]))
            together[n_together++] = tree++;
        if (n_together == kTreesTogether) {
            add_leaves_together<n_documents>(together, leaf, scores);
        } else if (n_together > 0) {
            for (std::size_t i = 0; i < n_together; ++i) add_leaves<n_documents>(together + i, leaf + i, scores);
        } else if (tree->by_tests) {
            add_deep_tree<n_documents>(*tree++, codes, scores);
        } else {
            walk(*tree++, codes, n < n_documents ? n : n_documents, scores);
        }
    }
}

}  // namespace

void add_trees(const CodedTree* trees, std::size_t n_trees, const BlockBytes* codes, std::size_t n,
               NextValues& next, BlockScores& scores) {
    for (std::size_t first = 0; first < n; first += kTogether) {
        const auto add = n - first <= 64    ? add_trees_to<64>
                         : n - first <= 128 ? add_trees_to<128>
                                            : add_trees_to<kTogether>;
        add(trees, n_trees, codes->documents + first, n - first, next, scores.documents + first);
    }
}

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
