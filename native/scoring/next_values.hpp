// The values of the next block of documents, which are fetched into the cache while the block before is scored.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "scoring/tree_scorer.hpp"

namespace rankwright {

constexpr std::size_t kMostFetched = 1 << 19;  // bytes, which must fit the second-level cache

// Whether values are read even if no tree tests them, since they may be too large.
template <class T>
constexpr bool kReadsAll = sizeof(T) > sizeof(float);

// The values of the block that begins at this row; `tested` are the features that trees test. Nothing if most of
// a row is not read.
template <class T>
NextValues next_values(const DenseRows<T>& matrix, std::size_t first, std::span<const std::int32_t> tested) {
    const std::size_t n_rows = std::min(kBlock, matrix.n_rows - first);
    if (n_rows == 0 || tested.empty()) return {};
    const std::size_t begin = kReadsAll<T> ? 0 : static_cast<std::size_t>(tested.front());
    const std::size_t end = kReadsAll<T> ? matrix.n_features : static_cast<std::size_t>(tested.back()) + 1;
    const T* values = matrix.data + static_cast<std::ptrdiff_t>(first) * matrix.row_stride;
    NextValues next;
    if (matrix.feature_stride == 1) {
        if (!kReadsAll<T> && end - begin > kChunk * tested.size()) return {};
        values += begin;
        next.stride = static_cast<std::size_t>(matrix.row_stride) * sizeof(T);
        next.n_bytes = (end - begin) * sizeof(T);
        next.n_runs = n_rows;
    } else if (matrix.row_stride == 1) {
        next.stride = static_cast<std::size_t>(matrix.feature_stride) * sizeof(T);
        next.n_bytes = n_rows * sizeof(T);
        next.numbers = kReadsAll<T> ? nullptr : tested.data();
        next.n_runs = kReadsAll<T> ? end : tested.size();
    } else {
        return {};
    }
    next.first = reinterpret_cast<std::uintptr_t>(values);
    next.n_runs = std::min(next.n_runs, kMostFetched / next.n_bytes);
    return next;
}

template <class T, class Index>
NextValues next_values(const SparseRows<T, Index>&, std::size_t, std::span<const std::int32_t>) {
    return {};
}

}  // namespace rankwright
