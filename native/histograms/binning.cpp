#include "histograms/binning.hpp"

#include <algorithm>
#include <array>
#include <atomic>
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

// Finds the level of every row; codes follow before each tree.
Category read_category(std::span<const float> values, std::size_t n_features, std::span<const std::int64_t> rows,
                       std::size_t feature, std::uint32_t n_levels) {
    Category category{std::vector<std::uint32_t>(rows.size(), kNoLevel), std::vector<std::uint32_t>(n_levels)};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const float value = values[static_cast<std::size_t>(rows[i]) * n_features + feature];
        if (value != value) continue;
        category.level_of_row[i] = static_cast<std::uint32_t>(value);
        ++category.n_rows[category.level_of_row[i]];
    }
    const auto n_used = n_levels - std::ranges::count(category.n_rows, 0u);
    category.n_codes = static_cast<int>(std::clamp<std::ptrdiff_t>(n_used, 1, kMostBins));
    return category;
}

void read_categories(std::span<const float> values, std::span<const std::int64_t> rows,
                     std::span<const std::uint32_t> n_levels, int n_threads, BinnedMatrix& binned) {
    if (std::ranges::all_of(n_levels, [](std::uint32_t n) { return n == 0; })) return;
    binned.categories.resize(binned.n_features);
    parallel_for(binned.n_features, n_threads, [&](std::size_t feature) {
        if (n_levels[feature] == 0) return;
        binned.categories[feature] = read_category(values, binned.n_features, rows, feature, n_levels[feature]);
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

FeatureLevels find_levels(const BinnedMatrix& binned, std::size_t feature) {
    const std::span codes(binned.column(feature), binned.n_rows);
    std::array<std::size_t, 256> counts{};
    const std::size_t step = std::max<std::size_t>(1, codes.size() / kCountedRows);
    for (std::size_t row = 0; row < codes.size(); row += step) ++counts[codes[row]];
    const bool any_missing = std::find(codes.begin(), codes.end(), kMissing) != codes.end();
    return group_codes(std::span(counts).first(static_cast<std::size_t>(binned.n_bins(feature))), any_missing);
}

// The coarse layout: few levels per feature, and each feature in the first byte with enough room.
void lay_out_coarse(BinnedMatrix& binned, int n_threads) {
    binned.levels.resize(binned.n_features);
    parallel_ranges(binned.n_features, 1, n_threads, [&](std::size_t feature, std::size_t) {
        binned.levels[feature] = find_levels(binned, feature);
        // The levels of a category change from tree to tree, but not their number.
        FeatureLevels& levels = binned.levels[feature];
        if (binned.is_category(feature) && !levels.exact) levels.n_levels = kCoarseLevels;
        levels.level[kMissing] = static_cast<std::uint8_t>(levels.n_levels - 1);
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

std::vector<std::uint32_t> even_groups(std::span<const std::size_t> n_rows, std::size_t most) {
    std::vector<std::uint32_t> groups(n_rows.size());
    const bool exact = n_rows.size() <= most;
    std::size_t left = std::accumulate(n_rows.begin(), n_rows.end(), std::size_t{0}), in_group = 0;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i + 1 < n_rows.size(); ++i) {
        groups[i] = group;
        in_group += n_rows[i];
        // The remaining rows are divided evenly over the remaining groups; a very frequent entry gets its own one.
        const double per_group = static_cast<double>(left) / static_cast<double>(most - group);
        const bool full =
            static_cast<double>(in_group) >= per_group || static_cast<double>(n_rows[i + 1]) >= per_group;
        if (!exact && !(full && group + 1 < most)) continue;
        left -= in_group;
        in_group = 0;
        ++group;
    }
    if (!groups.empty()) groups.back() = group;
    return groups;
}

FeatureLevels group_codes(std::span<const std::size_t> n_rows, bool any_missing) {
    FeatureLevels levels;
    levels.any_missing = any_missing;
    const std::size_t most = kCoarseLevels - any_missing;
    levels.exact = n_rows.size() <= most;
    const std::vector<std::uint32_t> groups = even_groups(n_rows, most);
    std::ranges::transform(groups, levels.level.begin(),
                           [](std::uint32_t group) { return static_cast<std::uint8_t>(group); });
    levels.n_levels = groups.back() + 1 + any_missing;
    levels.level[kMissing] = static_cast<std::uint8_t>(levels.n_levels - 1);
    return levels;
}

std::vector<float> find_edges(std::span<const float> values, int max_bins) {
    const std::vector<ValueCount> counts = count_values(values);
    std::vector<std::size_t> n_rows;
    for (const ValueCount& entry : counts) n_rows.push_back(entry.count);
    const std::vector<std::uint32_t> bins = even_groups(n_rows, static_cast<std::size_t>(max_bins));
    std::vector<float> edges;
    for (std::size_t i = 0; i + 1 < counts.size(); ++i)
        if (bins[i] < bins[i + 1]) edges.push_back(edge_between(counts[i].value, counts[i + 1].value));
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
                    std::vector<std::vector<float>> edges, std::span<const std::uint32_t> n_levels, bool coarse,
                    int n_threads) {
    static std::atomic<std::uint64_t> n_matrices{0};
    BinnedMatrix binned;
    binned.id = ++n_matrices;
    binned.n_features = n_features;
    binned.n_rows = rows.size();
    binned.coarse = coarse;
    binned.edges = std::move(edges);
    encode_columns(values, rows, n_threads, binned);
    read_categories(values, rows, n_levels, n_threads, binned);
    coarse ? lay_out_coarse(binned, n_threads) : lay_out_plain(binned);
    write_rows(n_threads, binned);
    return binned;
}

}  // namespace rankwright
