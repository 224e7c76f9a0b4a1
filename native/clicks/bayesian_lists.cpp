#include "clicks/bayesian_lists.hpp"

#include <algorithm>
#include <cmath>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t lists_per_run = 2048;

class ReadingList {
  public:
    ReadingList(const ClickedLists& lists, double continuation, std::span<double> read,
                std::span<double> satisfied)
        : lists_(lists), continuation_(continuation), read_(read), satisfied_(satisfied) {}

    // Returns the logarithm of the probability of the clicks.
    double expect(std::size_t begin, std::size_t end) {
        std::size_t after = end;  // the row after the last click
        while (after > begin && !lists_.clicked[after - 1]) --after;
        double logarithm = 0.0;
        for (std::size_t row = begin; row < after; ++row) {
            read_[row] = 1.0;
            satisfied_[row] = 0.0;
            const double attraction = lists_.attraction[row], satisfaction = lists_.satisfaction[row];
            logarithm += std::log(lists_.clicked[row] ? attraction : 1.0 - attraction);
            if (row + 1 < after)
                logarithm += std::log(lists_.clicked[row] ? (1.0 - satisfaction) * continuation_ : continuation_);
        }
        // read_ of the rest first holds the probability of no click there or below, if it is read.
        for (std::size_t row = end; row-- > after;)
            read_[row] = (1.0 - lists_.attraction[row]) * goes_quietly(row + 1, end);
        if (after == begin) return logarithm + (begin < end ? std::log(spread(begin, end, 1.0)) : 0.0);
        const double satisfaction = lists_.satisfaction[after - 1];
        const double unsatisfied = (1.0 - satisfaction) * goes_quietly(after, end),
                     tail = satisfaction + unsatisfied;
        satisfied_[after - 1] = satisfaction / tail;
        if (after < end) spread(after, end, (1.0 - satisfaction) * continuation_ * read_[after] / tail);
        return logarithm + std::log(tail);
    }

  private:
    // The probability of no click from this row on, if the row before was read and did not satisfy.
    double goes_quietly(std::size_t row, std::size_t end) const {
        return row < end ? 1.0 - continuation_ + continuation_ * read_[row] : 1.0;
    }

    // Turns the probabilities of no click into those of reading, given no click; `first` is that of the first row.
    // Returns what read_ held there.
    double spread(std::size_t row, std::size_t end, double first) {
        const double quiet = read_[row];
        double chance = first;
        for (; row < end; ++row) {
            const double next = row + 1 < end ? continuation_ * read_[row + 1] / goes_quietly(row + 1, end) : 0.0;
            read_[row] = chance;
            satisfied_[row] = 0.0;
            chance *= next;
        }
        return quiet;
    }

    const ClickedLists& lists_;
    double continuation_;
    std::span<double> read_, satisfied_;
};

}  // namespace

void expect_reading(const ClickedLists& lists, double continuation, int n_threads, std::span<double> read,
                    std::span<double> satisfied, std::span<double> log_likelihood) {
    parallel_ranges(log_likelihood.size(), lists_per_run, n_threads, [&](std::size_t begin, std::size_t end) {
        ReadingList list(lists, continuation, read, satisfied);
        for (std::size_t number = begin; number < end; ++number)
            log_likelihood[number] = list.expect(static_cast<std::size_t>(lists.offsets[number]),
                                                 static_cast<std::size_t>(lists.offsets[number + 1]));
    });
}

}  // namespace rankwright
