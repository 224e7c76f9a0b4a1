#include "pairs/violated_precision.hpp"

#include <algorithm>
#include <vector>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kChunkQueries = 32;

std::size_t index(std::int64_t row) { return static_cast<std::size_t>(row); }

// One query's relevant and irrelevant documents, each best first.
class Search {
  public:
    Search(Doubles scores, std::span<const bool> relevant) : scores_(scores), relevant_(relevant) {}

    void load(Rows ranked) {
        relevant_rows_.clear();
        irrelevant_rows_.clear();
        for (std::int64_t row : ranked) (relevant_[index(row)] ? relevant_rows_ : irrelevant_rows_).push_back(row);
        for (std::size_t n = harmonic_.size(); n <= ranked.size(); ++n)
            harmonic_.push_back(harmonic_.back() + 1.0 / static_cast<double>(n));
        tail_.assign(relevant_rows_.size() + 1, 0.0);
        for (std::size_t position = relevant_rows_.size(); position-- > 0;)
            tail_[position] = tail_[position + 1] + scores_[index(relevant_rows_[position])];
        positions_.resize(irrelevant_rows_.size());
    }

    void find_positions() { find_positions_between(0, irrelevant_rows_.size(), 0, relevant_rows_.size()); }

    // Returns the average precision lost.
    double write(std::span<std::int64_t> crossings) {
        double lost = 0.0;
        std::size_t before = 0;  // irrelevant documents before this relevant one
        for (std::size_t position = 0; position < relevant_rows_.size(); ++position) {
            while (before < irrelevant_rows_.size() && positions_[before] <= position) ++before;
            crossings[index(relevant_rows_[position])] = static_cast<std::int64_t>(before);
            lost += static_cast<double>(before) / static_cast<double>(position + 1 + before);
        }
        for (std::size_t number = 0; number < irrelevant_rows_.size(); ++number)
            crossings[index(irrelevant_rows_[number])] =
                static_cast<std::int64_t>(relevant_rows_.size() - positions_[number]);
        return relevant_rows_.empty() ? 0.0 : lost / static_cast<double>(relevant_rows_.size());
    }

  private:
    // Finds the position of each irrelevant document in [first, last), which is known to be in [lowest, highest].
    void find_positions_between(std::size_t first, std::size_t last, std::size_t lowest, std::size_t highest) {
        while (first < last) {
            const std::size_t middle = first + (last - first) / 2;
            const std::size_t position = best_position(middle, lowest, highest);
            positions_[middle] = position;
            find_positions_between(first, middle, lowest, position);
            first = middle + 1;
            lowest = position;
        }
    }

    // Ties: the highest in the ranking.
    std::size_t best_position(std::size_t document, std::size_t lowest, std::size_t highest) const {
        std::size_t best = lowest;
        double best_gain = gain(document, lowest);
        for (std::size_t position = lowest + 1; position <= highest; ++position) {
            const double value = gain(document, position);
            if (value > best_gain) {
                best_gain = value;
                best = position;
            }
        }
        return best;
    }

    // The gain from moving irrelevant document `document` from the end to just before relevant document
    // `position`. The precision that relevant document i loses to irrelevant document j, both from 1, is i / ((i +
    // j - 1) (i + j)); its sum over i > position has a closed form with harmonic numbers.
    double gain(std::size_t document, std::size_t position) const {
        const std::size_t j = document + 1, g = relevant_rows_.size();
        const double inverse = 1.0 / static_cast<double>(position + j) - 1.0 / static_cast<double>(g + j);
        const double lost = harmonic_[g + j - 1] - harmonic_[position + j - 1] - static_cast<double>(j) * inverse;
        const double difference =
            tail_[position] - static_cast<double>(g - position) * scores_[index(irrelevant_rows_[document])];
        return lost - 2.0 * difference /
                          static_cast<double>(irrelevant_rows_.size());  // times the number of relevant ones
    }

    Doubles scores_;
    std::span<const bool> relevant_;
    std::vector<std::int64_t> relevant_rows_, irrelevant_rows_;
    std::vector<double> tail_;            // sums of relevant documents' scores, from each to the last
    std::vector<double> harmonic_{0.0};   // 1 + 1/2 + ... + 1/n
    std::vector<std::size_t> positions_;  // how many relevant documents come before each irrelevant one
};

}  // namespace

void most_violated_precision(Offsets queries, Rows order, Doubles scores, std::span<const bool> relevant,
                             int n_threads, std::span<std::int64_t> crossings, std::span<double> lost) {
    parallel_ranges(queries.size() - 1, kChunkQueries, n_threads, [&](std::size_t first, std::size_t last) {
        Search search(scores, relevant);
        for (std::size_t query = first; query < last; ++query) {
            const std::size_t begin = index(queries[query]);
            search.load(order.subspan(begin, index(queries[query + 1]) - begin));
            search.find_positions();
            lost[query] = search.write(crossings);
        }
    });
}

}  // namespace rankwright
