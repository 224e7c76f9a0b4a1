// The sums over all pairs of a query's documents that pairs/lambdas.hpp defines, for any metric.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "pairs/lambdas.hpp"
#include "simd/pair_kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {

// An array padded to a multiple of kLanes and aligned for SIMD instructions.
template <class T>
class LaneColumn {
  public:
    void resize(std::size_t size) { blocks_.resize((size + kLanes - 1) / kLanes); }
    std::size_t padded_size() const { return blocks_.size() * kLanes; }
    // A cast, because an empty column has no block to point into.
    T* data() { return reinterpret_cast<T*>(blocks_.data()); }
    const T* data() const { return reinterpret_cast<const T*>(blocks_.data()); }
    T& operator[](std::size_t index) { return data()[index]; }
    const T& operator[](std::size_t index) const { return data()[index]; }

  private:
    struct alignas(64) Block {
        T lanes[kLanes];
    };
    std::vector<Block> blocks_;
};

// The documents of one query, best first, and the sums over their pairs.
class QueryPairs {
  public:
    explicit QueryPairs(const PairLoss& loss) : loss_(loss), rows_(pair_rows(loss.path)) {}

    std::size_t query() const { return query_; }
    Rows ranked() const { return ranked_; }
    std::size_t size() const { return ranked_.size(); }
    const PairRows& rows() const { return rows_; }

    void load(std::size_t query) {
        query_ = query;
        const auto begin = static_cast<std::size_t>(loss_.queries[query]);
        ranked_ = loss_.order.subspan(begin, static_cast<std::size_t>(loss_.queries[query + 1]) - begin);
        resize();
        for (std::size_t rank = 0; rank < size(); ++rank) {
            scores_[rank] = at(loss_.scores, ranked_[rank]);
            // Differences, so that large labels that are close together stay distinct in single precision.
            labels_[rank] = static_cast<float>(at(loss_.labels, ranked_[rank]) - at(loss_.labels, ranked_[0]));
        }
        std::fill(labels_.data() + size(), labels_.data() + labels_.padded_size(), kNoLabel);
        gradient_sums_.assign(size(), 0.0);
        hessian_sums_.assign(size(), 0.0);
        total_ = 0.0;
    }

    // Adds all pairs, each weighted by its delta.
    template <class Deltas>
    void add(Deltas& deltas) {
        const std::size_t n_rows = std::min({loss_.truncation, deltas.depth(), size()});
        for (std::size_t first = 0, last; first < n_rows; first = last) {
            last = tile_end(first, n_rows);
            const PairColumns documents = columns();
            rows_.measure_from(static_cast<std::int64_t>(first), scores_.data(), loss_.sigma, documents);
            for (std::size_t upper = first; upper < last; ++upper) add_row(upper, deltas.row(upper, documents));
            empty_columns(first);
        }
    }

    // Writes the sums to the rows of the query; `factor` multiplies all deltas.
    void write(double factor, const Lambdas& lambdas) const {
        const double gradient = factor * norm(2.0 * factor * total_) * weight();
        const double hessian = gradient * loss_.sigma;
        for (std::size_t rank = 0; rank < size(); ++rank) {
            const auto row = static_cast<std::size_t>(ranked_[rank]);
            lambdas.gradient[row] = gradient * gradient_sums_[rank];
            lambdas.hessian[row] = hessian * hessian_sums_[rank];
        }
    }

  private:
    // Rows of pairs that share an anchor: few enough for sums in single precision, and with scores close enough to
    // the anchor's that ratios of odds keep their precision.
    static constexpr std::size_t kTileRows = 64;
    static constexpr double kFarthestInTile = 16.0;
    static constexpr float kNoLabel = std::numeric_limits<float>::quiet_NaN();

    void resize() {
        scores_.resize(size());
        for (LaneColumn<float>* column : {&labels_, &below_, &odds_, &gradient_, &hessian_})
            column->resize(size());
    }

    PairColumns columns() {
        const bool damped = loss_.normalise && scores_[0] != scores_[size() - 1];
        return {static_cast<std::int64_t>(size()),
                labels_.data(),
                below_.data(),
                odds_.data(),
                gradient_.data(),
                hessian_.data(),
                damped ? 0.01f : 1.0f,
                damped ? 1.0f : 0.0f};
    }

    std::size_t tile_end(std::size_t first, std::size_t n_rows) const {
        std::size_t last = first + 1;
        while (last < std::min(n_rows, first + kTileRows) &&
               loss_.sigma * (scores_[first] - scores_[last]) <= kFarthestInTile)
            ++last;
        return last;
    }

    void add_row(std::size_t upper, const RowSums& sums) {
        gradient_sums_[upper] += static_cast<double>(sums.gradient);
        hessian_sums_[upper] += static_cast<double>(sums.hessian);
        total_ += static_cast<double>(sums.total);
    }

    void empty_columns(std::size_t first) {
        for (std::size_t rank = first; rank < size(); ++rank) {
            gradient_sums_[rank] += static_cast<double>(gradient_[rank]);
            hessian_sums_[rank] += static_cast<double>(hessian_[rank]);
        }
        std::fill_n(gradient_.data(), gradient_.padded_size(), 0.0f);
        std::fill_n(hessian_.data(), hessian_.padded_size(), 0.0f);
    }

    double norm(double total) const {
        return loss_.normalise && total > 0.0 ? std::log2(1.0 + total) / total : 1.0;
    }

    double weight() const { return loss_.query_weights.empty() ? 1.0 : loss_.query_weights[query_]; }

    const PairLoss& loss_;
    const PairRows rows_;
    std::size_t query_ = 0;
    Rows ranked_;
    LaneColumn<double> scores_;
    LaneColumn<float> labels_, below_, odds_, gradient_, hessian_;  // the last two are zero between tiles
    std::vector<double> gradient_sums_, hessian_sums_;
    double total_ = 0.0;
};

// Computes the lambdas of every query. Deltas are those of a metric: prepare(pairs) starts a query and returns the
// factor by which all its deltas are multiplied (0 skips the query), row(upper, documents) adds the pairs of one
// document, and all deltas between documents below rank depth() are 0.
template <class MakeDeltas>
void sum_pairs(const PairLoss& loss, int n_threads, const Lambdas& lambdas, const MakeDeltas& make_deltas) {
    const std::size_t n_queries = loss.queries.size() - 1;
    parallel_ranges(n_queries, grain_for(n_queries, 32, n_threads), n_threads,
                    [&](std::size_t first, std::size_t last) {
                        QueryPairs pairs(loss);
                        auto deltas = make_deltas();
                        for (std::size_t query = first; query < last; ++query) {
                            pairs.load(query);
                            const double factor = pairs.size() > 1 ? deltas.prepare(pairs) : 0.0;
                            if (factor != 0.0) pairs.add(deltas);
                            pairs.write(factor, lambdas);
                        }
                    });
}

}  // namespace rankwright
