#include "histograms/binning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "memory/huge_pages.hpp"
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

// Codes are counted on a sample of about this many rows, evenly spread.
constexpr std::size_t kCountedRows = 50'000;

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

// Radix sort with three digits of eleven bits; several times faster than a comparison sort.
void sort_keys(std::vector<std::uint32_t>& keys, std::vector<std::uint32_t>& buffer) {
    buffer.resize(keys.size());
    for (int shift = 0; shift < 33; shift += kDigitBits) {
        std::array<std::uint32_t, kDigits> starts{};
        for (std::uint32_t key : keys) ++starts[(key >> shift) & (kDigits - 1)];
        std::uint32_t total = 0;
        for (std::uint32_t& start : starts) start = std::exchange(total, total + start);
        for (std::uint32_t key : keys) buffer[starts[(key >> shift) & (kDigits - 1)]++] = key;
        keys.swap(buffer);
    }
}

// A number t with low <= t < high, half way between them if that is a float.
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

// Uninitialised. The rows of a leaf are scattered in memory, and with small pages finding the page of each would
// take as long as reading it.
std::unique_ptr<std::uint8_t[]> new_bytes(std::size_t size) {
    auto bytes = std::make_unique_for_overwrite<std::uint8_t[]>(size);
    use_huge_pages(bytes.get(), size);
    return bytes;
}

void encode_columns(std::span<const float> values, std::span<const std::int64_t> rows, int n_threads,
                    BinnedMatrix& binned) {
    const std::size_t n_features = binned.n_features;
    binned.by_column = new_bytes(rows.size() * n_features);
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
void lay_out_plain(BinnedMatrix& binned) {
    binned.n_bytes = binned.n_features;
    binned.levels.resize(binned.n_features);
    for (std::size_t feature = 0; feature < binned.n_features; ++feature) {
        FeatureLevels& levels = binned.levels[feature];
        levels.byte = static_cast<std::uint32_t>(feature);
        levels.n_levels = 256;
        std::iota(levels.level.begin(), levels.level.end(), std::uint8_t{0});
    }
}

// The level of every code of a feature; its byte is assigned later.
FeatureLevels find_levels(const BinnedMatrix& binned, std::size_t feature) {
    const std::span codes(binned.column(feature), binned.n_rows);
    const int n_bins = binned.n_bins(feature);
    FeatureLevels levels;
    levels.any_missing = std::find(codes.begin(), codes.end(), kMissing) != codes.end();
    const int most = kCoarseLevels - levels.any_missing;
    levels.exact = n_bins <= most;
    std::array<std::size_t, 256> counts{};
    const std::size_t step = std::max<std::size_t>(1, codes.size() / kCountedRows);
    for (std::size_t row = 0; row < codes.size(); row += step) ++counts[codes[row]];
    std::size_t left = std::accumulate(counts.begin(), counts.begin() + kMissing, std::size_t{0}), in_level = 0;
    int level = 0;
    for (int code = 0; code < n_bins; ++code) {
        const auto index = static_cast<std::size_t>(code);
        levels.level[index] = static_cast<std::uint8_t>(level);
        in_level += counts[index];
        // As in find_edges: the remaining rows are divided evenly, and a frequent code gets its own level.
        const double per_level = static_cast<double>(left) / (most - level);
        const bool full =
            static_cast<double>(in_level) >= per_level || static_cast<double>(counts[index + 1]) >= per_level;
        if (code + 1 == n_bins || !(levels.exact || (full && level + 1 < most))) continue;
        left -= in_level;
        in_level = 0;
        ++level;
    }
    levels.n_levels = static_cast<std::uint32_t>(level + 1 + levels.any_missing);
    levels.level[kMissing] = static_cast<std::uint8_t>(levels.n_levels - 1);
    return levels;
}

// The coarse layout: few levels per feature, and each feature in the first byte with enough room.
void lay_out_coarse(BinnedMatrix& binned, int n_threads) {
    binned.levels.resize(binned.n_features);
    parallel_ranges(binned.n_features, 1, n_threads, [&](std::size_t feature, std::size_t) {
        binned.levels[feature] = find_levels(binned, feature);
    });
    std::vector<std::uint32_t> taken;  // product of the numbers of levels of each byte's features
    for (FeatureLevels& levels : binned.levels) {
        const auto byte =
            std::ranges::find_if(taken, [&](std::uint32_t product) { return product * levels.n_levels <= 256; });
        levels.byte = static_cast<std::uint32_t>(byte - taken.begin());
        if (byte == taken.end()) taken.push_back(1);
        levels.stride = taken[levels.byte];
        taken[levels.byte] *= levels.n_levels;
    }
    binned.n_bytes = taken.size();
}

void write_rows(int n_threads, BinnedMatrix& binned) {
    const std::size_t n_bytes = binned.n_bytes;
    binned.by_row = new_bytes(binned.n_rows * n_bytes + kRowPadding);
    parallel_ranges(binned.n_rows, kEncodeRows, n_threads, [&](std::size_t first, std::size_t last) {
        std::fill_n(binned.by_row.get() + first * n_bytes, (last - first) * n_bytes, std::uint8_t{0});
        for (std::size_t feature = 0; feature < binned.n_features; ++feature) {
            const FeatureLevels& levels = binned.levels[feature];
            auto parts = levels.level;
            for (std::uint8_t& part : parts) part = static_cast<std::uint8_t>(part * levels.stride);
            const std::uint8_t* codes = binned.column(feature);
            std::uint8_t* bytes = binned.by_row.get() + levels.byte;
            for (std::size_t row = first; row < last; ++row)
                bytes[row * n_bytes] = static_cast<std::uint8_t>(bytes[row * n_bytes] + parts[codes[row]]);
        }
    });
}

}  // namespace

std::vector<float> find_edges(std::span<const float> values, int max_bins) {
    const std::vector<ValueCount> counts = count_values(values);
    std::size_t left = 0;
    for (const ValueCount& entry : counts) left += entry.count;
    std::vector<float> edges;
    const bool exact = counts.size() <= static_cast<std::size_t>(max_bins);
    std::size_t in_bin = 0;
    int bins_left = max_bins;
    for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
        in_bin += counts[i].count;
        // The remaining values are divided evenly over the remaining bins; a very frequent value gets its own bin.
        const double per_bin = static_cast<double>(left) / bins_left;
        const bool full =
            static_cast<double>(in_bin) >= per_bin || static_cast<double>(counts[i + 1].count) >= per_bin;
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
    coarse ? lay_out_coarse(binned, n_threads) : lay_out_plain(binned);
    write_rows(n_threads, binned);
    return binned;
}

}  // namespace rankwright
