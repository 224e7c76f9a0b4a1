#include "histograms/binning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "simd/kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

// The bits of a float as an integer that sorts in the same order.
std::uint32_t key_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);  // -0 becomes +0
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

float value_of(std::uint32_t key) { return std::bit_cast<float>(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu)); }

// Codes are counted on a sample of this many rows, evenly spread.
constexpr std::size_t kCountedRows = 50'000;

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

// Radix sort with three digits of eleven bits; several times faster than a comparison sort.
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

// A number t with low <= t < high, half way between them if there is a float.
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

void encode_columns(std::span<const float> values, std::span<const std::int64_t> rows, int n_threads,
                    BinnedMatrix& binned) {
    const std::size_t n_features = binned.n_features;
    binned.by_column = std::make_unique_for_overwrite<std::uint8_t[]>(rows.size() * n_features);
    // Edges padded with infinity, so that every search takes the same eight steps.
    std::vector<float> padded(n_features * kEdgeStride, INFINITY);
    for (std::size_t feature = 0; feature < n_features; ++feature)
        std::copy(binned.edges[feature].begin(), binned.edges[feature].end(),
                  padded.begin() + static_cast<std::ptrdiff_t>(feature * kEdgeStride));
    const SimdPath path = widest_path();
    parallel_ranges(binned.n_rows, kEncodeRows, n_threads, [&](std::size_t first, std::size_t last) {
        std::array<float, kEncodeRows> column;
        std::array<std::uint8_t, kEncodeRows> codes;
        for (std::size_t feature = 0; feature < n_features; ++feature) {
            for (std::size_t i = 0; i < last - first; ++i)
                column[i] = values[static_cast<std::size_t>(rows[first + i]) * n_features + feature];
            encode_column(column.data(), padded.data() + feature * kEdgeStride, codes.data(), path);
            std::copy_n(codes.begin(), last - first, binned.by_column.get() + feature * binned.n_rows + first);
        }
    });
}

// The plain layout: one byte per feature, one level per code.
void place_apart(BinnedMatrix& binned) {
    binned.n_bytes = binned.n_features;
    binned.places.resize(binned.n_features);
    for (std::size_t feature = 0; feature < binned.n_features; ++feature) {
        Place& place = binned.places[feature];
        place.byte = static_cast<std::uint32_t>(feature);
        place.n_levels = 256;
        std::iota(place.level.begin(), place.level.end(), std::uint8_t{0});
    }
}

// The level of every code of a feature; its byte is assigned later.
Place find_levels(const BinnedMatrix& binned, std::size_t feature) {
    const std::span codes(binned.column(feature), binned.n_rows);
    const int n_bins = binned.n_bins(feature);
    Place place;
    place.any_missing = std::find(codes.begin(), codes.end(), kMissing) != codes.end();
    const int most = kCoarseLevels - place.any_missing;
    place.exact = n_bins <= most;
    std::array<std::size_t, 256> counts{};
    const std::size_t step = std::max<std::size_t>(1, codes.size() / kCountedRows);
    for (std::size_t row = 0; row < codes.size(); row += step) ++counts[codes[row]];
    std::size_t left = std::accumulate(counts.begin(), counts.begin() + kMissing, std::size_t{0}), in_level = 0;
    int level = 0;
    for (int code = 0; code < n_bins; ++code) {
        const auto here = static_cast<std::size_t>(code);
        place.level[here] = static_cast<std::uint8_t>(level);
        in_level += counts[here];
        // As in find_edges: the remaining rows are divided evenly, and a frequent code gets its own level.
        const double share = static_cast<double>(left) / (most - level);
        const bool full = static_cast<double>(in_level) >= share || static_cast<double>(counts[here + 1]) >= share;
        if (code + 1 == n_bins || !(place.exact || (full && level + 1 < most))) continue;
        left -= in_level;
        in_level = 0;
        ++level;
    }
    place.n_levels = static_cast<std::uint32_t>(level + 1 + place.any_missing);
    place.level[kMissing] = static_cast<std::uint8_t>(place.n_levels - 1);
    return place;
}

// The coarse layout: few levels per feature, and each feature in the first byte with enough room.
void place_together(BinnedMatrix& binned, int n_threads) {
    binned.places.resize(binned.n_features);
    parallel_ranges(binned.n_features, 1, n_threads, [&](std::size_t feature, std::size_t) {
        binned.places[feature] = find_levels(binned, feature);
    });
    std::vector<std::uint32_t> taken;  // product of the numbers of levels of each byte's features
    for (Place& place : binned.places) {
        const auto room =
            std::ranges::find_if(taken, [&](std::uint32_t product) { return product * place.n_levels <= 256; });
        place.byte = static_cast<std::uint32_t>(room - taken.begin());
        if (room == taken.end()) taken.push_back(1);
        place.stride = taken[place.byte];
        taken[place.byte] *= place.n_levels;
    }
    binned.n_bytes = taken.size();
}

void write_rows(int n_threads, BinnedMatrix& binned) {
    const std::size_t n_bytes = binned.n_bytes;
    binned.by_row = std::make_unique<std::uint8_t[]>(binned.n_rows * n_bytes);
    parallel_ranges(binned.n_rows, kEncodeRows, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t feature = 0; feature < binned.n_features; ++feature) {
            const Place& place = binned.places[feature];
            auto parts = place.level;
            for (std::uint8_t& part : parts) part = static_cast<std::uint8_t>(part * place.stride);
            const std::uint8_t* codes = binned.column(feature);
            std::uint8_t* bytes = binned.by_row.get() + place.byte;
            for (std::size_t row = first; row < last; ++row)
                bytes[row * n_bytes] = static_cast<std::uint8_t>(bytes[row * n_bytes] + parts[codes[row]]);
        }
    });
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
        // The remaining values are divided evenly over the remaining bins; a very frequent value gets its own bin.
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
    // Processes as many features together as fit a cache line, so that each line is fetched once.
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
                    std::vector<std::vector<float>> edges, bool coarse, int n_threads) {
    BinnedMatrix binned;
    binned.n_features = n_features;
    binned.n_rows = rows.size();
    binned.coarse = coarse;
    binned.edges = std::move(edges);
    encode_columns(values, rows, n_threads, binned);
    coarse ? place_together(binned, n_threads) : place_apart(binned);
    write_rows(n_threads, binned);
    return binned;
}

}  // namespace rankwright
