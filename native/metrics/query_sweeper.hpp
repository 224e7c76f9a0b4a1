// How a metric of one query changes along a sweep (see metrics/sweep.hpp).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "metrics/alpha_sorter.hpp"
#include "metrics/sweep.hpp"

namespace rankwright {

using Count = std::uint32_t;

// Beyond alpha, entry `riser` is above entry `faller`.
struct Crossing {
    double alpha;
    Count riser, faller;
};

// The metric changes by `amount` units at alpha.
struct MetricChange {
    double alpha;
    std::int64_t amount;
};

// Documents that move together: all with the same line where ties are averaged, otherwise a single document.
struct SweepEntry {
    double s, t;
    std::size_t begin, end;  // its documents, as positions in the sorted rows
    Count size() const { return static_cast<Count>(end - begin); }
};

// Sweeps one query at a time. A Measure gives the contribution of each entry to the metric, in integer units:
//     begin(query, rows, entries)       starts a query, with its sorted rows and the entries they form
//     weight(entry)                     an integer to be summed over the entries above, e.g. relevant documents
//     value(entry, above, weights)      the contribution with this many documents, and this weight, above it
// `more(row)` orders documents with equal lines, so that sums over them do not depend on the order of the rows.
template <class Measure>
class QuerySweeper {
  public:
    QuerySweeper(const Lines& lines, Measure measure) : lines_(lines), measure_(std::move(measure)) {}

    // Returns the value just above `low` and appends the changes between there and `high`.
    std::int64_t sweep(std::size_t query, std::vector<MetricChange>& changes) {
        gather(query);
        measure_.begin(query, std::span<const std::int64_t>(rows_), std::span<const SweepEntry>(entries_));
        cross();
        sorter_.sort(crossings_);
        std::int64_t start = 0;
        values_.resize(entries_.size());
        for (Count entry = 0; entry < entries_.size(); ++entry) start += values_[entry] = value(entry);
        follow(changes);
        return start;
    }

  private:
    // Sorts documents by slope, the steepest line first, and parallel lines by height, the highest first.
    void gather(std::size_t query) {
        const auto begin = static_cast<std::size_t>(lines_.queries[query]);
        const auto size = static_cast<std::size_t>(lines_.queries[query + 1]) - begin;
        const Rows rows = lines_.rows.subspan(begin, size);
        rows_.assign(rows.begin(), rows.end());
        std::stable_sort(rows_.begin(), rows_.end(), [&](std::int64_t a, std::int64_t b) {
            if (t(a) != t(b)) return t(a) > t(b);
            if (s(a) != s(b)) return s(a) > s(b);
            return lines_.average_ties && measure_.more(a) > measure_.more(b);
        });
        entries_.clear();
        for (std::size_t position = 0; position < rows_.size(); ++position) {
            const double s_here = s(rows_[position]), t_here = t(rows_[position]);
            if (lines_.average_ties && !entries_.empty() && entries_.back().s == s_here &&
                entries_.back().t == t_here)
                ++entries_.back().end;
            else
                entries_.push_back({s_here, t_here, position, position + 1});
        }
    }

    // Counts the documents above each entry just above `low`, and collects the crossings up to `high`.
    void cross() {
        const std::size_t n = entries_.size();
        above_.assign(n, 0);
        weight_above_.assign(n, 0);
        crossings_.resize(n * (n - 1) / 2 + 1);  // one more, since each is written before it is kept or not
        std::size_t n_crossings = 0;
        for (Count i = 0; i < n; ++i) {
            const SweepEntry& first = entries_[i];
            const std::int64_t weight = measure_.weight(i);
            for (Count j = i + 1; j < n; ++j) {
                const SweepEntry& second = entries_[j];
                const double alpha = (second.s - first.s) / (first.t - second.t);
                const bool crosses =
                    first.t > second.t;  // parallel lines never cross; the first is the higher one
                const bool below = crosses & (alpha > lines_.low);
                above_[i] += below ? second.size() : 0;
                above_[j] += below ? 0 : first.size();
                weight_above_[i] += below ? measure_.weight(j) : 0;
                weight_above_[j] += below ? 0 : weight;
                crossings_[n_crossings] = {alpha, i, j};
                n_crossings += below & (alpha < lines_.high);
            }
        }
        crossings_.resize(n_crossings);
    }

    void follow(std::vector<MetricChange>& changes) {
        std::int64_t amount = 0;
        for (std::size_t next = 0; next < crossings_.size(); ++next) {
            const auto [alpha, riser, faller] = crossings_[next];
            above_[riser] -= entries_[faller].size();
            above_[faller] += entries_[riser].size();
            weight_above_[riser] -= measure_.weight(faller);
            weight_above_[faller] += measure_.weight(riser);
            amount += update(riser) + update(faller);
            if (next + 1 < crossings_.size() && crossings_[next + 1].alpha == alpha) continue;
            if (amount != 0) changes.push_back({alpha, std::exchange(amount, 0)});
        }
    }

    std::int64_t update(Count entry) {
        const std::int64_t before = std::exchange(values_[entry], value(entry));
        return values_[entry] - before;
    }

    std::int64_t value(Count entry) const { return measure_.value(entry, above_[entry], weight_above_[entry]); }

    double s(std::int64_t row) const { return lines_.s[static_cast<std::size_t>(row)]; }
    double t(std::int64_t row) const { return lines_.t[static_cast<std::size_t>(row)]; }

    const Lines& lines_;
    Measure measure_;
    AlphaSorter<Crossing> sorter_;
    std::vector<std::int64_t> rows_;
    std::vector<SweepEntry> entries_;
    std::vector<Count> above_;
    std::vector<std::int64_t> weight_above_, values_;
    std::vector<Crossing> crossings_;
};

}  // namespace rankwright
