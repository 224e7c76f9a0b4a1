// The documents whose vectors have the highest dot products with those of queries, by scoring all of them.
//
// A vector is a row of 8-bit integers and a scale; a query's is a row of 16-bit integers. The score of a document
// is its scale times the sum of products of integers, rounded to 32 bits: the same on all processors.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "simd/kernels.hpp"
#include "text/best.hpp"

namespace rankwright {

// The vectors of a segment.
struct SegmentVectors {
    const std::int8_t* rows;  // n_rows * n_components
    std::size_t n_rows;
    std::span<const float> scales;
    std::span<const std::uint64_t> removed;  // one bit per row; empty: none is removed
};

// The vectors of queries; no product with a document exceeds 32 bits.
struct QueryVectors {
    const std::int16_t* rows;  // n_queries * n_components
    std::size_t n_queries, n_components;
};

// The n best documents of each query, best first, equal scores by number. Besides the result, it needs memory for
// 256 documents and n documents per query, on each thread. The result does not depend on threads and path.
std::vector<std::vector<ScoredDocument>> nearest_vectors(std::span<const SegmentVectors> segments,
                                                         const QueryVectors& queries, std::size_t n, int n_threads,
                                                         SimdPath path);

// The score of a document, by its number in all segments; exactly that of nearest_vectors.
double vector_score(std::span<const SegmentVectors> segments, const QueryVectors& queries, std::size_t query,
                    std::int64_t document, SimdPath path);

}  // namespace rankwright
