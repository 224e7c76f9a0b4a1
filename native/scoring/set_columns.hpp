// Codes for splits by sets of levels, which make them the same comparison of bytes as splits by a threshold.
//
// A column has at most 255 sets of one feature, each contained in the next. The code of a document is the number
// of sets that its level is not in, so that "in the set of this rank" is `code <= rank`; see
// simd/tree_kernels.hpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scoring/flat_trees.hpp"
#include "simd/tree_kernels.hpp"

namespace rankwright {

// A byte as CodedSplit holds it.
inline std::uint32_t four_times(std::uint32_t byte) { return (byte & 0xff) * 0x01010101u; }

class SetColumns {
  public:
    SetColumns() = default;

    // Fills column and rank of each split that has a set; columns are numbered from first_column on.
    SetColumns(const FlatTrees& trees, std::size_t first_column, std::span<CodedSplit> splits);

    std::size_t size() const { return columns_.size(); }
    std::span<const std::int32_t> features() const { return features_; }  // of each column, ascending

    // The codes of the first n documents of a block, one BlockBytes per column. Strides count values.
    template <class T>
    void encode(const T* block, std::ptrdiff_t row_stride, std::ptrdiff_t feature_stride, std::size_t n,
                BlockBytes* codes) const;

    // The code of one value.
    std::int8_t code(std::size_t column, float value) const;

  private:
    struct SetColumn {
        std::size_t first, size;  // of its codes by slot
    };
    std::int8_t code_of_slot(const SetColumn& column, std::uint32_t slot) const;
    void add_column(const FlatTrees& trees, std::span<const std::uint32_t> chain, std::size_t number,
                    std::span<CodedSplit> splits);

    std::vector<SetColumn> columns_;
    std::vector<std::int32_t> features_;
    std::vector<std::int8_t> codes_;  // of all columns
};

}  // namespace rankwright
