#include "metrics/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr double kEmpty = std::numeric_limits<double>::quiet_NaN();

// One query's documents, best first.
class RankedQuery {
  public:
    RankedQuery(const RankedQueries& ranked, std::size_t query)
        : order_(
              ranked.order.subspan(static_cast<std::size_t>(ranked.queries[query]),
                                   static_cast<std::size_t>(ranked.queries[query + 1] - ranked.queries[query]))),
          scores_(ranked.scores),
          average_ties_(ranked.average_ties && ranked.tied[query]) {}

    std::size_t size() const { return order_.size(); }

    bool averages_ties() const { return average_ties_; }

    double at(std::size_t rank, Doubles values) const { return values[static_cast<std::size_t>(order_[rank])]; }

    // The end of the run of equal scores that begins at `rank`; a run of one document if ties are not averaged.
    std::size_t run_end(std::size_t rank) const {
        std::size_t end = rank + 1;
        if (average_ties_)
            while (end < size() && at(end, scores_) == at(rank, scores_)) ++end;
        return end;
    }

    double mean(std::size_t begin, std::size_t end, Doubles values) const {
        double total = at(begin, values);
        for (std::size_t rank = begin + 1; rank < end; ++rank) total += at(rank, values);
        return total / static_cast<double>(end - begin);
    }

    double count(std::size_t begin, std::size_t end, const Relevance& relevance) const {
        std::size_t relevant = 0;
        for (std::size_t rank = begin; rank < end; ++rank)
            relevant += at(rank, relevance.labels) >= relevance.threshold;
        return static_cast<double>(relevant);
    }

    bool any_positive(Doubles values) const {
        for (std::size_t rank = 0; rank < size(); ++rank)
            if (at(rank, values) > 0.0) return true;
        return false;
    }

    // The highest `depth` values of the documents, in descending order.
    void best(Doubles values, std::size_t depth, std::vector<double>& sorted) const {
        sorted.resize(size());
        for (std::size_t rank = 0; rank < size(); ++rank) sorted[rank] = at(rank, values);
        std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(depth), sorted.end(),
                          std::greater<>());
    }

  private:
    Rows order_;
    Doubles scores_;
    bool average_ties_;
};

// values[q] = of_query(documents of query q), with many queries per chunk.
template <class OfQuery>
void evaluate(const RankedQueries& ranked, int n_threads, std::span<double> values, const OfQuery& of_query) {
    parallel_ranges(ranked.queries.size() - 1, 64, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t query = first; query < last; ++query)
            values[query] = of_query(RankedQuery(ranked, query));
    });
}

double discounted_gain(const RankedQuery& query, Doubles gains, Doubles discounts) {
    const std::size_t depth = std::min(query.size(), discounts.size());
    double total = 0.0;
    if (!query.averages_ties()) {
        for (std::size_t rank = 0; rank < depth; ++rank) total += query.at(rank, gains) * discounts[rank];
        return total;
    }
    for (std::size_t begin = 0, end; begin < depth; begin = end) {
        end = query.run_end(begin);
        const double mean = query.mean(begin, end, gains);
        for (std::size_t rank = begin; rank < std::min(end, depth); ++rank) total += mean * discounts[rank];
    }
    return total;
}

// A counting sort of gains, highest first, for the common case that all of them are small integers. Returns false
// if they are not.
bool sort_by_counting(const RankedQuery& query, Doubles gains, std::size_t depth, std::vector<double>& best) {
    std::array<std::uint32_t, 64> counts{};
    for (std::size_t rank = 0; rank < query.size(); ++rank) {
        const double gain = query.at(rank, gains);
        if (!(gain >= 0.0 && gain < static_cast<double>(counts.size()))) return false;
        const auto whole = static_cast<std::uint32_t>(gain);
        if (static_cast<double>(whole) != gain) return false;
        ++counts[whole];
    }
    best.clear();
    for (std::size_t gain = counts.size(); gain-- > 0 && best.size() < depth;)
        best.resize(std::min<std::size_t>(depth, best.size() + counts[gain]), static_cast<double>(gain));
    return true;
}

double ideal_gain(const RankedQuery& query, Doubles gains, Doubles discounts) {
    thread_local std::vector<double> best;
    const std::size_t depth = std::min(query.size(), discounts.size());
    if (!sort_by_counting(query, gains, depth, best)) query.best(gains, depth, best);
    double ideal = 0.0;
    for (std::size_t rank = 0; rank < depth; ++rank) ideal += best[rank] * discounts[rank];
    return ideal;
}

double mean_ndcg(const RankedQuery& query, Doubles gains, Doubles discounts) {
    std::vector<double> best;
    query.best(gains, query.size(), best);
    if (best.empty() || best.front() <= 0.0) return kEmpty;
    double reached = 0.0, ideal = 0.0, total = 0.0;
    for (std::size_t begin = 0, end; begin < query.size(); begin = end) {
        end = query.run_end(begin);
        const double mean = query.mean(begin, end, gains);
        for (std::size_t rank = begin; rank < end; ++rank) {
            reached += mean * discounts[rank];
            ideal += best[rank] * discounts[rank];
            total += reached / ideal;
        }
    }
    return total / static_cast<double>(query.size());
}

struct PrecisionSum {
    double precisions = 0.0;
    double relevant = 0.0;
};

// Without ties to average the loop needs no conditional jump; a jump on relevance would often be mispredicted.
PrecisionSum sum_precisions(const RankedQuery& query, const Relevance& relevance, std::size_t depth) {
    double total = 0.0;
    std::int64_t n_relevant = 0;
    for (std::size_t rank = 0; rank < depth; ++rank) {
        const std::int64_t relevant = query.at(rank, relevance.labels) >= relevance.threshold;
        n_relevant += relevant;
        total +=
            static_cast<double>(relevant * n_relevant) / static_cast<double>(static_cast<std::int64_t>(rank + 1));
    }
    return {total, static_cast<double>(n_relevant) + query.count(depth, query.size(), relevance)};
}

// In a run of m documents, r of them relevant, the document at any rank is relevant with probability r / m; given
// that, each document before it in the run is relevant with probability (r - 1) / (m - 1).
PrecisionSum expect_precisions(const RankedQuery& query, const Relevance& relevance, std::size_t depth) {
    PrecisionSum sum;
    for (std::size_t begin = 0, end; begin < query.size(); begin = end) {
        end = query.run_end(begin);
        const double relevant = query.count(begin, end, relevance);
        if (relevant == 0.0) continue;
        const auto run = static_cast<double>(end - begin);
        const double others = run > 1.0 ? (relevant - 1.0) / (run - 1.0) : 0.0;
        for (std::size_t rank = begin; rank < std::min(end, depth); ++rank) {
            const double above = sum.relevant + static_cast<double>(rank - begin) * others;
            sum.precisions += relevant / run * (above + 1.0) / static_cast<double>(rank + 1);
        }
        sum.relevant += relevant;
    }
    return sum;
}

double average_precision(const RankedQuery& query, const Relevance& relevance, std::size_t depth, bool capped) {
    depth = std::min(query.size(), depth);
    const PrecisionSum sum = query.averages_ties() ? expect_precisions(query, relevance, depth)
                                                   : sum_precisions(query, relevance, depth);
    if (sum.relevant == 0.0) return kEmpty;
    return sum.precisions / (capped ? std::min(sum.relevant, static_cast<double>(depth)) : sum.relevant);
}

// The probability that the first relevant document of a run is at a rank: none before it is relevant, and this one
// is.
double reciprocal_rank(const RankedQuery& query, const Relevance& relevance, std::size_t depth) {
    for (std::size_t begin = 0, end; begin < query.size(); begin = end) {
        end = query.run_end(begin);
        const double relevant = query.count(begin, end, relevance);
        if (relevant == 0.0) continue;
        double total = 0.0, none_yet = 1.0;
        for (std::size_t rank = begin; rank < std::min(end, depth) && none_yet > 0.0; ++rank) {
            const double first_here = std::min(1.0, relevant / static_cast<double>(end - rank));
            total += none_yet * first_here / static_cast<double>(rank + 1);
            none_yet *= 1.0 - first_here;
        }
        return total;
    }
    return kEmpty;
}

// reads_on[j] = mean over all j-subsets of a run of the probability to read past all of their documents. Documents
// are added one at a time: a random j-subset of n documents contains the newest one with probability j / n.
void add_to_run(std::vector<double>& reads_on, std::size_t n, double passes) {
    for (std::size_t j = std::min(n, reads_on.size() - 1); j >= 1; --j) {
        const double holds = static_cast<double>(j) / static_cast<double>(n);
        reads_on[j] = (1.0 - holds) * reads_on[j] + holds * passes * reads_on[j - 1];
    }
}

double expected_reciprocal_rank(const RankedQuery& query, Doubles stop_probability, std::size_t depth) {
    if (!query.any_positive(stop_probability)) return kEmpty;
    depth = std::min(query.size(), depth);
    double total = 0.0, still_reading = 1.0;
    std::vector<double> reads_on;
    for (std::size_t begin = 0, end; begin < depth; begin = end) {
        end = query.run_end(begin);
        reads_on.assign(std::min(end, depth) - begin + 1, 0.0);
        reads_on[0] = 1.0;
        for (std::size_t n = 1; n <= end - begin; ++n)
            add_to_run(reads_on, n, 1.0 - query.at(begin + n - 1, stop_probability));
        for (std::size_t j = 1; j < reads_on.size(); ++j)
            total += still_reading * (reads_on[j - 1] - reads_on[j]) / static_cast<double>(begin + j);
        still_reading *= reads_on.back();
    }
    return total;
}

// A Fenwick tree with the counts of labels so far, by the index of the label among the query's distinct labels.
class LabelCounts {
  public:
    explicit LabelCounts(std::size_t n_labels) : tree_(n_labels + 1, 0.0) {}
    void add(std::size_t label) {
        for (std::size_t node = label + 1; node < tree_.size(); node += node & (~node + 1)) tree_[node] += 1.0;
    }
    double below(std::size_t label) const {
        double total = 0.0;
        for (std::size_t node = label; node > 0; node &= node - 1) total += tree_[node];
        return total;
    }

  private:
    std::vector<double> tree_;
};

// The number of pairs with different labels, given the label index of each document.
double different_pairs(std::vector<std::size_t> labels) {
    std::sort(labels.begin(), labels.end());
    double same = 0.0;
    for (std::size_t begin = 0, end; begin < labels.size(); begin = end) {
        end = begin;
        while (end < labels.size() && labels[end] == labels[begin]) ++end;
        same += static_cast<double>(end - begin) * static_cast<double>(end - begin);
    }
    const auto n = static_cast<double>(labels.size());
    return (n * n - same) / 2.0;
}

// For every rank, the index of its label among the query's distinct labels.
std::vector<std::size_t> label_indices(const RankedQuery& query, Doubles labels) {
    std::vector<double> distinct(query.size());
    for (std::size_t rank = 0; rank < query.size(); ++rank) distinct[rank] = query.at(rank, labels);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    std::vector<std::size_t> indices(query.size());
    for (std::size_t rank = 0; rank < query.size(); ++rank)
        indices[rank] = static_cast<std::size_t>(
            std::lower_bound(distinct.begin(), distinct.end(), query.at(rank, labels)) - distinct.begin());
    return indices;
}

// Processes the runs of ties from the last to the first: a document is above all documents of the runs before.
double pair_accuracy(const RankedQuery& query, Doubles labels) {
    const std::vector<std::size_t> indices = label_indices(query, labels);
    const double pairs = different_pairs(indices);
    if (pairs == 0.0) return kEmpty;
    std::vector<std::size_t> run_starts;
    for (std::size_t begin = 0; begin < query.size(); begin = query.run_end(begin)) run_starts.push_back(begin);
    LabelCounts below(query.size());
    double correct = 0.0;
    for (std::size_t end = query.size(); !run_starts.empty(); run_starts.pop_back()) {
        const std::size_t begin = run_starts.back();
        const std::span run(indices.begin() + static_cast<std::ptrdiff_t>(begin), end - begin);
        for (std::size_t label : run) correct += below.below(label);
        if (run.size() > 1) correct += 0.5 * different_pairs({run.begin(), run.end()});
        for (std::size_t label : run) below.add(label);
        end = begin;
    }
    return correct / pairs;
}

}  // namespace

void discounted_gains(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads,
                      std::span<double> values) {
    evaluate(ranked, n_threads, values,
             [&](const RankedQuery& query) { return discounted_gain(query, gains, discounts); });
}

void ideal_gains(Offsets queries, Rows rows, Doubles gains, Doubles discounts, int n_threads,
                 std::span<double> ideals) {
    evaluate({queries, rows, {}, {}, false}, n_threads, ideals,
             [&](const RankedQuery& query) { return ideal_gain(query, gains, discounts); });
}

void ndcgs(const RankedQueries& ranked, Doubles gains, Doubles discounts, Doubles ideals, int n_threads,
           std::span<double> values) {
    discounted_gains(ranked, gains, discounts, n_threads, values);
    for (std::size_t query = 0; query < values.size(); ++query)
        values[query] = ideals[query] > 0.0 ? values[query] / ideals[query] : kEmpty;
}

void mean_ndcgs(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads,
                std::span<double> values) {
    evaluate(ranked, n_threads, values,
             [&](const RankedQuery& query) { return mean_ndcg(query, gains, discounts); });
}

void average_precisions(const RankedQueries& ranked, Relevance relevance, std::size_t depth, bool capped,
                        int n_threads, std::span<double> values) {
    evaluate(ranked, n_threads, values,
             [&](const RankedQuery& query) { return average_precision(query, relevance, depth, capped); });
}

void reciprocal_ranks(const RankedQueries& ranked, Relevance relevance, std::size_t depth, int n_threads,
                      std::span<double> values) {
    evaluate(ranked, n_threads, values,
             [&](const RankedQuery& query) { return reciprocal_rank(query, relevance, depth); });
}

void expected_reciprocal_ranks(const RankedQueries& ranked, Doubles stop_probability, std::size_t depth,
                               int n_threads, std::span<double> values) {
    evaluate(ranked, n_threads, values,
             [&](const RankedQuery& query) { return expected_reciprocal_rank(query, stop_probability, depth); });
}

void pair_accuracies(const RankedQueries& ranked, Doubles labels, int n_threads, std::span<double> values) {
    evaluate(ranked, n_threads, values, [&](const RankedQuery& query) { return pair_accuracy(query, labels); });
}

}  // namespace rankwright
