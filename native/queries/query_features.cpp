#include "queries/query_features.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "simd/kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

// Features of a query that are computed together, so that sums run side by side.
constexpr std::size_t kWidth = 8;
template <class T>
using Block = std::array<T, kWidth>;

// Below this many documents, comparing every pair with SIMD instructions is faster than sorting.
constexpr std::size_t kCountBelow = 256;

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
        values_.resize(rows.size());
        for (std::size_t position = 0; position < rows.size(); ++position) {
            values_[position] = {};  // also in the lanes that are not used
            const float* row = values.data() + static_cast<std::size_t>(rows[position]) * n_features + first;
            copy_lanes(row, values_[position].data());
        }
        find_range();
        if (needs_order_) sort();
    }

    // Writes a column of the kind for each feature, beginning at column `first` of each row.
    void write(QueryColumn kind, std::span<float> columns, std::size_t width, std::size_t first) {
        if (kind == QueryColumn::rank) return write_ranks(columns, width, first);
        Block<double> centre, scale;
        if (kind == QueryColumn::zscore)
            find_moments(centre, scale);
        else
            for (std::size_t lane = 0; lane < kWidth; ++lane) {
                centre[lane] = low_[lane];
                scale[lane] = or_one(static_cast<double>(high_[lane]) - low_[lane]);
            }
        // Adding 0.0 turns -0.0 into 0.0: which of 0.0 and -0.0 is the lowest depends on the order of documents.
        const double zero = kind == QueryColumn::minmax ? 0.0 : -0.0;
        each_row(columns, width, first, [&](std::size_t position, std::size_t lane) {
            return static_cast<float>((values_[position][lane] - centre[lane]) / scale[lane] + zero);
        });
    }

    void write_features(std::span<float> columns, std::size_t width, std::size_t first) {
        each_row(columns, width, first,
                 [&](std::size_t position, std::size_t lane) { return values_[position][lane]; });
    }

  private:
    template <class Value>
    void each_row(std::span<float> columns, std::size_t width, std::size_t first, const Value& value) {
        for (std::size_t position = 0; position < rows_.size(); ++position) {
            Block<float> made;
            for (std::size_t lane = 0; lane < kWidth; ++lane) made[lane] = value(position, lane);
            copy_lanes(made.data(), columns.data() + static_cast<std::size_t>(rows_[position]) * width + first);
        }
    }

    void copy_lanes(const float* from, float* to) const {
        if (n_lanes_ == kWidth)
            std::copy_n(from, kWidth, to);  // of constant size, which is much faster
        else
            std::copy_n(from, n_lanes_, to);
    }

    // The number of values that are not missing, the lowest and the highest.
    void find_range() {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        known_.fill(0);
        low_.fill(infinity);
        high_.fill(-infinity);
        for (const Block<float>& row : values_)
            for (std::size_t lane = 0; lane < kWidth; ++lane) {  // comparisons with NaN are false
                known_[lane] += row[lane] == row[lane];
                low_[lane] = row[lane] < low_[lane] ? row[lane] : low_[lane];
                high_[lane] = row[lane] > high_[lane] ? row[lane] : high_[lane];
            }
    }

    // Finds the rank of each value, missing ones last, and puts the values in this order.
    void sort() {
        const std::size_t size = rows_.size();
        keys_.resize(size + kCountLanes);
        sorted_.resize(size);
        for (std::size_t lane = 0; lane < kWidth; ++lane) {
            auto& ranks = ranks_[lane];
            ranks.resize(size + kCountLanes);
            if (size < kCountBelow)
                rank_by_counting(lane, ranks);
            else
                rank_by_sorting(lane, ranks);
            for (std::size_t position = 0; position < size; ++position)
                sorted_[static_cast<std::size_t>(ranks[position])][lane] = values_[position][lane];
        }
    }

    void rank_by_counting(std::size_t lane, std::vector<std::int32_t>& ranks) {
        for (std::size_t position = 0; position < rows_.size(); ++position) {
            const float value = values_[position][lane];
            keys_[position] = std::isnan(value) ? -std::numeric_limits<float>::infinity() : -value;
        }
        count_above(keys_.data(), static_cast<std::int64_t>(rows_.size()), ranks.data(), path_);
    }

    void rank_by_sorting(std::size_t lane, std::vector<std::int32_t>& ranks) {
        entries_.resize(rows_.size());
        for (std::size_t position = 0; position < rows_.size(); ++position) {
            const float value = values_[position][lane];
            entries_[position] = {std::isnan(value) ? ~0u : ordered_bits(value),
                                  static_cast<std::uint32_t>(position)};
        }
        radix_sort(entries_, other_entries_);
        for (std::size_t rank = 0; rank < entries_.size(); ++rank)
            ranks[entries_[rank].position] = static_cast<std::int32_t>(rank);
    }

    void find_moments(Block<double>& mean, Block<double>& deviation) {
        Block<double> sum{}, squares{}, count;
        for (std::size_t lane = 0; lane < kWidth; ++lane) count[lane] = std::max(1, known_[lane]);
        for (const Block<double>& row : sorted_)
            for (std::size_t lane = 0; lane < kWidth; ++lane)
                sum[lane] += row[lane] == row[lane] ? row[lane] : 0.0;
        for (std::size_t lane = 0; lane < kWidth; ++lane) mean[lane] = sum[lane] / count[lane];
        for (const Block<double>& row : sorted_)
            for (std::size_t lane = 0; lane < kWidth; ++lane) {
                const double distance = row[lane] - mean[lane];
                squares[lane] += distance == distance ? distance * distance : 0.0;
            }
        for (std::size_t lane = 0; lane < kWidth; ++lane)
            deviation[lane] = or_one(std::sqrt(squares[lane] / count[lane]));
    }

    void write_ranks(std::span<float> columns, std::size_t width, std::size_t first) {
        find_rank_values();
        each_row(columns, width, first, [&](std::size_t position, std::size_t lane) {
            return static_cast<float>(rank_values_[static_cast<std::size_t>(ranks_[lane][position])][lane]);
        });
    }

    // The rank column of each sorted value: equal values have the ranks from low to high, and all get the middle.
    void find_rank_values() {
        rank_values_.resize(sorted_.size());
        Block<double> low{}, high{}, single, others;
        for (std::size_t lane = 0; lane < kWidth; ++lane) {
            single[lane] = known_[lane] > 1 ? 0.0 : 1.0;
            others[lane] = std::max(1, known_[lane] - 1);
        }
        for (std::size_t rank = 0; rank < sorted_.size(); ++rank) {
            const Block<double>&current = sorted_[rank], &before = sorted_[rank - (rank > 0)];
            for (std::size_t lane = 0; lane < kWidth; ++lane) {
                low[lane] = current[lane] == before[lane] ? low[lane] : static_cast<double>(rank);
                rank_values_[rank][lane] = low[lane];
            }
        }
        for (std::size_t rank = sorted_.size(); rank-- > 0;) {
            const Block<double>&current = sorted_[rank], &after = sorted_[rank + (rank + 1 < sorted_.size())];
            for (std::size_t lane = 0; lane < kWidth; ++lane) {
                const bool tied = current[lane] == after[lane] && rank + 1 < sorted_.size();
                high[lane] = tied ? high[lane] : static_cast<double>(rank);
                const double middle = (rank_values_[rank][lane] + high[lane] + single[lane]) / 2.0 / others[lane];
                rank_values_[rank][lane] = current[lane] == current[lane] ? middle : current[lane];
            }
        }
    }

    const bool needs_order_;
    const SimdPath path_ = widest_path();
    Rows rows_;
    std::size_t n_lanes_ = 0;
    std::vector<Block<float>> values_;        // by position
    std::vector<Block<double>> sorted_;       // by rank
    std::vector<Block<double>> rank_values_;  // by rank
    Block<std::vector<std::int32_t>> ranks_;
    Block<std::int32_t> known_;
    Block<float> low_, high_;
    std::vector<float> keys_;
    std::vector<Entry> entries_, other_entries_;
};

double pairwise_sum(Doubles values) {
    if (values.size() > 128) {
        const std::size_t half = values.size() / 16 * 8;
        return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
    }
    double total = 0.0;
    const std::size_t whole = values.size() / kWidth * kWidth;
    if (whole > 0) {
        Block<double> sums{};
        for (std::size_t start = 0; start < whole; start += kWidth)
            for (std::size_t lane = 0; lane < kWidth; ++lane) sums[lane] += values[start + lane];
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
