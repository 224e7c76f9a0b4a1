// Features as 8-bit codes, by which trees are grown.
//
// A feature's edges are ascending; code c holds the values with edges[c - 1] < value <= edges[c], the last one all
// above. A missing value has the code kMissing. A split after code c sends `value <= edges[c]` left, so that
// training on codes and scoring on values agree to the last bit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rankwright {

constexpr int kMostBins = 255;
constexpr std::uint8_t kMissing = 255;

// Edges for at most max_bins codes: between all distinct values where they are few enough, otherwise so that codes
// hold about equally many of them. NaN is passed over.
std::vector<float> find_edges(std::span<const float> values, int max_bins);

// A matrix of codes, kept twice: by row for histograms, by column for sending documents left and right.
struct BinnedMatrix {
    std::size_t n_rows = 0, n_features = 0;
    std::vector<std::vector<float>> edges;  // one list a feature
    std::unique_ptr<std::uint8_t[]> by_row, by_column;

    const std::uint8_t* row(std::size_t row) const { return by_row.get() + row * n_features; }
    const std::uint8_t* column(std::size_t feature) const { return by_column.get() + feature * n_rows; }
    int n_bins(std::size_t feature) const { return static_cast<int>(edges[feature].size()) + 1; }
};

// Edges from the rows listed, one list a feature; values is row-major.
std::vector<std::vector<float>> find_all_edges(std::span<const float> values, std::size_t n_features,
                                               std::span<const std::int64_t> sample, int max_bins, int n_threads);

// The codes of the rows listed, in that order.
BinnedMatrix encode(std::span<const float> values, std::size_t n_features, std::span<const std::int64_t> rows,
                    std::vector<std::vector<float>> edges, int n_threads);

}  // namespace rankwright
