#include "rankwright/binning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "rankwright/threads.hpp"
#include "rankwright/vectors.hpp"

namespace rankwright {
namespace {

// A float's bits as an integer of the same order.
std::uint32_t key_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);  // -0 becomes +0
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

float value_of(std::uint32_t key) { return std::bit_cast<float>(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu)); }

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

// Radix sort, three digits of eleven bits: several times faster than comparing.
void sort_keys(std::vector<std::uint32_t>& keys, std::vector<std::uint32_t>& buffer) {
    buffer.resize(keys.size());
    for (int shift = 0; shift < 33; shift += kDigitBits) {
        std::array<std::uint32_t, kDigits> places{};
        for (std::uint32_t key : keys) ++places[(key >> shift) & (kDigits - 1)];
        std::uint32_t total = 0;
        for (std::uint32_t& place : places) place = std::exchange(total, total + place);
        for (std::uint32_t key : keys) buffer[places[(key >> shift) & (kDigits - 1)]++] = key;
        keys.swap(buffer);
    }
}

// A number t with low <= t < high, half way where floats allow it.
float edge_between(float low, float high) {
    const auto middle = static_cast<float>((static_cast<double>(low) + static_cast<double>(high)) / 2.0);
    return low <= middle && middle < high ? middle : low;
}

struct ValueCount {
    float value;
    std::size_t count;
};

std::vector<ValueCount> count_values(std::span<const float> values) {
    std::vector<std::uint32_t> keys, buffer;
    keys.reserve(values.size());
    for (float value : values)
        if (value == value) keys.push_back(key_of(value));
    sort_keys(keys, buffer);
    std::vector<ValueCount> counts;
    for (std::size_t begin = 0, end; begin < keys.size(); begin = end) {
        end = begin;
        while (end < keys.size() && keys[end] == keys[begin]) ++end;
        counts.push_back({value_of(keys[begin]), end - begin});
    }
    return counts;
}

}  // namespace

std::vector<float> find_edges(std::span<const float> values, int max_bins) {
    const std::vector<ValueCount> counts = count_values(values);
    std::size_t left = 0;
    for (const ValueCount& one : counts) left += one.count;
    std::vector<float> edges;
    const bool exact = counts.size() <= static_cast<std::size_t>(max_bins);
    std::size_t in_bin = 0;
    int bins_left = max_bins;
    for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
        in_bin += counts[i].count;
        // What is left is shared out evenly; a value too frequent for one share still gets a bin of its own.
        const double share = static_cast<double>(left) / bins_left;
        const bool full =
            static_cast<double>(in_bin) >= share || static_cast<double>(counts[i + 1].count) >= share;
        if (!exact && !(full && bins_left > 1)) continue;
        edges.push_back(edge_between(counts[i].value, counts[i + 1].value));
        left -= in_bin;
        in_bin = 0;
        --bins_left;
    }
    return edges;
}

std::vector<std::vector<float>> find_all_edges(std::span<const float> values, std::size_t n_features,
                                               std::span<const std::int64_t> sample, int max_bins, int n_threads) {
    std::vector<std::vector<float>> edges(n_features);
    // As many features together as a line of the cache holds, so that each line is fetched once.
    parallel_ranges(n_features, 16, n_threads, [&](std::size_t first, std::size_t last) {
        std::vector<std::vector<float>> columns(last - first, std::vector<float>(sample.size()));
        for (std::size_t i = 0; i < sample.size(); ++i) {
            const float* row = values.data() + static_cast<std::size_t>(sample[i]) * n_features;
            for (std::size_t feature = first; feature < last; ++feature)
                columns[feature - first][i] = row[feature];
        }
        for (std::size_t feature = first; feature < last; ++feature)
            edges[feature] = find_edges(columns[feature - first], max_bins);
    });
    return edges;
}

BinnedMatrix encode(std::span<const float> values, std::size_t n_features, std::span<const std::int64_t> rows,
                    std::vector<std::vector<float>> edges, int n_threads) {
    BinnedMatrix binned;
    binned.n_features = n_features;
    binned.n_rows = rows.size();
    binned.edges = std::move(edges);
    binned.by_row = std::make_unique_for_overwrite<std::uint8_t[]>(rows.size() * n_features);
    binned.by_column = std::make_unique_for_overwrite<std::uint8_t[]>(rows.size() * n_features);
    // Edges padded with infinity to 255, so that every search takes the same eight steps.
    std::vector<float> padded(n_features * kEdgeStride, INFINITY);
    for (std::size_t feature = 0; feature < n_features; ++feature)
        std::copy(binned.edges[feature].begin(), binned.edges[feature].end(),
                  padded.begin() + static_cast<std::ptrdiff_t>(feature * kEdgeStride));
    const VectorPath path = widest_path();
    parallel_ranges(binned.n_rows, kEncodeRows, n_threads, [&](std::size_t first, std::size_t last) {
        std::array<float, kEncodeRows> column;
        std::array<std::uint8_t, kEncodeRows> codes;
        for (std::size_t feature = 0; feature < n_features; ++feature) {
            for (std::size_t i = 0; i < last - first; ++i)
                column[i] = values[static_cast<std::size_t>(rows[first + i]) * n_features + feature];
            encode_column(column.data(), padded.data() + feature * kEdgeStride, codes.data(), path);
            std::copy_n(codes.begin(), last - first, binned.by_column.get() + feature * binned.n_rows + first);
            std::uint8_t* target = binned.by_row.get() + first * n_features + feature;
            for (std::size_t i = 0; i < last - first; ++i) target[i * n_features] = codes[i];
        }
    });
    return binned;
}

}  // namespace rankwright
