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

constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

// Radix sort with three digits of eleven bits; several times faster than a comparison sort.
void sort_keys(std::vector<std::uint32_t>& keys, std::vector<std::uint32_t>& buffer) {
    constexpr std::size_t kPasses = 3;
    const auto digit = [](std::uint32_t key, std::size_t pass) {
        return (key >> (pass * kDigitBits)) & (kDigits - 1);
    };
    buffer.resize(keys.size());
    std::array<std::array<std::uint32_t, kDigits>, kPasses> starts{};
    for (std::uint32_t key : keys)
        for (std::size_t pass = 0; pass < kPasses; ++pass) ++starts[pass][digit(key, pass)];
    for (std::size_t pass = 0; pass < kPasses && !keys.empty(); ++pass) {
        if (starts[pass][digit(keys.front(), pass)] == keys.size()) continue;  // low digits of small integers
        std::uint32_t total = 0;
        for (std::uint32_t& start : starts[pass]) start = std::exchange(total, total + start);
        for (std::uint32_t key : keys) buffer[starts[pass][digit(key, pass)]++] = key;
        keys.swap(buffer);
    }
}

// A number t with low <= t < high, half way between them if that is a float.
float edge_between(float low, float high) {
    const auto middle = static_cast<float>((static_cast<double>(low) + static_cast<double>(high)) / 2.0);
    return low <= middle && middle < high ? middle : low;
}

struct ValueCounts {
    std::vector<float> values;
    std::vector<std::size_t> n_rows;  // of each value
};

ValueCounts count_values(std::span<const float> values) {
    std::vector<std::uint32_t> keys, buffer;
    keys.reserve(values.size());
    for (float value : values)
        if (value == value) keys.push_back(key_of(value));
    sort_keys(keys, buffer);
    ValueCounts counts;
    counts.values.reserve(keys.size());
    counts.n_rows.reserve(keys.size());
    for (std::size_t begin = 0, end; begin < keys.size(); begin = end) {
        end = begin;
        while (end < keys.size() && keys[end] == keys[begin]) ++end;
        counts.values.push_back(value_of(keys[begin]));
        counts.n_rows.push_back(end - begin);
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

// Edges padded with infinity, so that every search takes the same eight steps.
std::vector<float> padded_edges(const std::vector<std::vector<float>>& edges) {
    std::vector<float> padded(edges.size() * kEdgeStride, INFINITY);
    for (std::size_t feature = 0; feature < edges.size(); ++feature)
        std::ranges::copy(edges[feature], padded.begin() + static_cast<std::ptrdiff_t>(feature * kEdgeStride));
    return padded;
}

// Calls store(feature, first, codes) with the codes of a feature for the rows that start with `first`; row_of(i)
// says which row of the values has the i-th codes.
template <class RowOf, class Store>
void encode_blocks(std::span<const float> values, const std::vector<std::vector<float>>& edges, std::size_t n_rows,
                   int n_threads, const RowOf& row_of, const Store& store) {
    const std::size_t n_features = edges.size();
    const std::vector<float> padded = padded_edges(edges);
    const SimdPath path = widest_path();
    parallel_ranges(n_rows, kEncodeRows, n_threads, [&](std::size_t first, std::size_t last) {
        std::array<float, kEncodeRows> column;
        std::array<std::uint8_t, kEncodeRows> codes;
        for (std::size_t feature = 0; feature < n_features; ++feature) {
            for (std::size_t i = 0; i < last - first; ++i)
                column[i] = values[row_of(first + i) * n_features + feature];
            encode_column(column.data(), padded.data() + feature * kEdgeStride, codes.data(), path);
            store(feature, first, std::span<const std::uint8_t>(codes).first(last - first));
        }
    });
}

// Finds the level of every row; codes follow before each tree.
Category read_category(std::span<const float> values, std::size_t n_features, std::span<const std::int64_t> rows,
                       std::size_t feature, std::uint32_t n_levels) {
    std::vector<std::uint32_t> level_of_row(rows.size(), kNoLevel), n_rows(n_levels);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const float value = values[static_cast<std::size_t>(rows[i]) * n_features + feature];
        if (value != value) continue;
        level_of_row[i] = static_cast<std::uint32_t>(value);
        ++n_rows[level_of_row[i]];
    }
    Category category = category_of(std::move(n_rows));
    category.level_of_row = std::move(level_of_row);
    return category;
}

void read_categories(std::span<const float> values, std::span<const std::int64_t> rows,
                     std::span<const std::uint32_t> n_levels, int n_threads, Binning& binned) {
    if (std::ranges::all_of(n_levels, [](std::uint32_t n) { return n == 0; })) return;
    const std::size_t n_features = binned.edges.size();
    binned.categories.resize(n_features);
    parallel_for(n_features, n_threads, [&](std::size_t feature) {
        if (n_levels[feature] == 0) return;
        binned.categories[feature] = read_category(values, n_features, rows, feature, n_levels[feature]);
    });
}

// The plain layout: one byte per feature, one level per code.
void lay_out_plain(Binning& binning) {
    binning.n_bytes = binning.edges.size();
    binning.levels.resize(binning.n_bytes);
    for (std::size_t feature = 0; feature < binning.n_bytes; ++feature) {
        FeatureLevels& levels = binning.levels[feature];
        levels.byte = static_cast<std::uint32_t>(feature);
        levels.n_levels = 256;
        std::iota(levels.level.begin(), levels.level.end(), std::uint8_t{0});
    }
}

FeatureLevels find_levels(const Binning& binning, std::size_t feature, const CodeFrequencies& counts) {
    const auto n_bins = static_cast<std::size_t>(binning.n_bins(feature));
    FeatureLevels levels = group_codes(std::span(counts).first(n_bins), counts[kMissing] > 0);
    // The levels of a category change from tree to tree, but not their number.
    if (binning.is_category(feature) && !levels.exact) levels.n_levels = kCoarseLevels;
    levels.level[kMissing] = static_cast<std::uint8_t>(levels.n_levels - 1);
    return levels;
}

// The coarse layout: few levels per feature, and each feature in the first byte with enough room.
void lay_out_coarse(std::span<const CodeFrequencies> frequencies, Binning& binning) {
    std::vector<std::uint32_t> taken;  // product of the numbers of levels of each byte's features
    for (std::size_t feature = 0; feature < binning.edges.size(); ++feature) {
        FeatureLevels levels = find_levels(binning, feature, frequencies[feature]);
        const auto byte =
            std::ranges::find_if(taken, [&](std::uint32_t product) { return product * levels.n_levels <= 256; });
        levels.byte = static_cast<std::uint32_t>(byte - taken.begin());
        if (byte == taken.end()) taken.push_back(1);
        levels.stride = taken[levels.byte];
        taken[levels.byte] *= levels.n_levels;
        binning.levels.push_back(levels);
    }
    binning.n_bytes = taken.size();
}

// The codes of the sample, and the missing values of all documents.
CodeFrequencies count_codes(std::span<const std::uint8_t> codes, std::span<const std::int64_t> sample) {
    CodeFrequencies counts{};
    for (const std::int64_t row : sample) ++counts[codes[static_cast<std::size_t>(row)]];
    counts[kMissing] = static_cast<std::size_t>(std::ranges::count(codes, kMissing));
    return counts;
}

// The bytes of rows from codes by column.
void write_rows(const Binning& binning, const std::uint8_t* columns, std::size_t n_rows, int n_threads,
                std::uint8_t* rows) {
    const std::size_t n_bytes = binning.n_bytes;
    parallel_ranges(n_rows, kEncodeRows, n_threads, [&](std::size_t first, std::size_t last) {
        std::fill_n(rows + first * n_bytes, (last - first) * n_bytes, std::uint8_t{0});
        for (std::size_t feature = 0; feature < binning.edges.size(); ++feature) {
            const FeatureLevels& levels = binning.levels[feature];
            auto parts = levels.level;
            for (std::uint8_t& part : parts) part = static_cast<std::uint8_t>(part * levels.stride);
            const std::uint8_t* codes = columns + feature * n_rows;
            std::uint8_t* bytes = rows + levels.byte;
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
    const auto [distinct, n_rows] = count_values(values);
    const std::vector<std::uint32_t> bins = even_groups(n_rows, static_cast<std::size_t>(max_bins));
    std::vector<float> edges;
    for (std::size_t i = 0; i + 1 < distinct.size(); ++i)
        if (bins[i] < bins[i + 1]) edges.push_back(edge_between(distinct[i], distinct[i + 1]));
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

Category category_of(std::vector<std::uint32_t> n_rows) {
    const auto n_used = std::ssize(n_rows) - std::ranges::count(n_rows, 0u);
    Category category;
    category.n_rows = std::move(n_rows);
    category.n_codes = static_cast<int>(std::clamp<std::ptrdiff_t>(n_used, 1, kMostBins));
    return category;
}

void lay_out(std::span<const CodeFrequencies> frequencies, bool coarse, Binning& binning) {
    binning.coarse = coarse;
    coarse ? lay_out_coarse(frequencies, binning) : lay_out_plain(binning);
}

std::uint64_t next_matrix_id() {
    static std::atomic<std::uint64_t> n_matrices{0};
    return ++n_matrices;
}

BinnedMatrix encode(std::span<const float> values, std::size_t n_features, std::span<const std::int64_t> rows,
                    std::span<const std::int64_t> sample, std::vector<std::vector<float>> edges,
                    std::span<const std::uint32_t> n_levels, bool coarse, int n_threads) {
    const std::size_t n_rows = rows.size();
    auto columns = new_bytes(n_rows * n_features);
    encode_blocks(
        values, edges, n_rows, n_threads, [&](std::size_t i) { return static_cast<std::size_t>(rows[i]); },
        [&](std::size_t feature, std::size_t first, std::span<const std::uint8_t> codes) {
            std::ranges::copy(codes, columns.get() + feature * n_rows + first);
        });
    std::vector<CodeFrequencies> frequencies(coarse ? n_features : 0);
    parallel_ranges(frequencies.size(), 1, n_threads, [&](std::size_t feature, std::size_t) {
        frequencies[feature] = count_codes({columns.get() + feature * n_rows, n_rows}, sample);
    });
    BinnedMatrix binned;
    binned.edges = std::move(edges);
    read_categories(values, rows, n_levels, n_threads, binned);
    lay_out(frequencies, coarse, binned);
    auto bytes = new_bytes(n_rows * binned.n_bytes + kRowPadding);
    write_rows(binned, columns.get(), n_rows, n_threads, bytes.get());
    binned.n_rows = binned.column_stride = n_rows;
    binned.n_features = n_features;
    binned.id = next_matrix_id();
    binned.by_column = std::move(columns);
    binned.by_row = std::move(bytes);
    return binned;
}

void encode_rows(std::span<const float> values, const Binning& binning, int n_threads,
                 std::span<std::uint8_t> codes) {
    const std::size_t n_features = binning.edges.size();
    if (n_features == 0) return;
    encode_blocks(
        values, binning.edges, codes.size() / n_features, n_threads, [](std::size_t i) { return i; },
        [&](std::size_t feature, std::size_t first, std::span<const std::uint8_t> column) {
            for (std::size_t i = 0; i < column.size(); ++i) codes[(first + i) * n_features + feature] = column[i];
        });
}

void arrange_codes(std::span<const std::uint8_t> codes, std::span<const std::int64_t> order,
                   const Binning& binning, int n_threads, std::span<std::uint8_t> columns,
                   std::span<std::uint8_t> rows) {
    const std::size_t n_features = binning.edges.size(), n_rows = order.size();
    parallel_ranges(n_rows, kEncodeRows, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t feature = 0; feature < n_features; ++feature)
            for (std::size_t i = first; i < last; ++i)
                columns[feature * n_rows + i] = codes[static_cast<std::size_t>(order[i]) * n_features + feature];
    });
    write_rows(binning, columns.data(), n_rows, n_threads, rows.data());
}

}  // namespace rankwright
