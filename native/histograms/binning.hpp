// Features binned to 8-bit codes for growing trees.
//
// The edges of a feature are ascending; code c has the values with edges[c - 1] < value <= edges[c], the last code
// all values above the last edge. A missing value has the code kMissing. A split after code c sends `value <=
// edges[c]` left, so that training on codes and scoring on values agree exactly.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rankwright {

constexpr int kMostBins = 255;
constexpr std::size_t kRowPadding = 16;  // readable bytes after the last row of a matrix
constexpr std::uint8_t kMissing = 255;

// Edges of at most max_bins bins: between all distinct values if there are few enough, otherwise such that bins
// have about the same number of values. NaN is ignored.
std::vector<float> find_edges(std::span<const float> values, int max_bins);

// How the codes of a feature are grouped into levels, and where the level is stored in the bytes of a row. A level
// is a run of adjacent codes, or the missing values.
struct FeatureLevels {
    std::uint32_t byte = 0;      // index of the byte in the row
    std::uint32_t stride = 1;    // the level is (value of the byte) / stride % n_levels
    std::uint32_t n_levels = 0;  // including a last one for missing values, if there are any
    bool any_missing = false;
    bool exact = true;                      // every code has its own level
    std::array<std::uint8_t, 256> level{};  // by code
};

// A category: a feature whose values are numbers of levels, which have no order. Before each tree its levels get
// codes in the order of their gradients (see trees/category_order.hpp); until then all have code 0.
struct Category {
    std::vector<std::uint32_t> level_of_row;    // kNoLevel where it is missing
    std::vector<std::uint32_t> n_rows;          // by level
    std::vector<std::uint8_t> code_of_level{};  // kMissing for levels that no row has
    int n_codes = 0;
    double optimism = 0.0;  // by which an order fitted to the gradients raises gains, per unit of hessian

    bool exists() const { return !n_rows.empty(); }
};

constexpr std::uint32_t kNoLevel = 0xffffffff;
constexpr std::uint32_t kMostLevelsOfCategory = 1 << 24;  // a 32-bit float tells so many apart

// How the values of features become codes, and the codes of a document the bytes of a row.
//
// In the plain layout a row has one byte per feature: its code, which is also its level. In the coarse layout
// features have at most kCoarseLevels levels, and several features share a byte as long as the product of their
// numbers of levels is at most 256: one addition to a histogram then serves all of them.
struct Binning {
    bool coarse = false;
    std::size_t n_bytes = 0;                // of a row
    std::vector<std::vector<float>> edges;  // one list per feature
    std::vector<FeatureLevels> levels;      // one per feature
    std::vector<Category> categories;       // one per feature, or none if no feature is a category

    bool is_category(std::size_t feature) const { return !categories.empty() && categories[feature].exists(); }
    int n_bins(std::size_t feature) const {
        return is_category(feature) ? categories[feature].n_codes : static_cast<int>(edges[feature].size()) + 1;
    }
};

// A matrix of codes by column, for partitioning documents, and of bytes by row, for histograms. It owns them, or
// they are in a file that somebody else keeps mapped.
struct BinnedMatrix : Binning {
    std::size_t n_rows = 0, n_features = 0;
    std::size_t column_stride = 0;  // from one column to the next, at least n_rows
    std::uint64_t id = 0;           // different for every matrix
    std::size_t block_rows = 0;     // of a mapped file that is read in blocks: rows per block; 0: it is not
    std::shared_ptr<const std::uint8_t[]> by_row, by_column;

    const std::uint8_t* row(std::size_t row) const { return by_row.get() + row * n_bytes; }
    const std::uint8_t* column(std::size_t feature) const { return by_column.get() + feature * column_stride; }
};

constexpr int kCoarseLevels = 16;

// Edges from the rows of `sample`, one list per feature; values is row-major.
std::vector<std::vector<float>> find_all_edges(std::span<const float> values, std::size_t n_features,
                                               std::span<const std::int64_t> sample, int max_bins, int n_threads);

// How many documents have each code of a feature.
using CodeFrequencies = std::array<std::size_t, 256>;

// A category with these numbers of rows by level; the levels of rows are still to be set.
Category category_of(std::vector<std::uint32_t> n_rows);

// The layout of rows. The coarse levels of a feature have about the same number of documents of those counted in
// `frequencies`, one entry per feature; missing values have a level of their own if any is counted.
void lay_out(std::span<const CodeFrequencies> frequencies, bool coarse, Binning& binning);

// The codes of `rows`, in that order; `sample` are those of them, by position, that decide the coarse levels. A
// feature with n_levels > 0 is a category: its values are integers from 0 to n_levels - 1, or missing. `n_levels`
// may be empty.
BinnedMatrix encode(std::span<const float> values, std::size_t n_features, std::span<const std::int64_t> rows,
                    std::span<const std::int64_t> sample, std::vector<std::vector<float>> edges,
                    std::span<const std::uint32_t> n_levels, bool coarse, int n_threads);

// Overwrites codes, row-major, with the codes of the values, row-major too.
void encode_rows(std::span<const float> values, const Binning& binning, int n_threads,
                 std::span<std::uint8_t> codes);

// Lays out row-major codes, in this order, as a matrix has them: `columns` are n_features x n_rows, `rows` n_rows
// x n_bytes.
void arrange_codes(std::span<const std::uint8_t> codes, std::span<const std::int64_t> order,
                   const Binning& binning, int n_threads, std::span<std::uint8_t> columns,
                   std::span<std::uint8_t> rows);

std::uint64_t next_matrix_id();

// Divides entries with these numbers of rows into at most `most` groups of adjacent ones; returns the group of
// each. If there are few enough, each entry has its own group; otherwise groups have about the same number of
// rows.
std::vector<std::uint32_t> even_groups(std::span<const std::size_t> n_rows, std::size_t most);

// How the codes of a feature with these numbers of rows become coarse levels; its byte is assigned later.
FeatureLevels group_codes(std::span<const std::size_t> n_rows, bool any_missing);

}  // namespace rankwright
