// Dot products of vectors of integers, compiled once per SIMD path; see simd/kernels.hpp. Sums of integers do not
// depend on their order, so all paths give the same numbers.
//
// Documents are packed in groups: pair p of a group holds the components 2p and 2p + 1 of each of its documents,
// one document after another. So a register holds sums of different documents, and nothing is added across its
// lanes.
#pragma once
#include <cstddef>
#include <cstdint>

#include "simd/kernels.hpp"

namespace rankwright {

constexpr std::size_t kGroupDocuments = 32;

// packed: n_groups groups of n_pairs pairs of kGroupDocuments documents. queries: n_queries rows of n_pairs pairs.
// sums[q * n_groups * kGroupDocuments + d] = the product of query q and document d, which must fit 32 bits.
using PackedProducts = void (*)(const std::int16_t* packed, std::size_t n_groups, const std::int16_t* queries,
                                std::size_t n_queries, std::size_t n_pairs, std::int32_t* sums);

// The product of one document and one query, of n components.
using VectorProduct = std::int32_t (*)(const std::int8_t* document, const std::int16_t* query, std::size_t n);

struct VectorKernels {
    PackedProducts packed_products;
    VectorProduct product;
};

namespace portable {
extern const VectorKernels vector_kernels;
}
#if defined(__x86_64__)
namespace avx2 {
extern const VectorKernels vector_kernels;
}
namespace avx512 {
extern const VectorKernels vector_kernels;
}
#endif

const VectorKernels& vector_kernels(SimdPath path);

}  // namespace rankwright
