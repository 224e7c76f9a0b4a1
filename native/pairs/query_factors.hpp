// The factors of pair weights that pairs/pairs.hpp defines, of the documents of one query.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "pairs/pairs.hpp"

namespace rankwright {

struct QueryRows {
    std::size_t begin, end;
};

inline QueryRows rows_of(Offsets queries, std::size_t query) {
    return {static_cast<std::size_t>(queries[query]), static_cast<std::size_t>(queries[query + 1])};
}

// The factors of the documents of one query. The weight of a pair of documents i, j with labels a, b is
// factor(i, b) x factor(j, a) x scale(a, b).
class QueryFactors {
  public:
    explicit QueryFactors(std::size_t n_labels)
        : n_(n_labels), lowest_(n_labels), highest_(n_labels), sums_(n_labels * n_labels) {}

    void fill(const PairTask& task, QueryRows rows) {
        find_extremes(task, rows);
        factors_.assign((rows.end - rows.begin) * n_, 0.0);
        std::fill(sums_.begin(), sums_.end(), 0.0);
        log_scale_ = -kInfinite;
        for (std::size_t better = 1; better < n_; ++better)
            for (std::size_t worse = 0; worse < better; ++worse)
                if (both_occur(better, worse)) log_scale_ = std::max(log_scale_, log_scale(task, better, worse));
        if (log_scale_ == -kInfinite) return;
        for (std::size_t row = rows.begin; row < rows.end; ++row) fill_document(task, row, row - rows.begin);
    }

    // The logarithm of the largest weight of a pair, without shares; minus infinity if there are no pairs.
    double log_scale() const { return log_scale_; }
    double log_scale(const PairTask& task, std::size_t better, std::size_t worse) const {
        return task.strengths[better * n_ + worse] * (highest_[worse] - lowest_[better]);
    }
    bool has_pairs() const { return log_scale_ != -kInfinite; }
    bool both_occur(std::size_t label, std::size_t partner) const {
        return lowest_[label] <= highest_[label] && lowest_[partner] <= highest_[partner];
    }
    double* factors(std::size_t document) { return factors_.data() + document * n_; }
    double sum(std::size_t label, std::size_t partner) const { return sums_[label * n_ + partner]; }

  private:
    static constexpr double kInfinite = std::numeric_limits<double>::infinity();

    void find_extremes(const PairTask& task, QueryRows rows) {
        std::fill(lowest_.begin(), lowest_.end(), kInfinite);
        std::fill(highest_.begin(), highest_.end(), -kInfinite);
        for (std::size_t row = rows.begin; row < rows.end; ++row) {
            if (task.shares[row] == 0.0) continue;
            const std::size_t label = task.labels[row];
            lowest_[label] = std::min(lowest_[label], task.scores[row]);
            highest_[label] = std::max(highest_[label], task.scores[row]);
        }
    }

    void fill_document(const PairTask& task, std::size_t row, std::size_t document) {
        const std::size_t label = task.labels[row];
        const double share = task.shares[row], score = task.scores[row];
        if (share == 0.0) return;
        double* row_factors = factors(document);
        double last_power = 0.0, last_factor = share;  // labels of equal strength share an exponential
        for (std::size_t partner = 0; partner < n_; ++partner) {
            if (partner == label || !both_occur(label, partner)) continue;
            const double power = partner < label
                                     ? task.strengths[label * n_ + partner] * (lowest_[label] - score)
                                     : task.strengths[partner * n_ + label] * (score - highest_[label]);
            if (power != last_power) last_power = power, last_factor = share * std::exp(power);
            row_factors[partner] = last_factor;
            sums_[label * n_ + partner] += last_factor;
        }
    }

    std::size_t n_;
    std::vector<double> lowest_, highest_, sums_, factors_;
    double log_scale_ = -kInfinite;
};

}  // namespace rankwright
