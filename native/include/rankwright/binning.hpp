// Features as 8-bit codes, by which trees are grown.
//
// A feature's edges are ascending; code c holds the values with edges[c - 1] < value <= edges[c], the last one all
// above. A missing value has the code kMissing. A split after code c sends `value <= edges[c]` left, so that
// training on codes and scoring on values agree to the last bit.
#pragma once
#include <array>
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

// Where a row's bytes tell a feature's level: a run of neighbouring codes, or the missing ones.
struct Place {
    std::uint32_t byte = 0;      // of the row
    std::uint32_t stride = 1;    // the level is byte / stride % n_levels
    std::uint32_t n_levels = 0;  // those of values, and after them one of missing ones if there are any
    bool any_missing = false;
    bool exact = true;                      // every code has a level of its own
    std::array<std::uint8_t, 256> level{};  // by code
};

// A matrix of codes by column, for sending documents left and right, and of bytes by row, for histograms.
//
// Laid out plainly, a row has a byte for each feature, its code, which is also its level. Laid out coarsely,
// features have at most kCoarseLevels levels, and as many features share a byte as the numbers of their levels
// multiply to 256 at most: one addition to a histogram then serves them all.
struct BinnedMatrix {
    std::size_t n_rows = 0, n_features = 0, n_bytes = 0;
    bool coarse = false;
    std::vector<std::vector<float>> edges;  // one list a feature
    std::vector<Place> places;              // one a feature
    std::unique_ptr<std::uint8_t[]> by_row, by_column;

    const std::uint8_t* row(std::size_t row) const { return by_row.get() + row * n_bytes; }
    const std::uint8_t* column(std::size_t feature) const { return by_column.get() + feature * n_rows; }
    int n_bins(std::size_t feature) const { return static_cast<int>(edges[feature].size()) + 1; }
};

constexpr int kCoarseLevels = 16;

// Edges from the rows listed, one list a feature; values is row-major.
std::vector<std::vector<float>> find_all_edges(std::span<const float> values, std::size_t n_features,
                                               std::span<const std::int64_t> sample, int max_bins, int n_threads);

// The codes of the rows listed, in that order. A coarse level holds about as many rows as another of its feature.
BinnedMatrix encode(std::span<const float> values, std::size_t n_features, std::span<const std::int64_t> rows,
                    std::vector<std::vector<float>> edges, bool coarse, int n_threads);

}  // namespace rankwright
