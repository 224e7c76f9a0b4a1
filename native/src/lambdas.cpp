#include "rankwright/lambdas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rankwright/pair_rows.hpp"
#include "rankwright/threads.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kQueriesAChunk = 32;
// Rows of pairs that share an anchor: so few that sums of floats over them stay exact enough, and no score so far
// below the anchor's that the ratio of two documents' odds is lost.
constexpr std::size_t kRowsATile = 64;
constexpr double kFarthestInTile = 16.0;
constexpr float kNobody = std::numeric_limits<float>::quiet_NaN();

// An array in whole, aligned blocks of lanes.
template <class T>
class Column {
  public:
    void resize(std::size_t size) { blocks_.resize((size + kLanes - 1) / kLanes); }
    std::size_t padded_size() const { return blocks_.size() * kLanes; }
    // Through a cast, since there may be no block whose lanes to ask for.
    T* data() { return reinterpret_cast<T*>(blocks_.data()); }
    const T* data() const { return reinterpret_cast<const T*>(blocks_.data()); }
    T& operator[](std::size_t place) { return data()[place]; }
    const T& operator[](std::size_t place) const { return data()[place]; }

  private:
    struct alignas(64) Block {
        T lanes[kLanes];
    };
    std::vector<Block> blocks_;
};

double at(Doubles values, std::int64_t row) { return values[static_cast<std::size_t>(row)]; }

// One query's documents, best first, and the sums over their pairs.
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
            // Relative to one of them, large labels that are close to each other stay different as floats.
            labels_[rank] = static_cast<float>(at(loss_.labels, ranked_[rank]) - at(loss_.labels, ranked_[0]));
        }
        std::fill(labels_.data() + size(), labels_.data() + labels_.padded_size(), kNobody);
        gradient_sums_.assign(size(), 0.0);
        hessian_sums_.assign(size(), 0.0);
        total_ = 0.0;
    }

    // Adds all pairs; `deltas` says how much each one counts.
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

    // Writes the sums where the rows of the query are; every delta was 1 / factor of what it should be.
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
    void resize() {
        scores_.resize(size());
        for (Column<float>* column : {&labels_, &below_, &odds_, &gradient_, &hessian_}) column->resize(size());
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
        while (last < std::min(n_rows, first + kRowsATile) &&
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
    Column<double> scores_;
    Column<float> labels_, below_, odds_, gradient_, hessian_;  // the last two are zero between tiles
    std::vector<double> gradient_sums_, hessian_sums_;
    double total_ = 0.0;
};

// A metric's deltas are prepared for each query in turn: prepare(pairs) returns the factor that row()'s deltas
// lack, 0 if the query has none; depth() is the rank from which on no two documents have any.
template <class MakeDeltas>
void sum_pairs(const PairLoss& loss, int n_threads, const Lambdas& lambdas, const MakeDeltas& make_deltas) {
    parallel_ranges(loss.queries.size() - 1, kQueriesAChunk, n_threads, [&](std::size_t first, std::size_t last) {
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

// |gain_i - gain_j| x |discount_i - discount_j|.
class LinearDeltas {
  public:
    LinearDeltas(std::span<const float> gains, const Column<float>& discounts, std::size_t depth,
                 Doubles query_factors)
        : gains_(gains), query_factors_(query_factors), depth_(depth), discounts_(discounts) {}

    double prepare(const QueryPairs& pairs) {
        rows_ = pairs.rows();
        ranked_gains_.resize(pairs.size());
        for (std::size_t rank = 0; rank < pairs.size(); ++rank)
            ranked_gains_[rank] = gains_[static_cast<std::size_t>(pairs.ranked()[rank])];
        return query_factors_[pairs.query()];
    }
    std::size_t depth() const { return depth_; }
    RowSums row(std::size_t upper, const PairColumns& documents) const {
        return rows_.linear_row(static_cast<std::int64_t>(upper), {ranked_gains_.data(), discounts_.data()},
                                documents);
    }

  private:
    std::span<const float> gains_;
    Doubles query_factors_;
    std::size_t depth_;
    const Column<float>& discounts_;
    Column<float> ranked_gains_;
    PairRows rows_{};
};

// Deltas that a metric writes a row at a time.
class WrittenDeltas {
  public:
    double start(const QueryPairs& pairs, std::size_t depth, double factor) {
        rows_ = pairs.rows();
        depth_ = depth;
        row_.resize(pairs.size());
        return factor;
    }
    std::size_t depth() const { return depth_; }

  protected:
    // delta(lower) for every lower rank.
    template <class Delta>
    RowSums write_row(std::size_t upper, const PairColumns& documents, const Delta& delta) {
        for (std::size_t lower = upper + 1; lower < static_cast<std::size_t>(documents.size); ++lower)
            row_[lower] = static_cast<float>(delta(lower));
        return rows_.given_row(static_cast<std::int64_t>(upper), row_.data(), documents);
    }

  private:
    std::size_t depth_ = 0;
    Column<float> row_;
    PairRows rows_{};
};

double inverse_rank(std::size_t rank, std::size_t depth) {
    return rank < depth ? 1.0 / static_cast<double>(rank + 1) : 0.0;
}

// A relevant document moves from one rank to the other, and each relevant one that it passes gains or loses one
// predecessor.
class AveragePrecisionDeltas : public WrittenDeltas {
  public:
    AveragePrecisionDeltas(Relevance relevance, std::size_t depth, bool capped)
        : labels_(relevance), most_ranks_(depth), capped_(capped) {}

    double prepare(const QueryPairs& pairs) {
        relevance_.resize(pairs.size());
        arrives_.resize(pairs.size());
        leaves_.resize(pairs.size());
        double found = 0.0, passed = 0.0;
        for (std::size_t rank = 0; rank < pairs.size(); ++rank) {
            const double inverse = inverse_rank(rank, most_ranks_);
            relevance_[rank] = at(labels_.labels, pairs.ranked()[rank]) >= labels_.threshold ? 1.0 : 0.0;
            found += relevance_[rank];
            leaves_[rank] = found * inverse - passed;
            passed += relevance_[rank] * inverse;
            arrives_[rank] = found * inverse - passed;
        }
        if (found == 0.0) return 0.0;
        const std::size_t depth = std::min(most_ranks_, pairs.size());
        return start(pairs, depth, 1.0 / (capped_ ? std::min(found, static_cast<double>(depth)) : found));
    }
    RowSums row(std::size_t upper, const PairColumns& documents) {
        const double relevance = relevance_[upper];
        const double arrives = arrives_[upper] + (1.0 - relevance) * inverse_rank(upper, most_ranks_);
        return write_row(upper, documents, [&](std::size_t lower) {
            return std::abs(relevance_[lower] - relevance) * std::abs(arrives - leaves_[lower]);
        });
    }

  private:
    Relevance labels_;
    std::size_t most_ranks_;
    bool capped_;
    std::vector<double> relevance_, arrives_, leaves_;
};

// Only a swap that changes which rank is the first relevant one counts.
class ReciprocalRankDeltas : public WrittenDeltas {
  public:
    ReciprocalRankDeltas(Relevance relevance, std::size_t depth) : labels_(relevance), most_ranks_(depth) {}

    double prepare(const QueryPairs& pairs) {
        ranked_ = pairs.ranked();
        first_ = next_relevant(0);
        if (first_ == pairs.size()) return 0.0;
        second_ = next_relevant(first_ + 1);
        return start(pairs, std::min(first_ + 1, most_ranks_), 1.0);
    }
    RowSums row(std::size_t upper, const PairColumns& documents) {
        const double own = inverse_rank(upper, most_ranks_);
        if (upper < first_) {  // any relevant document may come up to here
            const double gained = own - inverse_rank(first_, most_ranks_);
            return write_row(upper, documents,
                             [&](std::size_t lower) { return is_relevant(lower) ? gained : 0.0; });
        }
        return write_row(upper, documents, [&](std::size_t lower) {
            return is_relevant(lower) ? 0.0 : own - inverse_rank(std::min(lower, second_), most_ranks_);
        });
    }

  private:
    bool is_relevant(std::size_t rank) const { return at(labels_.labels, ranked_[rank]) >= labels_.threshold; }
    std::size_t next_relevant(std::size_t rank) const {
        while (rank < ranked_.size() && !is_relevant(rank)) ++rank;
        return rank;
    }

    Relevance labels_;
    std::size_t most_ranks_, first_ = 0, second_ = 0;
    Rows ranked_;
};

// With u the chance to read on from just below the upper rank to the lower one, and B the expectation of 1 / rank
// of a stop between the two, a swap changes the value by
//   P(reads as far as upper) (stop_lower - stop_upper) (1 / upper - B - u / lower).
class ExpectedReciprocalRankDeltas : public WrittenDeltas {
  public:
    ExpectedReciprocalRankDeltas(Doubles stop_probability, std::size_t depth)
        : stops_(stop_probability), most_ranks_(depth) {}

    double prepare(const QueryPairs& pairs) {
        ranked_ = pairs.ranked();
        reading_ = 1.0;
        return start(pairs, most_ranks_, 1.0);
    }
    // Rows come in order, each taking the reader one rank further.
    RowSums row(std::size_t upper, const PairColumns& documents) {
        const double stop = at(stops_, ranked_[upper]), reading = reading_;
        double u = 1.0, left = inverse_rank(upper, most_ranks_);
        reading_ *= 1.0 - stop;
        return write_row(upper, documents, [&](std::size_t lower) {
            const double other = at(stops_, ranked_[lower]), at_lower = u * inverse_rank(lower, most_ranks_);
            const double delta = reading * std::abs(other - stop) * std::abs(left - at_lower);
            left -= other * at_lower;
            u *= 1.0 - other;
            return delta;
        });
    }

  private:
    Doubles stops_;
    std::size_t most_ranks_;
    Rows ranked_;
    double reading_ = 1.0;
};

// Every pair alike.
class EvenDeltas : public WrittenDeltas {
  public:
    double prepare(const QueryPairs& pairs) { return start(pairs, pairs.size(), 1.0); }
    RowSums row(std::size_t upper, const PairColumns& documents) {
        return write_row(upper, documents, [](std::size_t) { return 1.0; });
    }
};

// A matrix, its values relative to the largest.
class GivenDeltas : public WrittenDeltas {
  public:
    explicit GivenDeltas(Doubles deltas) : deltas_(deltas) {}

    double prepare(const QueryPairs& pairs) {
        largest_ = *std::max_element(deltas_.begin(), deltas_.end());
        return start(pairs, pairs.size(), largest_);
    }
    RowSums row(std::size_t upper, const PairColumns& documents) {
        const std::size_t begin = upper * static_cast<std::size_t>(documents.size);
        return write_row(upper, documents, [&](std::size_t lower) { return deltas_[begin + lower] / largest_; });
    }

  private:
    Doubles deltas_;
    double largest_ = 0.0;
};

std::size_t longest_query(Offsets queries) {
    std::int64_t longest = 0;
    for (std::size_t query = 1; query < queries.size(); ++query)
        longest = std::max(longest, queries[query] - queries[query - 1]);
    return static_cast<std::size_t>(longest);
}

}  // namespace

void linear_lambdas(const PairLoss& loss, std::span<const float> gains, Doubles discounts, Doubles query_factors,
                    int n_threads, Lambdas lambdas) {
    Column<float> padded;  // with zeros
    padded.resize(std::max(longest_query(loss.queries), discounts.size()));
    std::transform(discounts.begin(), discounts.end(), padded.data(),
                   [](double discount) { return static_cast<float>(discount); });
    sum_pairs(loss, n_threads, lambdas,
              [&] { return LinearDeltas(gains, padded, discounts.size(), query_factors); });
}

void average_precision_lambdas(const PairLoss& loss, double threshold, std::size_t depth, bool capped,
                               int n_threads, Lambdas lambdas) {
    sum_pairs(loss, n_threads, lambdas,
              [&] { return AveragePrecisionDeltas({loss.labels, threshold}, depth, capped); });
}

void reciprocal_rank_lambdas(const PairLoss& loss, double threshold, std::size_t depth, int n_threads,
                             Lambdas lambdas) {
    sum_pairs(loss, n_threads, lambdas, [&] { return ReciprocalRankDeltas({loss.labels, threshold}, depth); });
}

void expected_reciprocal_rank_lambdas(const PairLoss& loss, Doubles stop_probability, std::size_t depth,
                                      int n_threads, Lambdas lambdas) {
    sum_pairs(loss, n_threads, lambdas, [&] { return ExpectedReciprocalRankDeltas(stop_probability, depth); });
}

void even_lambdas(const PairLoss& loss, int n_threads, Lambdas lambdas) {
    sum_pairs(loss, n_threads, lambdas, [&] { return EvenDeltas(); });
}

void given_lambdas(const PairLoss& loss, Doubles deltas, Lambdas lambdas) {
    sum_pairs(loss, 1, lambdas, [&] { return GivenDeltas(deltas); });
}

}  // namespace rankwright
