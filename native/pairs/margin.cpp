#include "pairs/margin.hpp"

#include <algorithm>
#include <vector>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kChunkQueries = 32;
constexpr double kMargin = 1.0;

struct Total {
    double weight = 0.0, value = 0.0;
};

// Weights and values by label, added one by one and summed over all lower labels: a Fenwick tree.
class TotalsByLabel {
  public:
    void start(std::size_t n_labels) { nodes_.assign(n_labels, Total{}); }

    void add(std::size_t label, Total document) {
        for (std::size_t node = label; node < nodes_.size(); node |= node + 1) {
            nodes_[node].weight += document.weight;
            nodes_[node].value += document.value;
        }
    }

    Total below(std::size_t label) const {
        Total sum;
        for (std::size_t end = label; end > 0; end &= end - 1) {
            sum.weight += nodes_[end - 1].weight;
            sum.value += nodes_[end - 1].value;
        }
        return sum;
    }

  private:
    std::vector<Total> nodes_;
};

// The same for two labels, without branches.
class TotalsOfTwo {
  public:
    void add(std::size_t label, Total document) {
        totals_[1 + label].weight += document.weight;
        totals_[1 + label].value += document.value;
    }

    Total below(std::size_t label) const { return totals_[label]; }

  private:
    Total totals_[3];  // of no document, the lower label and the higher one
};

// One query's documents, best first; labels are numbered from 0, the lowest.
class Sweep {
  public:
    Sweep(const RankedPairs& pairs, Doubles weights, Doubles values)
        : pairs_(pairs), weights_(weights), values_(values) {}

    void load(std::size_t query) {
        const auto begin = static_cast<std::size_t>(pairs_.queries[query]);
        ranked_ = pairs_.order.subspan(begin, static_cast<std::size_t>(pairs_.queries[query + 1]) - begin);
        scores_.resize(ranked_.size());
        documents_.resize(ranked_.size());
        given_.resize(ranked_.size());
        for (std::size_t rank = 0; rank < ranked_.size(); ++rank) {
            const std::size_t row = index(ranked_[rank]);
            scores_[rank] = pairs_.scores[row];
            documents_[rank] = {weights_[row], weights_[row] * values_[row]};
            given_[rank] = pairs_.labels[row];
        }
        number_labels();
    }

    void write(const MarginSums& totals) {
        if (n_labels_ < 2) {
            for (std::int64_t row : ranked_)
                totals.worse[index(row)] = totals.better[index(row)] = totals.sums[index(row)] = 0.0;
        } else if (n_labels_ == 2) {
            add_worse(totals, TotalsOfTwo{});
            add_better(totals, TotalsOfTwo{});
        } else {
            within_margin_.start(n_labels_);
            add_worse(totals, within_margin_);
            within_margin_.start(n_labels_);
            add_better(totals, within_margin_);
        }
    }

  private:
    static std::size_t index(std::int64_t row) { return static_cast<std::size_t>(row); }

    void number_labels() {
        n_labels_ = 0;
        labels_.resize(given_.size());
        if (given_.empty()) return;
        const auto [lowest, highest] = std::ranges::minmax(given_);
        bool has_others = false;
        for (std::size_t rank = 0; rank < given_.size(); ++rank) {
            labels_[rank] = given_[rank] != lowest;
            has_others |= (given_[rank] != lowest) & (given_[rank] != highest);
        }
        n_labels_ = lowest == highest ? 1 : 2;
        if (!has_others) return;
        levels_ = given_;
        std::sort(levels_.begin(), levels_.end());
        levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
        n_labels_ = levels_.size();
        for (std::size_t rank = 0; rank < given_.size(); ++rank)
            labels_[rank] =
                static_cast<std::size_t>(std::ranges::lower_bound(levels_, given_[rank]) - levels_.begin());
    }

    // From the best document down, more and more documents below come within the margin.
    template <typename Totals>
    void add_worse(const MarginSums& totals, Totals&& within_margin) {
        std::size_t next = 0;
        for (std::size_t rank = 0; rank < ranked_.size(); ++rank) {
            for (; next < ranked_.size() && scores_[rank] - scores_[next] < kMargin; ++next)
                within_margin.add(labels_[next], documents_[next]);
            const Total sum = within_margin.below(labels_[rank]);
            totals.worse[index(ranked_[rank])] = sum.weight;
            totals.sums[index(ranked_[rank])] = sum.value;
        }
    }

    // From the worst document up, likewise for the documents above; labels are numbered from the highest.
    template <typename Totals>
    void add_better(const MarginSums& totals, Totals&& within_margin) {
        const std::size_t highest = n_labels_ - 1;
        std::size_t next = ranked_.size();
        for (std::size_t rank = ranked_.size(); rank-- > 0;) {
            for (; next > 0 && scores_[next - 1] - scores_[rank] < kMargin; --next)
                within_margin.add(highest - labels_[next - 1], documents_[next - 1]);
            const Total sum = within_margin.below(highest - labels_[rank]);
            totals.better[index(ranked_[rank])] = sum.weight;
            totals.sums[index(ranked_[rank])] += sum.value;
        }
    }

    const RankedPairs& pairs_;
    Doubles weights_, values_;
    Rows ranked_;
    std::size_t n_labels_ = 0;
    std::vector<double> levels_, scores_, given_;
    std::vector<Total> documents_;
    std::vector<std::size_t> labels_;
    TotalsByLabel within_margin_;
};

}  // namespace

void margin_sums(const RankedPairs& pairs, Doubles weights, Doubles values, int n_threads, MarginSums totals) {
    parallel_ranges(pairs.queries.size() - 1, kChunkQueries, n_threads, [&](std::size_t first, std::size_t last) {
        Sweep sweep(pairs, weights, values);
        for (std::size_t query = first; query < last; ++query) {
            sweep.load(query);
            sweep.write(totals);
        }
    });
}

}  // namespace rankwright
