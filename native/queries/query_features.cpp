#include "queries/query_features.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "simd/query_kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr auto kWidth = static_cast<std::size_t>(kLanes);  // features of a query that are computed together

// From this many documents on, a radix sort takes fewer steps than a sorting network.
constexpr std::size_t kRadixFrom = 4096;

constexpr std::size_t kSums = 8;  // computed side by side

double or_one(double divisor) { return divisor > 0.0 ? divisor : 1.0; }

// Integers in the order of the numbers.
std::uint32_t ordered_bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

struct Entry {
    std::uint32_t key, position;
};

// Sorts by ascending key, one byte of it at a time; equal keys stay in order.
void radix_sort(std::vector<Entry>& entries, std::vector<Entry>& other) {
    std::array<std::array<std::uint32_t, 256>, 4> starts{};
    for (const Entry& entry : entries)
        for (int byte = 0; byte < 4; ++byte) ++starts[byte][entry.key >> 8 * byte & 255];
    other.resize(entries.size());
    for (int byte = 0; byte < 4; ++byte) {
        auto& start = starts[byte];
        if (std::ranges::max(start) == entries.size()) continue;  // all alike
        std::exclusive_scan(start.begin(), start.end(), start.begin(), 0u);
        for (const Entry& entry : entries) other[start[entry.key >> 8 * byte & 255]++] = entry;
        entries.swap(other);
    }
}

// The columns made from at most kWidth features of one query.
class BlockColumns {
  public:
    explicit BlockColumns(bool needs_order) : needs_order_(needs_order) {}

    // Reads the features [first, first + n_lanes) of each row.
    void read(Rows rows, std::span<const float> values, std::size_t n_features, std::size_t first,
              std::size_t n_lanes) {
        rows_ = rows;
        n_lanes_ = n_lanes;
        for (auto* buffer : {&values_, &keys_, &made_}) buffer->resize(rows.size());
        for (auto* buffer : {&positions_, &low_ranks_}) buffer->resize(rows.size());
        for (std::size_t position = 0; position < rows.size(); ++position) {
            if (n_lanes < kWidth) values_[position] = {};
            const float* row = values.data() + static_cast<std::size_t>(rows[position]) * n_features + first;
            copy_lanes(row, values_[position].lanes);
        }
        find_ranges(values_.data(), lanes(), ranges_, path_);
        if (needs_order_) sort();
    }

    // Writes a column of the kind for each feature, beginning at column `first` of each row.
    void write(QueryColumn kind, std::span<float> columns, std::size_t width, std::size_t first) {
        if (kind == QueryColumn::rank) {
            find_ranks(lanes(), ranges_, made_.data(), path_);
        } else if (kind == QueryColumn::zscore) {
            LaneScales moments;
            find_moments(lanes(), ranges_, moments, path_);
            scale_rows(values_.data(), values_.size(), moments, -0.0, made_.data(), path_);
        } else {
            // Adding 0.0 turns -0.0 into 0.0: which of them is the lowest depends on the order of documents.
            scale_rows(values_.data(), values_.size(), spans(), 0.0, made_.data(), path_);
        }
        write_rows(made_, columns, width, first);
    }

    void write_features(std::span<float> columns, std::size_t width, std::size_t first) const {
        write_rows(values_, columns, width, first);
    }

  private:
    SortedLanes lanes() { return {keys_.data(), positions_.data(), low_ranks_.data(), rows_.size()}; }

    LaneScales spans() const {
        LaneScales spans;
        for (std::size_t lane = 0; lane < kWidth; ++lane) {
            spans.centre.lanes[lane] = ranges_.low.lanes[lane];
            spans.scale.lanes[lane] =
                or_one(static_cast<double>(ranges_.high.lanes[lane]) - ranges_.low.lanes[lane]);
        }
        return spans;
    }

    void write_rows(const std::vector<FloatRow>& made, std::span<float> columns, std::size_t width,
                    std::size_t first) const {
        for (std::size_t position = 0; position < rows_.size(); ++position)
            copy_lanes(made[position].lanes,
                       columns.data() + static_cast<std::size_t>(rows_[position]) * width + first);
    }

    // In pieces of constant size, which are much faster than a call of the library.
    void copy_lanes(const float* from, float* to) const {
        if (n_lanes_ == kWidth) return copy_piece<kWidth>(from, to);
        if (n_lanes_ & 8) copy_piece<8>(from, to);
        if (n_lanes_ & 4) copy_piece<4>(from, to);
        if (n_lanes_ & 2) copy_piece<2>(from, to);
        if (n_lanes_ & 1) copy_piece<1>(from, to);
    }

    template <std::size_t size>
    static void copy_piece(const float*& from, float*& to) {
        std::copy_n(from, size, to);
        from += size;
        to += size;
    }

    void sort() {
        if (rows_.size() < kRadixFrom) return sort_lanes(lanes(), path_);
        entries_.resize(rows_.size());
        for (std::size_t lane = 0; lane < n_lanes_; ++lane) {
            for (std::size_t position = 0; position < rows_.size(); ++position)
                entries_[position] = {ordered_bits(keys_[position].lanes[lane]),
                                      static_cast<std::uint32_t>(position)};
            radix_sort(entries_, other_entries_);
            for (std::size_t rank = 0; rank < entries_.size(); ++rank) {
                const std::uint32_t position = entries_[rank].position;
                const float value = values_[position].lanes[lane];
                keys_[rank].lanes[lane] = std::isnan(value) ? std::numeric_limits<float>::infinity() : value;
                positions_[rank].lanes[lane] = static_cast<std::int32_t>(position);
            }
        }
    }

    const bool needs_order_;
    const SimdPath path_ = widest_path();
    Rows rows_;
    std::size_t n_lanes_ = 0;
    std::vector<FloatRow> values_, made_;        // by position
    std::vector<FloatRow> keys_;                 // by rank
    std::vector<IntRow> positions_, low_ranks_;  // by rank
    LaneRanges ranges_;
    std::vector<Entry> entries_, other_entries_;
};

double pairwise_sum(Doubles values) {
    if (values.size() > 128) {
        const std::size_t half = values.size() / 16 * 8;
        return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
    }
    double total = 0.0;
    const std::size_t whole = values.size() / kSums * kSums;
    if (whole > 0) {
        std::array<double, kSums> sums{};
        for (std::size_t start = 0; start < whole; start += kSums)
            for (std::size_t lane = 0; lane < kSums; ++lane) sums[lane] += values[start + lane];
        total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
    for (double value : values.subspan(whole)) total += value;
    return total;
}

class ScoreStandardiser {
  public:
    void standardise(Rows rows, Doubles scores, std::span<double> standardised) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (std::int64_t row : rows) {
            low = std::fmin(low, at(scores, row));
            high = std::fmax(high, at(scores, row));
        }
        const double span = or_one(high - low);
        known_.clear();
        for (std::int64_t row : rows) {
            const double scaled = (at(scores, row) - low) / span + 0.0;  // 0.0 for -0.0
            standardised[static_cast<std::size_t>(row)] = scaled;
            if (!std::isnan(scaled)) known_.push_back(scaled);
        }
        std::sort(known_.begin(), known_.end());
        const double count = std::max(1.0, static_cast<double>(known_.size()));
        const double mean = pairwise_sum(known_) / count;
        for (double& value : known_) value = (value - mean) * (value - mean);
        const double deviation = or_one(std::sqrt(pairwise_sum(known_) / count));
        for (std::int64_t row : rows) {
            double& value = standardised[static_cast<std::size_t>(row)];
            value = (value - mean) / deviation;
        }
    }

  private:
    std::vector<double> known_;
};

}  // namespace

void query_columns(Offsets queries, Rows rows, std::span<const float> values, std::size_t n_features,
                   std::span<const QueryColumn> kinds, bool raw, int n_threads, std::span<float> columns) {
    const std::size_t n_blocks = (n_features + kWidth - 1) / kWidth, width = n_features * (raw + kinds.size());
    const bool needs_order = std::ranges::any_of(kinds, [](auto kind) { return kind != QueryColumn::minmax; });
    parallel_ranges((queries.size() - 1) * n_blocks, 16, n_threads, [&](std::size_t begin, std::size_t end) {
        BlockColumns block(needs_order);
        for (std::size_t task = begin; task < end; ++task) {
            const auto start = static_cast<std::size_t>(queries[task / n_blocks]);
            const auto size = static_cast<std::size_t>(queries[task / n_blocks + 1]) - start;
            std::size_t first = task % n_blocks * kWidth;
            block.read(rows.subspan(start, size), values, n_features, first, std::min(kWidth, n_features - first));
            if (raw) {
                block.write_features(columns, width, first);
                first += n_features;
            }
            for (QueryColumn kind : kinds) {
                block.write(kind, columns, width, first);
                first += n_features;
            }
        }
    });
}

void standardise_scores(Offsets queries, Rows rows, Doubles scores, int n_threads,
                        std::span<double> standardised) {
    parallel_ranges(queries.size() - 1, 64, n_threads, [&](std::size_t begin, std::size_t end) {
        ScoreStandardiser standardiser;
        for (std::size_t query = begin; query < end; ++query) {
            const auto start = static_cast<std::size_t>(queries[query]);
            const auto size = static_cast<std::size_t>(queries[query + 1]) - start;
            standardiser.standardise(rows.subspan(start, size), scores, standardised);
        }
    });
}

}  // namespace rankwright
