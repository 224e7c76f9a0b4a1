#include "metrics/sweep.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "metrics/query_sweeper.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

// Integer units per 1.0 of the metric: as many as 64 bits allow for a total of `most` over all queries. Some room
// is left, since between crossings that rounding has put in the wrong order a total may be a little higher.
double unit_for(double most) {
    return most > 0.0 ? std::ldexp(1.0, std::clamp(57 - std::ilogb(most), -1000, 1023)) : 1.0;
}

// Merges the changes of all queries into one list by ascending alpha, one entry per alpha.
void merge(std::vector<MetricChange>& changes, double unit, Sweep& sweep) {
    AlphaSorter<MetricChange>().sort(changes);
    sweep.alphas.clear();
    sweep.changes.clear();
    std::int64_t total = 0, last = 0;
    for (std::size_t next = 0; next < changes.size(); ++next) {
        total += changes[next].amount;
        if (next + 1 < changes.size() && changes[next + 1].alpha == changes[next].alpha) continue;
        if (total == last) continue;
        sweep.alphas.push_back(changes[next].alpha);
        sweep.changes.push_back(static_cast<double>(total) / unit);
        last = total;
    }
}

template <class Measure>
void sweep_queries(const Lines& lines, const Measure& measure, double unit, int n_threads,
                   std::span<double> starts, Sweep& sweep) {
    constexpr std::size_t kChunk = 16;
    const std::size_t n_queries = lines.queries.size() - 1;
    std::vector<std::vector<MetricChange>> chunk_changes((n_queries + kChunk - 1) / kChunk);
    parallel_ranges(n_queries, kChunk, n_threads, [&](std::size_t first, std::size_t last) {
        QuerySweeper<Measure> sweeper(lines, measure);
        for (std::size_t query = first; query < last; ++query)
            starts[query] = static_cast<double>(sweeper.sweep(query, chunk_changes[first / kChunk])) / unit;
    });
    std::vector<MetricChange> changes;
    std::size_t total = 0;
    for (const auto& chunk : chunk_changes) total += chunk.size();
    changes.reserve(total);
    for (const auto& chunk : chunk_changes) changes.insert(changes.end(), chunk.begin(), chunk.end());
    chunk_changes.clear();
    merge(changes, unit, sweep);
}

std::int64_t whole(double units) { return static_cast<std::int64_t>(units); }

// Tied documents share their ranks: the mean gain x the sum of the weights of these ranks.
class GainMeasure {
  public:
    GainMeasure(const Lines& lines, Doubles gains, Doubles rank_weights, double unit)
        : lines_(lines), gains_(gains), rank_weights_(rank_weights), unit_(unit) {}

    void begin(std::size_t query, Rows rows, std::span<const SweepEntry> entries) {
        const auto first = static_cast<std::size_t>(lines_.queries[query]);
        sums_.assign(rows.size() + 1, 0.0);
        for (std::size_t rank = 0; rank < rows.size(); ++rank)
            sums_[rank + 1] = sums_[rank] + rank_weights_[first + rank];
        terms_.clear();
        for (const SweepEntry& entry : entries) {
            double total = 0.0;
            for (std::size_t position = entry.begin; position < entry.end; ++position)
                total += at(gains_, rows[position]);
            terms_.push_back({total / entry.size() * unit_, entry.size()});
        }
    }
    double more(std::int64_t row) const { return at(gains_, row); }
    std::int64_t weight(Count) const { return 0; }
    std::int64_t value(Count entry, Count above, std::int64_t) const {
        const auto [gain, size] = terms_[entry];
        return whole(gain * (sums_[above + size] - sums_[above]));
    }

  private:
    struct Term {
        double gain;
        Count size;
    };
    const Lines& lines_;
    Doubles gains_, rank_weights_;
    double unit_;
    std::vector<double> sums_;
    std::vector<Term> terms_;
};

// Counts the relevant documents of each entry and of the query, for the two metrics of relevant documents.
class RelevanceMeasure {
  public:
    RelevanceMeasure(Relevance relevance, std::size_t depth, double unit)
        : depth_(depth), unit_(unit), relevance_(relevance) {}

    void begin(std::size_t, Rows rows, std::span<const SweepEntry> entries) {
        terms_.clear();
        n_relevant_ = 0;
        for (const SweepEntry& entry : entries) {
            Count relevant = 0;
            for (std::size_t position = entry.begin; position < entry.end; ++position)
                relevant += more(rows[position]) > 0.0;
            terms_.push_back({entry.size(), relevant});
            n_relevant_ += relevant;
        }
    }
    double more(std::int64_t row) const { return at(relevance_.labels, row) >= relevance_.threshold ? 1.0 : 0.0; }
    std::int64_t weight(Count entry) const { return terms_[entry].relevant; }

  protected:
    struct Term {
        Count size, relevant;
    };
    // The end of the ranks that begin after `above` documents: that of the entry, or the cut-off.
    std::size_t last_rank(Count above, Count size) const { return std::min<std::size_t>(depth_, above + size); }

    std::size_t depth_;
    double unit_;
    std::size_t n_relevant_ = 0;
    std::vector<Term> terms_;

  private:
    Relevance relevance_;
};

class AveragePrecisionMeasure : public RelevanceMeasure {
  public:
    AveragePrecisionMeasure(Relevance relevance, std::size_t depth, bool capped, double unit)
        : RelevanceMeasure(relevance, depth, unit), capped_(capped) {}

    void begin(std::size_t query, Rows rows, std::span<const SweepEntry> entries) {
        RelevanceMeasure::begin(query, rows, entries);
        const std::size_t depth = std::min(depth_, rows.size());
        const std::size_t counted = capped_ ? std::min(n_relevant_, depth) : n_relevant_;
        unit_per_relevant_ = unit_ / static_cast<double>(std::max<std::size_t>(1, counted));
    }
    // See expect_precisions in metrics.cpp.
    std::int64_t value(Count entry, Count above, std::int64_t relevant_above) const {
        const auto [size, relevant] = terms_[entry];
        if (relevant == 0) return 0;
        const double others = size > 1 ? (relevant - 1.0) / (size - 1.0) : 0.0;
        double precisions = 0.0, expected_relevant = static_cast<double>(relevant_above) + 1.0;
        for (std::size_t rank = above; rank < last_rank(above, size); ++rank, expected_relevant += others)
            precisions += expected_relevant / static_cast<double>(rank + 1);
        return whole(precisions * relevant / size * unit_per_relevant_);
    }

  private:
    bool capped_;
    double unit_per_relevant_ = 0.0;
};

class ReciprocalRankMeasure : public RelevanceMeasure {
  public:
    using RelevanceMeasure::RelevanceMeasure;

    // See reciprocal_rank in metrics.cpp.
    std::int64_t value(Count entry, Count above, std::int64_t relevant_above) const {
        const auto [size, relevant] = terms_[entry];
        if (relevant == 0 || relevant_above > 0) return 0;
        double total = 0.0, none_yet = 1.0;
        for (std::size_t rank = above; rank < last_rank(above, size) && none_yet > 0.0; ++rank) {
            const double first_here = std::min(1.0, relevant / static_cast<double>(above + size - rank));
            total += none_yet * first_here / static_cast<double>(rank + 1);
            none_yet *= 1.0 - first_here;
        }
        return whole(total * unit_);
    }
};

// The probability of reading past the entries above is the exponential of a sum of logarithms, kept as integers.
class ExpectedReciprocalRankMeasure {
  public:
    ExpectedReciprocalRankMeasure(Doubles stop_probability, std::size_t depth, double unit)
        : stops_(stop_probability), depth_(depth), unit_(unit) {}

    void begin(std::size_t, Rows rows, std::span<const SweepEntry> entries) {
        // The logarithm of a probability of 2^-64 or more is above -64.
        log_unit_ = std::ldexp(1.0, 56 - static_cast<int>(std::bit_width(rows.size())));
        drops_.clear();
        terms_.clear();
        for (const SweepEntry& entry : entries) {
            double logarithm = 0.0;
            reads_on_.assign(entry.size() + std::size_t{1}, 0.0);
            reads_on_[0] = 1.0;
            for (std::size_t n = 1; n <= entry.size(); ++n) {
                const double passes = 1.0 - at(stops_, rows[entry.begin + n - 1]);
                logarithm += std::max(-64.0, std::log(passes));
                add_to_run(n, passes);
            }
            terms_.push_back({drops_.size(), entry.size(), whole(logarithm * log_unit_)});
            for (std::size_t n = 1; n <= entry.size(); ++n) drops_.push_back(reads_on_[n - 1] - reads_on_[n]);
        }
    }
    double more(std::int64_t row) const { return at(stops_, row); }
    std::int64_t weight(Count entry) const { return terms_[entry].logarithm; }
    // See expected_reciprocal_rank in metrics.cpp.
    std::int64_t value(Count entry, Count above, std::int64_t logarithm_above) const {
        const auto [first, size, own] = terms_[entry];
        if (own == 0 || above >= depth_) return 0;
        double total = 0.0;
        for (std::size_t rank = above; rank < std::min<std::size_t>(depth_, above + size); ++rank)
            total += drops_[first + rank - above] / static_cast<double>(rank + 1);
        return whole(total * std::exp(static_cast<double>(logarithm_above) / log_unit_) * unit_);
    }

  private:
    // See add_to_run in metrics.cpp.
    void add_to_run(std::size_t n, double passes) {
        for (std::size_t j = n; j >= 1; --j) {
            const double holds = static_cast<double>(j) / static_cast<double>(n);
            reads_on_[j] = (1.0 - holds) * reads_on_[j] + holds * passes * reads_on_[j - 1];
        }
    }

    struct Term {
        std::size_t first;  // index of its first drop; a drop is the probability of stopping at one of its ranks
        Count size;
        std::int64_t logarithm;
    };
    Doubles stops_;
    std::size_t depth_;
    double unit_, log_unit_ = 1.0;
    std::vector<double> reads_on_, drops_;
    std::vector<Term> terms_;
};

// An upper bound on the sum of |gain x weight| over all queries.
double most_gain(const Lines& lines, Doubles gains, Doubles rank_weights) {
    double total = 0.0;
    for (std::size_t query = 0; query + 1 < lines.queries.size(); ++query) {
        double gain = 0.0, weight = 0.0;
        for (auto position = static_cast<std::size_t>(lines.queries[query]);
             position < static_cast<std::size_t>(lines.queries[query + 1]); ++position) {
            gain = std::max(gain, std::abs(at(gains, lines.rows[position])));
            weight += std::abs(rank_weights[position]);
        }
        total += gain * weight;
    }
    return total;
}

double n_queries(const Lines& lines) { return static_cast<double>(lines.queries.size()); }

}  // namespace

bool gains_add_up(const Lines& lines, Doubles gains, Doubles rank_weights) {
    const double most = most_gain(lines, gains, rank_weights);
    if (!std::isfinite(most)) return false;
    double gain = 0.0, weight = 0.0;
    for (double value : gains) gain += std::abs(value);
    for (double value : rank_weights) weight += std::abs(value);
    return std::isfinite(gain * unit_for(most)) && std::isfinite(weight);
}

void sweep_gains(const Lines& lines, Doubles gains, Doubles rank_weights, int n_threads, std::span<double> starts,
                 Sweep& sweep) {
    const double unit = unit_for(most_gain(lines, gains, rank_weights));
    sweep_queries(lines, GainMeasure(lines, gains, rank_weights, unit), unit, n_threads, starts, sweep);
}

void sweep_average_precisions(const Lines& lines, Relevance relevance, std::size_t depth, bool capped,
                              int n_threads, std::span<double> starts, Sweep& sweep) {
    const double unit = unit_for(n_queries(lines));
    sweep_queries(lines, AveragePrecisionMeasure(relevance, depth, capped, unit), unit, n_threads, starts, sweep);
}

void sweep_reciprocal_ranks(const Lines& lines, Relevance relevance, std::size_t depth, int n_threads,
                            std::span<double> starts, Sweep& sweep) {
    const double unit = unit_for(n_queries(lines));
    sweep_queries(lines, ReciprocalRankMeasure(relevance, depth, unit), unit, n_threads, starts, sweep);
}

void sweep_expected_reciprocal_ranks(const Lines& lines, Doubles stop_probability, std::size_t depth,
                                     int n_threads, std::span<double> starts, Sweep& sweep) {
    const double unit = unit_for(n_queries(lines));
    sweep_queries(lines, ExpectedReciprocalRankMeasure(stop_probability, depth, unit), unit, n_threads, starts,
                  sweep);
}

}  // namespace rankwright
