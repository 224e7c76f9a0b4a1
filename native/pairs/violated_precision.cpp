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
        good_.clear();
        bad_.clear();
        for (std::int64_t row : ranked) (relevant_[index(row)] ? good_ : bad_).push_back(row);
        for (std::size_t n = harmonic_.size(); n <= ranked.size(); ++n)
            harmonic_.push_back(harmonic_.back() + 1.0 / static_cast<double>(n));
        tail_.assign(good_.size() + 1, 0.0);
        for (std::size_t place = good_.size(); place-- > 0;)
            tail_[place] = tail_[place + 1] + scores_[index(good_[place])];
        places_.resize(bad_.size());
    }

    void place_all() { place_between(0, bad_.size(), 0, good_.size()); }

    // Returns the average precision lost.
    double write(std::span<std::int64_t> crossings) {
        double lost = 0.0;
        std::size_t before = 0;  // irrelevant documents before this relevant one
        for (std::size_t place = 0; place < good_.size(); ++place) {
            while (before < bad_.size() && places_[before] <= place) ++before;
            crossings[index(good_[place])] = static_cast<std::int64_t>(before);
            lost += static_cast<double>(before) / static_cast<double>(place + 1 + before);
        }
        for (std::size_t number = 0; number < bad_.size(); ++number)
            crossings[index(bad_[number])] = static_cast<std::int64_t>(good_.size() - places_[number]);
        return good_.empty() ? 0.0 : lost / static_cast<double>(good_.size());
    }

  private:
    // Finds the place of each irrelevant document in [first, last), known to lie in [lowest, highest].
    void place_between(std::size_t first, std::size_t last, std::size_t lowest, std::size_t highest) {
        while (first < last) {
            const std::size_t middle = first + (last - first) / 2;
            const std::size_t place = best_place(middle, lowest, highest);
            places_[middle] = place;
            place_between(first, middle, lowest, place);
            first = middle + 1;
            lowest = place;
        }
    }

    // Of equal places, the highest in the ranking.
    std::size_t best_place(std::size_t bad, std::size_t lowest, std::size_t highest) const {
        std::size_t best = lowest;
        double most = gain(bad, lowest);
        for (std::size_t place = lowest + 1; place <= highest; ++place) {
            const double here = gain(bad, place);
            if (here > most) {
                most = here;
                best = place;
            }
        }
        return best;
    }

    // The gain from moving irrelevant document `bad` from the end to just before relevant document `place`. The
    // precision that relevant document i loses to irrelevant document j, both from 1, is i / ((i + j - 1) (i +
    // j)); its sum over i > place has a closed form with harmonic numbers.
    double gain(std::size_t bad, std::size_t place) const {
        const std::size_t j = bad + 1, g = good_.size();
        const double inverse = 1.0 / static_cast<double>(place + j) - 1.0 / static_cast<double>(g + j);
        const double lost = harmonic_[g + j - 1] - harmonic_[place + j - 1] - static_cast<double>(j) * inverse;
        const double difference = tail_[place] - static_cast<double>(g - place) * scores_[index(bad_[bad])];
        return lost - 2.0 * difference / static_cast<double>(bad_.size());  // times the number of relevant ones
    }

    Doubles scores_;
    std::span<const bool> relevant_;
    std::vector<std::int64_t> good_, bad_;
    std::vector<double> tail_;           // sums of relevant documents' scores, from each to the last
    std::vector<double> harmonic_{0.0};  // 1 + 1/2 + ... + 1/n
    std::vector<std::size_t> places_;    // how many relevant documents come before each irrelevant one
};

}  // namespace

void most_violated_precision(Offsets queries, Rows order, Doubles scores, std::span<const bool> relevant,
                             int n_threads, std::span<std::int64_t> crossings, std::span<double> lost) {
    parallel_ranges(queries.size() - 1, kChunkQueries, n_threads, [&](std::size_t first, std::size_t last) {
        Search search(scores, relevant);
        for (std::size_t query = first; query < last; ++query) {
            const std::size_t begin = index(queries[query]);
            search.load(order.subspan(begin, index(queries[query + 1]) - begin));
            search.place_all();
            lost[query] = search.write(crossings);
        }
    });
}

}  // namespace rankwright
