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

// One query's documents, best first; labels are numbered from 0, the lowest.
class Sweep {
  public:
    Sweep(const RankedPairs& pairs, Doubles weights, Doubles values)
        : pairs_(pairs), weights_(weights), values_(values) {}

    void load(std::size_t query) {
        const auto begin = static_cast<std::size_t>(pairs_.queries[query]);
        ranked_ = pairs_.order.subspan(begin, static_cast<std::size_t>(pairs_.queries[query + 1]) - begin);
        levels_.clear();
        for (std::int64_t row : ranked_) levels_.push_back(pairs_.labels[index(row)]);
        std::sort(levels_.begin(), levels_.end());
        levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
        labels_.resize(ranked_.size());
        for (std::size_t rank = 0; rank < ranked_.size(); ++rank) {
            const auto level =
                std::lower_bound(levels_.begin(), levels_.end(), pairs_.labels[index(ranked_[rank])]);
            labels_[rank] = static_cast<std::size_t>(level - levels_.begin());
        }
    }

    void write(const MarginSums& totals) {
        for (std::int64_t row : ranked_) {
            totals.worse[index(row)] = totals.better[index(row)] = totals.sums[index(row)] = 0.0;
        }
        if (levels_.size() < 2) return;
        add_worse(totals);
        add_better(totals);
    }

  private:
    static std::size_t index(std::int64_t row) { return static_cast<std::size_t>(row); }
    double score(std::size_t rank) const { return pairs_.scores[index(ranked_[rank])]; }
    Total total(std::size_t rank) const {
        const std::size_t row = index(ranked_[rank]);
        return {weights_[row], weights_[row] * values_[row]};
    }

    // From the best document down, more and more documents below come within the margin.
    void add_worse(const MarginSums& totals) {
        within_margin_.start(levels_.size());
        std::size_t next = 0;
        for (std::size_t rank = 0; rank < ranked_.size(); ++rank) {
            for (; next < ranked_.size() && score(rank) - score(next) < kMargin; ++next)
                within_margin_.add(labels_[next], total(next));
            const Total sum = within_margin_.below(labels_[rank]);
            totals.worse[index(ranked_[rank])] = sum.weight;
            totals.sums[index(ranked_[rank])] = sum.value;
        }
    }

    // From the worst document up, likewise for the documents above; labels are numbered from the highest.
    void add_better(const MarginSums& totals) {
        within_margin_.start(levels_.size());
        const std::size_t highest = levels_.size() - 1;
        std::size_t next = ranked_.size();
        for (std::size_t rank = ranked_.size(); rank-- > 0;) {
            for (; next > 0 && score(next - 1) - score(rank) < kMargin; --next)
                within_margin_.add(highest - labels_[next - 1], total(next - 1));
            const Total sum = within_margin_.below(highest - labels_[rank]);
            totals.better[index(ranked_[rank])] = sum.weight;
            totals.sums[index(ranked_[rank])] += sum.value;
        }
    }

    const RankedPairs& pairs_;
    Doubles weights_, values_;
    Rows ranked_;
    std::vector<double> levels_;
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
