// How the scores after each round of a block are measured.
#pragma once
#include <memory>
#include <span>

#include "metrics/metrics.hpp"

namespace rankwright {

struct RoundMeasure {
    Offsets queries;
    Rows rows;
    bool average_ties;
    const RankMeasure& measure;
    bool shares_order;  // with the rule: both rank the same queries

    std::size_t n_queries() const { return queries.size() - 1; }
};

// Queries that are sorted after every round, in memory that is allocated once.
class RoundRanking {
  public:
    RoundRanking(Offsets queries, Rows rows)
        : queries_(queries),
          rows_(rows),
          order_(std::make_unique_for_overwrite<std::int64_t[]>(rows.size())),
          tied_(std::make_unique_for_overwrite<bool[]>(queries.size() - 1)) {}

    // The rows of every query, best first by the scores that were sorted last.
    Rows order() const { return {order_.get(), rows_.size()}; }

    void sort(Doubles scores, int n_threads) {
        sort_within_queries(queries_, rows_, scores, {}, n_threads, {order_.get(), rows_.size()},
                            {tied_.get(), queries_.size() - 1});
    }

    // The values of the queries, sorted by these scores.
    void measure(const RoundMeasure& by, Doubles scores, int n_threads, std::span<double> values) const {
        by.measure({queries_, order(), scores, {tied_.get(), queries_.size() - 1}, by.average_ties}, n_threads,
                   values);
    }

  private:
    Offsets queries_;
    Rows rows_;
    std::unique_ptr<std::int64_t[]> order_;
    std::unique_ptr<bool[]> tied_;
};

}  // namespace rankwright
