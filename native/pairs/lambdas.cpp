#include "pairs/lambdas.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pairs/query_pairs.hpp"

namespace rankwright {
namespace {

// |gain_i - gain_j| x |discount_i - discount_j|.
class LinearDeltas {
  public:
    LinearDeltas(std::span<const float> gains, Doubles query_factors)
        : gains_(gains), query_factors_(query_factors) {}

    // The discounts of the ranks, which must outlive this object; those from rank `depth` on are equal.
    void use(const LaneColumn<float>& discounts, std::size_t depth) {
        discounts_ = &discounts;
        depth_ = depth;
    }

    double prepare(const QueryPairs& pairs) {
        rows_ = pairs.rows();
        ranked_gains_.resize(pairs.size());
        for (std::size_t rank = 0; rank < pairs.size(); ++rank)
            ranked_gains_[rank] = gains_[static_cast<std::size_t>(pairs.ranked()[rank])];
        return query_factors_[pairs.query()];
    }
    std::size_t depth() const { return depth_; }
    RowSums row(std::size_t upper, const PairColumns& documents) const {
        return rows_.linear_row(static_cast<std::int64_t>(upper), {ranked_gains_.data(), discounts_->data()},
                                documents);
    }

  private:
    std::span<const float> gains_;
    Doubles query_factors_;
    std::size_t depth_ = 0;
    const LaneColumn<float>* discounts_ = nullptr;
    LaneColumn<float> ranked_gains_;
    PairRows rows_{};
};

// The same with the query's own discounts.
class QueryLinearDeltas : public LinearDeltas {
  public:
    QueryLinearDeltas(std::span<const float> gains, Offsets queries, Doubles discounts, Doubles query_factors)
        : LinearDeltas(gains, query_factors), queries_(queries), discounts_(discounts) {}

    double prepare(const QueryPairs& pairs) {
        const Doubles query_discounts =
            discounts_.subspan(static_cast<std::size_t>(queries_[pairs.query()]), pairs.size());
        ranked_discounts_.resize(query_discounts.size());
        std::transform(query_discounts.begin(), query_discounts.end(), ranked_discounts_.data(),
                       [](double discount) { return static_cast<float>(discount); });
        std::size_t depth = query_discounts.size();
        while (depth > 0 && query_discounts[depth - 1] == query_discounts.back()) --depth;
        use(ranked_discounts_, depth);
        return LinearDeltas::prepare(pairs);
    }

  private:
    Offsets queries_;
    Doubles discounts_;
    LaneColumn<float> ranked_discounts_;
};

// Deltas that a metric computes one row at a time.
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
    LaneColumn<float> row_;
    PairRows rows_{};
};

double inverse_rank(std::size_t rank, std::size_t depth) {
    return rank < depth ? 1.0 / static_cast<double>(rank + 1) : 0.0;
}

// A relevant document moves from one rank to the other, and each relevant document in between gains or loses one
// relevant predecessor.
class AveragePrecisionDeltas : public WrittenDeltas {
  public:
    AveragePrecisionDeltas(Relevance relevance, std::size_t depth, bool capped)
        : labels_(relevance), most_ranks_(depth), capped_(capped) {}

    double prepare(const QueryPairs& pairs) {
        relevance_.resize(pairs.size());
        arrives_.resize(pairs.size());
        leaves_.resize(pairs.size());
        double n_relevant = 0.0, passed = 0.0;
        for (std::size_t rank = 0; rank < pairs.size(); ++rank) {
            const double inverse = inverse_rank(rank, most_ranks_);
            relevance_[rank] = at(labels_.labels, pairs.ranked()[rank]) >= labels_.threshold ? 1.0 : 0.0;
            n_relevant += relevance_[rank];
            leaves_[rank] = n_relevant * inverse - passed;
            passed += relevance_[rank] * inverse;
            arrives_[rank] = n_relevant * inverse - passed;
        }
        if (n_relevant == 0.0) return 0.0;
        const std::size_t depth = std::min(most_ranks_, pairs.size());
        return start(pairs, depth,
                     1.0 / (capped_ ? std::min(n_relevant, static_cast<double>(depth)) : n_relevant));
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

// Only swaps that change the rank of the first relevant document count.
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
        const double upper_value = inverse_rank(upper, most_ranks_);
        if (upper < first_) {  // a relevant document moves up to this rank
            const double gained = upper_value - inverse_rank(first_, most_ranks_);
            return write_row(upper, documents,
                             [&](std::size_t lower) { return is_relevant(lower) ? gained : 0.0; });
        }
        return write_row(upper, documents, [&](std::size_t lower) {
            return is_relevant(lower) ? 0.0 : upper_value - inverse_rank(std::min(lower, second_), most_ranks_);
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

// With u the probability of reading on from just below the upper rank to the lower one, and B the expectation of
// 1 / rank of a stop between the two, a swap changes the value by
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
    // Rows are processed in order of rank.
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

// The same delta for every pair.
class EvenDeltas : public WrittenDeltas {
  public:
    double prepare(const QueryPairs& pairs) { return start(pairs, pairs.size(), 1.0); }
    RowSums row(std::size_t upper, const PairColumns& documents) {
        return write_row(upper, documents, [](std::size_t) { return 1.0; });
    }
};

// The caller's rows of deltas, scaled by their maximum.
class GivenDeltas : public WrittenDeltas {
  public:
    explicit GivenDeltas(Doubles deltas) : deltas_(deltas) {}

    double prepare(const QueryPairs& pairs) {
        largest_ = *std::max_element(deltas_.begin(), deltas_.end());
        return start(pairs, deltas_.size() / pairs.size(), largest_);
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
    LaneColumn<float> padded;  // with zeros
    padded.resize(std::max(longest_query(loss.queries), discounts.size()));
    std::transform(discounts.begin(), discounts.end(), padded.data(),
                   [](double discount) { return static_cast<float>(discount); });
    sum_pairs(loss, n_threads, lambdas, [&] {
        LinearDeltas deltas(gains, query_factors);
        deltas.use(padded, discounts.size());
        return deltas;
    });
}

void linear_by_query_lambdas(const PairLoss& loss, std::span<const float> gains, Doubles discounts,
                             Doubles query_factors, int n_threads, Lambdas lambdas) {
    sum_pairs(loss, n_threads, lambdas,
              [&] { return QueryLinearDeltas(gains, loss.queries, discounts, query_factors); });
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
