// Scores documents with an ensemble of trees.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "queries/ranking.hpp"
#include "scoring/flat_trees.hpp"
#include "scoring/set_columns.hpp"
#include "simd/tree_kernels.hpp"

namespace rankwright {

// A matrix of any layout; strides count values.
template <class T>
struct DenseRows {
    const T* data;
    std::size_t n_rows, n_features;
    std::ptrdiff_t row_stride, feature_stride;
};

// A matrix in compressed sparse rows, with each feature at most once per row; values that are not stored are zero.
template <class T, class Index>
struct SparseRows {
    std::span<const Index> offsets;
    std::span<const Index> features;
    std::span<const T> values;
};

// An ensemble prepared for scoring: its thresholds as sorted columns, its splits as ranks in them.
class TreeScorer {
  public:
    // Requires trees as described in models/trees.py; thresholds may be infinite.
    explicit TreeScorer(const FlatTrees& trees);
    TreeScorer(const TreeScorer&) = delete;

    // Values are rounded to 32 bits; infinite ones are compared like others. Leaf values are added in the order of
    // the trees. Returns false, and no scores, if a finite value is too large for 32 bits. The scores depend
    // neither on n_threads nor on the SIMD path.
    template <class Matrix>
    bool score(const Matrix& matrix, int n_threads, SimdPath path, std::span<double> scores) const;

  private:
    void code_splits(const FlatTrees& trees);
    void close_column(std::vector<float>& thresholds);
    void set_column_pointers();
    void lay_out_trees(const FlatTrees& trees);
    std::size_t n_columns() const { return columns_.size() + sets_.size(); }
    template <class Matrix>
    bool score_rows(const Matrix& matrix, std::size_t first, SimdPath path, std::span<double> scores) const;
    template <class T>
    bool encode_block(const DenseRows<T>& matrix, std::size_t first, std::size_t n, const ValueKernels& kernels,
                      NextValues& next, BlockValues* copies, BlockBytes* codes) const;
    template <class T, class Index>
    bool encode_block(const SparseRows<T, Index>& matrix, std::size_t first, std::size_t n,
                      const ValueKernels& kernels, NextValues& next, BlockValues* copies, BlockBytes* codes) const;

    std::vector<Chunk> chunks_;
    std::vector<Column> columns_;
    std::vector<std::int32_t> features_;     // the feature of each column, ascending
    std::vector<std::int32_t> tested_;       // the same features, each once
    SetColumns sets_;                        // further columns
    std::vector<std::int8_t> code_of_zero_;  // one per column
    std::vector<CodedSplit> splits_;
    std::vector<LeafValues> leaves_;
    std::vector<CodedTree> trees_;
};

}  // namespace rankwright
