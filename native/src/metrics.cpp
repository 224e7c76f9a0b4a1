#include "rankwright/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "rankwright/threads.hpp"

namespace rankwright {
namespace {

// One query's documents, best first.
class RankedQuery {
  public:
    RankedQuery(const RankedQueries& ranked, std::size_t query)
        : order_(
              ranked.order.subspan(static_cast<std::size_t>(ranked.queries[query]),
                                   static_cast<std::size_t>(ranked.queries[query + 1] - ranked.queries[query]))),
          scores_(ranked.scores),
          average_ties_(ranked.average_ties) {}

    std::size_t size() const { return order_.size(); }

    double at(std::size_t rank, Doubles values) const { return values[static_cast<std::size_t>(order_[rank])]; }

    // The end of the run of equal scores that begins at `rank`; a run of one where ties do not matter.
    std::size_t run_end(std::size_t rank) const {
        std::size_t end = rank + 1;
        if (average_ties_)
            while (end < size() && at(end, scores_) == at(rank, scores_)) ++end;
        return end;
    }

    double sum(std::size_t begin, std::size_t end, Doubles values) const {
        double total = 0.0;
        for (std::size_t rank = begin; rank < end; ++rank) total += at(rank, values);
        return total;
    }

  private:
    Rows order_;
    Doubles scores_;
    bool average_ties_;
};

// values[q] = of_query(query q), many queries to a chunk.
template <class OfQuery>
void for_each_query(const RankedQueries& ranked, int n_threads, const OfQuery& of_query) {
    parallel_ranges(ranked.queries.size() - 1, 64, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t query = first; query < last; ++query) of_query(query, RankedQuery(ranked, query));
    });
}

double discounted_gain(const RankedQuery& query, Doubles gains, Doubles discounts) {
    const std::size_t depth = std::min(query.size(), discounts.size());
    double total = 0.0;
    for (std::size_t begin = 0, end; begin < depth; begin = end) {
        end = query.run_end(begin);
        const double mean = query.sum(begin, end, gains) / static_cast<double>(end - begin);
        for (std::size_t rank = begin; rank < std::min(end, depth); ++rank) total += mean * discounts[rank];
    }
    return total;
}

double mean_ndcg(const RankedQuery& query, Doubles gains, Doubles discounts) {
    std::vector<double> best(query.size());
    for (std::size_t rank = 0; rank < query.size(); ++rank) best[rank] = query.at(rank, gains);
    std::sort(best.begin(), best.end(), std::greater<>());
    if (best.empty() || best.front() <= 0.0) return 0.0;
    double reached = 0.0, ideal = 0.0, total = 0.0;
    for (std::size_t begin = 0, end; begin < query.size(); begin = end) {
        end = query.run_end(begin);
        const double mean = query.sum(begin, end, gains) / static_cast<double>(end - begin);
        for (std::size_t rank = begin; rank < end; ++rank) {
            reached += mean * discounts[rank];
            ideal += best[rank] * discounts[rank];
            total += reached / ideal;
        }
    }
    return total / static_cast<double>(query.size());
}

// In a run of m documents with r relevant, the document at any place is relevant with probability r / m, and
// then each of the places before it holds a relevant one with probability (r - 1) / (m - 1).
double precision_sum(const RankedQuery& query, Doubles relevance, std::size_t depth) {
    depth = std::min(query.size(), depth);
    double total = 0.0, relevant_above = 0.0;
    for (std::size_t begin = 0, end; begin < depth; begin = end) {
        end = query.run_end(begin);
        const double relevant = query.sum(begin, end, relevance);
        const auto run = static_cast<double>(end - begin);
        const double others = run > 1.0 ? (relevant - 1.0) / (run - 1.0) : 0.0;
        if (relevant > 0.0)
            for (std::size_t rank = begin; rank < std::min(end, depth); ++rank) {
                const double above = relevant_above + static_cast<double>(rank - begin) * others;
                total += relevant / run * (above + 1.0) / static_cast<double>(rank + 1);
            }
        relevant_above += relevant;
    }
    return total;
}

double reciprocal_rank(const RankedQuery& query, Doubles relevance, std::size_t depth) {
    depth = std::min(query.size(), depth);
    for (std::size_t begin = 0, end; begin < depth; begin = end) {
        end = query.run_end(begin);
        const double relevant = query.sum(begin, end, relevance);
        if (relevant <= 0.0) continue;
        double total = 0.0, none_yet = 1.0;
        for (std::size_t rank = begin; rank < std::min(end, depth) && none_yet > 0.0; ++rank) {
            const double first_here = std::min(1.0, relevant / static_cast<double>(end - rank));
            total += none_yet * first_here / static_cast<double>(rank + 1);
            none_yet *= 1.0 - first_here;
        }
        return total;
    }
    return 0.0;
}

// reads_on[j] = mean over all j-subsets of a run of the chance to pass all of their documents, built one document
// at a time: a subset of j holds the newest of n documents with probability j / n.
void add_to_run(std::vector<double>& reads_on, std::size_t n, double passes) {
    for (std::size_t j = std::min(n, reads_on.size() - 1); j >= 1; --j) {
        const double holds = static_cast<double>(j) / static_cast<double>(n);
        reads_on[j] = (1.0 - holds) * reads_on[j] + holds * passes * reads_on[j - 1];
    }
}

double expected_reciprocal_rank(const RankedQuery& query, Doubles stop_probability, std::size_t depth) {
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

// Counts of labels seen so far, by the label's place among the query's distinct labels (a Fenwick tree).
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

// Pairs with different labels among documents given by their labels' places.
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

// From the last rank upwards, each document is above all that were counted before its run.
void count_pairs(const RankedQuery& query, Doubles labels, double& correct, double& pairs) {
    std::vector<double> distinct(query.size());
    for (std::size_t rank = 0; rank < query.size(); ++rank) distinct[rank] = query.at(rank, labels);
    std::vector<std::size_t> places(query.size());
    std::vector<double> sorted = distinct;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::vector<std::size_t> run_starts;
    for (std::size_t begin = 0; begin < query.size(); begin = query.run_end(begin)) run_starts.push_back(begin);
    for (std::size_t rank = 0; rank < query.size(); ++rank)
        places[rank] = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), distinct[rank]) -
                                                sorted.begin());
    LabelCounts below(sorted.size());
    correct = 0.0;
    std::size_t end = query.size();
    for (auto begin = run_starts.rbegin(); begin != run_starts.rend(); end = *begin, ++begin) {
        for (std::size_t rank = *begin; rank < end; ++rank) correct += below.below(places[rank]);
        if (end - *begin > 1)
            correct += 0.5 * different_pairs({places.begin() + static_cast<std::ptrdiff_t>(*begin),
                                              places.begin() + static_cast<std::ptrdiff_t>(end)});
        for (std::size_t rank = *begin; rank < end; ++rank) below.add(places[rank]);
    }
    pairs = different_pairs(std::move(places));
}

}  // namespace

void discounted_gains(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads,
                      std::span<double> values) {
    for_each_query(ranked, n_threads, [&](std::size_t query, const RankedQuery& documents) {
        values[query] = discounted_gain(documents, gains, discounts);
    });
}

void ideal_gains(Offsets queries, Rows rows, Doubles gains, Doubles discounts, int n_threads,
                 std::span<double> values) {
    parallel_ranges(queries.size() - 1, 64, n_threads, [&](std::size_t first, std::size_t last) {
        std::vector<double> best;
        for (std::size_t query = first; query < last; ++query) {
            best.clear();
            for (auto place = queries[query]; place < queries[query + 1]; ++place)
                best.push_back(gains[static_cast<std::size_t>(rows[static_cast<std::size_t>(place)])]);
            const std::size_t depth = std::min(best.size(), discounts.size());
            std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(depth), best.end(),
                              std::greater<>());
            double total = 0.0;
            for (std::size_t rank = 0; rank < depth; ++rank) total += best[rank] * discounts[rank];
            values[query] = total;
        }
    });
}

void mean_ndcgs(const RankedQueries& ranked, Doubles gains, Doubles discounts, int n_threads,
                std::span<double> values) {
    for_each_query(ranked, n_threads, [&](std::size_t query, const RankedQuery& documents) {
        values[query] = mean_ndcg(documents, gains, discounts);
    });
}

void precision_sums(const RankedQueries& ranked, Doubles relevance, std::size_t depth, int n_threads,
                    std::span<double> values) {
    for_each_query(ranked, n_threads, [&](std::size_t query, const RankedQuery& documents) {
        values[query] = precision_sum(documents, relevance, depth);
    });
}

void reciprocal_ranks(const RankedQueries& ranked, Doubles relevance, std::size_t depth, int n_threads,
                      std::span<double> values) {
    for_each_query(ranked, n_threads, [&](std::size_t query, const RankedQuery& documents) {
        values[query] = reciprocal_rank(documents, relevance, depth);
    });
}

void expected_reciprocal_ranks(const RankedQueries& ranked, Doubles stop_probability, std::size_t depth,
                               int n_threads, std::span<double> values) {
    for_each_query(ranked, n_threads, [&](std::size_t query, const RankedQuery& documents) {
        values[query] = expected_reciprocal_rank(documents, stop_probability, depth);
    });
}

void correct_pairs(const RankedQueries& ranked, Doubles labels, int n_threads, std::span<double> correct,
                   std::span<double> pairs) {
    for_each_query(ranked, n_threads, [&](std::size_t query, const RankedQuery& documents) {
        count_pairs(documents, labels, correct[query], pairs[query]);
    });
}

}  // namespace rankwright
