#include "queries/ranking.hpp"

#include <algorithm>
#include <vector>

#include "simd/kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

struct Entry {
    double score;
    double tie_break;
    std::size_t position;
    bool operator<(const Entry& other) const {
        if (score != other.score) return score > other.score;
        if (tie_break != other.tie_break) return tie_break < other.tie_break;
        return position < other.position;
    }
};

class QuerySorter {
  public:
    QuerySorter(Doubles scores, Doubles tie_break) : scores_(scores), tie_break_(tie_break) {}

    // Fills `order` and returns whether any two scores are equal.
    bool sort(Rows rows, std::span<std::int64_t> order) {
        sorted_scores_.resize(rows.size());
        if (!tie_break_.empty() || rows.size() >= kCountBelow || !by_counting(rows, order))
            by_comparing(rows, order);
        bool tied = false;
        for (std::size_t rank = 1; rank < rows.size(); ++rank)
            tied |= sorted_scores_[rank] == sorted_scores_[rank - 1];
        return tied;
    }

  private:
    // Ranks by counting, on scores rounded to floats, of which twice as many fit a register. Rounding can make
    // scores equal; if that has put a lower score first, returns false.
    bool by_counting(Rows rows, std::span<std::int64_t> order) {
        keys_.resize(rows.size() + kCountLanes);
        ranks_.resize(rows.size() + kCountLanes);
        for (std::size_t position = 0; position < rows.size(); ++position)
            keys_[position] = static_cast<float>(score(rows[position]));
        count_above(keys_.data(), static_cast<std::int64_t>(rows.size()), ranks_.data(), path_);
        for (std::size_t position = 0; position < rows.size(); ++position) {
            const auto rank = static_cast<std::size_t>(ranks_[position]);
            order[rank] = rows[position];
            sorted_scores_[rank] = score(rows[position]);
        }
        bool descending = true;
        for (std::size_t rank = 1; rank < rows.size(); ++rank)
            descending &= sorted_scores_[rank] <= sorted_scores_[rank - 1];
        return descending;
    }

    void by_comparing(Rows rows, std::span<std::int64_t> order) {
        entries_.resize(rows.size());
        for (std::size_t position = 0; position < rows.size(); ++position)
            entries_[position] = {score(rows[position]), tie_break(rows[position]), position};
        std::sort(entries_.begin(), entries_.end());
        for (std::size_t rank = 0; rank < rows.size(); ++rank) {
            order[rank] = rows[entries_[rank].position];
            sorted_scores_[rank] = entries_[rank].score;
        }
    }

    double score(std::int64_t row) const { return scores_[static_cast<std::size_t>(row)]; }
    double tie_break(std::int64_t row) const {
        return tie_break_.empty() ? 0.0 : tie_break_[static_cast<std::size_t>(row)];
    }

    Doubles scores_, tie_break_;
    const SimdPath path_ = widest_path();
    std::vector<float> keys_;
    std::vector<double> sorted_scores_;
    std::vector<std::int32_t> ranks_;
    std::vector<Entry> entries_;
};

}  // namespace

void sort_within_queries(Offsets queries, Rows rows, Doubles scores, Doubles tie_break, int n_threads,
                         std::span<std::int64_t> order, std::span<bool> tied) {
    const std::size_t n_queries = queries.size() - 1;
    parallel_ranges(n_queries, grain_for(n_queries, 64, n_threads), n_threads,
                    [&](std::size_t first, std::size_t last) {
                        QuerySorter sorter(scores, tie_break);
                        for (std::size_t query = first; query < last; ++query) {
                            const auto begin = static_cast<std::size_t>(queries[query]);
                            const auto size = static_cast<std::size_t>(queries[query + 1]) - begin;
                            tied[query] = sorter.sort(rows.subspan(begin, size), order.subspan(begin, size));
                        }
                    });
}

}  // namespace rankwright
