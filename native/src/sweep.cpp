#include "rankwright/sweep.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "rankwright/threads.hpp"

namespace rankwright {
namespace {

using Count = std::uint32_t;

struct Crossing {
    double alpha;
    Count riser, faller;
};

struct Change {
    double alpha;
    std::int64_t amount;
};

// Sorts records by alpha. They are dealt into about as many buckets as there are records, along x / (scale + |x|),
// which spreads ratios evenly, and each bucket is sorted; however they lie, that is n log n at most.
template <class Record>
class AlphaSorter {
  public:
    void sort(std::vector<Record>& records) {
        const auto before = [](const Record& one, const Record& other) { return one.alpha < other.alpha; };
        const std::size_t n = records.size();
        if (n < kFewRecords) {
            std::sort(records.begin(), records.end(), before);
            return;
        }
        deal(records);
        for (std::size_t bucket = 0, begin = 0; bucket < ends_.size(); begin = ends_[bucket++])
            if (ends_[bucket] - begin > 1)
                std::sort(dealt_.begin() + static_cast<std::ptrdiff_t>(begin),
                          dealt_.begin() + static_cast<std::ptrdiff_t>(ends_[bucket]), before);
        // Rounding may deal alphas that all but coincide the wrong way round.
        if (!std::is_sorted(dealt_.begin(), dealt_.end(), before)) std::sort(dealt_.begin(), dealt_.end(), before);
        records.swap(dealt_);
    }

  private:
    static constexpr std::size_t kFewRecords = 64, kSample = 31;

    void deal(const std::vector<Record>& records) {
        const std::size_t n = records.size(), n_buckets = std::bit_ceil(n);
        const double scale = typical_size(records);
        const auto along = [scale](const Record& record) {
            return record.alpha / (scale + std::abs(record.alpha));
        };
        places_.resize(n);
        double lowest = 1.0, highest = -1.0;
        for (std::size_t i = 0; i < n; ++i) {
            const double place = places_[i] = along(records[i]);
            lowest = std::min(lowest, place);
            highest = std::max(highest, place);
        }
        const double width = highest > lowest ? static_cast<double>(n_buckets - 1) / (highest - lowest) : 0.0;
        ends_.assign(n_buckets, 0);
        buckets_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            buckets_[i] = std::min(n_buckets - 1, static_cast<std::size_t>((places_[i] - lowest) * width));
            ++ends_[buckets_[i]];
        }
        std::size_t total = 0;
        for (std::size_t& end : ends_) end = std::exchange(total, total + end);  // for now, where each begins
        dealt_.resize(n);
        for (std::size_t i = 0; i < n; ++i) dealt_[ends_[buckets_[i]]++] = records[i];
    }

    // The median size of a few alphas, above 0.
    double typical_size(const std::vector<Record>& records) {
        std::array<double, kSample> sizes;
        for (std::size_t i = 0; i < kSample; ++i) sizes[i] = std::abs(records[i * records.size() / kSample].alpha);
        std::nth_element(sizes.begin(), sizes.begin() + kSample / 2, sizes.end());
        return std::clamp(sizes[kSample / 2], 1e-300, 1e300);
    }

    std::vector<double> places_;
    std::vector<std::size_t> buckets_, ends_;
    std::vector<Record> dealt_;
};

// Documents that are swept as one: those of equal lines where ties are averaged, a single one otherwise.
struct Entry {
    double s, t;
    std::size_t begin, end;  // its documents, as places in the sorted rows
    Count size() const { return static_cast<Count>(end - begin); }
};

// Sweeps one query after another. A Measure says what an entry adds to the metric, in whole units:
//     begin(query, rows, entries)       a new query; its rows as sorted, and the entries they form
//     weight(entry)                     a whole number summed over the entries above, such as relevant documents
//     worth(entry, above, weights)      with so many documents above it, of so much weight
// `more(row)` orders documents of equal lines by what they are to the measure, so that sums over them do not
// depend on the order of rows.
template <class Measure>
class QuerySweeper {
  public:
    QuerySweeper(const Lines& lines, Measure measure) : lines_(lines), measure_(std::move(measure)) {}

    // Returns the value just above low, and adds the changes after it.
    std::int64_t sweep(std::size_t query, std::vector<Change>& changes) {
        gather(query);
        measure_.begin(query, std::span<const std::int64_t>(rows_), std::span<const Entry>(entries_));
        cross();
        sorter_.sort(crossings_);
        std::int64_t start = 0;
        worths_.resize(entries_.size());
        for (Count entry = 0; entry < entries_.size(); ++entry) start += worths_[entry] = worth(entry);
        follow(changes);
        return start;
    }

  private:
    // Sorts documents so that of any two the first has the steeper line or, of parallel ones, the higher.
    void gather(std::size_t query) {
        const auto begin = static_cast<std::size_t>(lines_.queries[query]);
        const auto size = static_cast<std::size_t>(lines_.queries[query + 1]) - begin;
        const Rows rows = lines_.rows.subspan(begin, size);
        rows_.assign(rows.begin(), rows.end());
        std::stable_sort(rows_.begin(), rows_.end(), [&](std::int64_t one, std::int64_t other) {
            if (t(one) != t(other)) return t(one) > t(other);
            if (s(one) != s(other)) return s(one) > s(other);
            return lines_.average_ties && measure_.more(one) > measure_.more(other);
        });
        entries_.clear();
        for (std::size_t place = 0; place < rows_.size(); ++place) {
            const double s_here = s(rows_[place]), t_here = t(rows_[place]);
            if (lines_.average_ties && !entries_.empty() && entries_.back().s == s_here &&
                entries_.back().t == t_here)
                ++entries_.back().end;
            else
                entries_.push_back({s_here, t_here, place, place + 1});
        }
    }

    // Finds who is above whom just above low, and where that changes before high.
    void cross() {
        const std::size_t n = entries_.size();
        above_.assign(n, 0);
        weight_above_.assign(n, 0);
        crossings_.resize(n * (n - 1) / 2 + 1);  // room for one that is not kept
        std::size_t n_crossings = 0;
        for (Count i = 0; i < n; ++i) {
            const Entry& first = entries_[i];
            const std::int64_t weight = measure_.weight(i);
            for (Count j = i + 1; j < n; ++j) {
                const Entry& second = entries_[j];
                const double alpha = (second.s - first.s) / (first.t - second.t);
                const bool crosses = first.t > second.t;  // parallel lines do not, and the first is the higher one
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

    void follow(std::vector<Change>& changes) {
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
        const std::int64_t before = std::exchange(worths_[entry], worth(entry));
        return worths_[entry] - before;
    }

    std::int64_t worth(Count entry) const { return measure_.worth(entry, above_[entry], weight_above_[entry]); }

    double s(std::int64_t row) const { return lines_.s[static_cast<std::size_t>(row)]; }
    double t(std::int64_t row) const { return lines_.t[static_cast<std::size_t>(row)]; }

    const Lines& lines_;
    Measure measure_;
    AlphaSorter<Crossing> sorter_;
    std::vector<std::int64_t> rows_;
    std::vector<Entry> entries_;
    std::vector<Count> above_;
    std::vector<std::int64_t> weight_above_, worths_;
    std::vector<Crossing> crossings_;
};

// Whole units to one of the metric: as many as fit where all queries together are worth `most` at most, with room
// to spare: between crossings that rounding has put in the wrong order a query may be worth a little more.
double unit_for(double most) {
    return most > 0.0 ? std::ldexp(1.0, std::clamp(57 - std::ilogb(most), -1000, 1023)) : 1.0;
}

// Merges the queries' changes into one rising list, equal alphas together.
void merge(std::vector<Change>& changes, double unit, Sweep& sweep) {
    AlphaSorter<Change>().sort(changes);
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
    std::vector<std::vector<Change>> found((n_queries + kChunk - 1) / kChunk);
    parallel_ranges(n_queries, kChunk, n_threads, [&](std::size_t first, std::size_t last) {
        QuerySweeper<Measure> sweeper(lines, measure);
        for (std::size_t query = first; query < last; ++query)
            starts[query] = static_cast<double>(sweeper.sweep(query, found[first / kChunk])) / unit;
    });
    std::vector<Change> changes;
    std::size_t total = 0;
    for (const auto& chunk : found) total += chunk.size();
    changes.reserve(total);
    for (const auto& chunk : found) changes.insert(changes.end(), chunk.begin(), chunk.end());
    found.clear();
    merge(changes, unit, sweep);
}

double at(Doubles values, std::int64_t row) { return values[static_cast<std::size_t>(row)]; }

std::int64_t whole(double units) { return static_cast<std::int64_t>(units); }

// gain x the sum of the weights of the ranks that tied documents share, each getting the mean gain.
class GainMeasure {
  public:
    GainMeasure(const Lines& lines, Doubles gains, Doubles rank_weights, double unit)
        : lines_(lines), gains_(gains), rank_weights_(rank_weights), unit_(unit) {}

    void begin(std::size_t query, Rows rows, std::span<const Entry> entries) {
        const auto first = static_cast<std::size_t>(lines_.queries[query]);
        sums_.assign(rows.size() + 1, 0.0);
        for (std::size_t rank = 0; rank < rows.size(); ++rank)
            sums_[rank + 1] = sums_[rank] + rank_weights_[first + rank];
        terms_.clear();
        for (const Entry& entry : entries) {
            double total = 0.0;
            for (std::size_t place = entry.begin; place < entry.end; ++place) total += at(gains_, rows[place]);
            terms_.push_back({total / entry.size() * unit_, entry.size()});
        }
    }
    double more(std::int64_t row) const { return at(gains_, row); }
    std::int64_t weight(Count) const { return 0; }
    std::int64_t worth(Count entry, Count above, std::int64_t) const {
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

// What the two metrics of relevant documents share: how many of them an entry has, and a query.
class RelevanceMeasure {
  public:
    RelevanceMeasure(Relevance relevance, std::size_t depth, double unit)
        : depth_(depth), unit_(unit), relevance_(relevance) {}

    void begin(std::size_t, Rows rows, std::span<const Entry> entries) {
        terms_.clear();
        n_relevant_ = 0;
        for (const Entry& entry : entries) {
            Count relevant = 0;
            for (std::size_t place = entry.begin; place < entry.end; ++place) relevant += more(rows[place]) > 0.0;
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
    // The end of the ranks that count, from `above` on.
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

    void begin(std::size_t query, Rows rows, std::span<const Entry> entries) {
        RelevanceMeasure::begin(query, rows, entries);
        const std::size_t depth = std::min(depth_, rows.size());
        const std::size_t counted = capped_ ? std::min(n_relevant_, depth) : n_relevant_;
        share_ = unit_ / static_cast<double>(std::max<std::size_t>(1, counted));
    }
    // See expect_precisions in metrics.cpp.
    std::int64_t worth(Count entry, Count above, std::int64_t relevant_above) const {
        const auto [size, relevant] = terms_[entry];
        if (relevant == 0) return 0;
        const double others = size > 1 ? (relevant - 1.0) / (size - 1.0) : 0.0;
        double precisions = 0.0, found = static_cast<double>(relevant_above) + 1.0;
        for (std::size_t rank = above; rank < last_rank(above, size); ++rank, found += others)
            precisions += found / static_cast<double>(rank + 1);
        return whole(precisions * relevant / size * share_);
    }

  private:
    bool capped_;
    double share_ = 0.0;
};

class ReciprocalRankMeasure : public RelevanceMeasure {
  public:
    using RelevanceMeasure::RelevanceMeasure;

    // See reciprocal_rank in metrics.cpp.
    std::int64_t worth(Count entry, Count above, std::int64_t relevant_above) const {
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

// The chance of reading on past the entries above is the exponential of a sum of logarithms, in whole numbers.
class ExpectedReciprocalRankMeasure {
  public:
    ExpectedReciprocalRankMeasure(Doubles stop_probability, std::size_t depth, double unit)
        : stops_(stop_probability), depth_(depth), unit_(unit) {}

    void begin(std::size_t, Rows rows, std::span<const Entry> entries) {
        // The logarithm of a chance of 2^-64 or more is above -64.
        log_unit_ = std::ldexp(1.0, 56 - std::bit_width(rows.size()));
        drops_.clear();
        terms_.clear();
        for (const Entry& entry : entries) {
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
    std::int64_t worth(Count entry, Count above, std::int64_t logarithm_above) const {
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
        std::size_t first;  // of its drops: the chance to stop at each of its places
        Count size;
        std::int64_t logarithm;
    };
    Doubles stops_;
    std::size_t depth_;
    double unit_, log_unit_ = 1.0;
    std::vector<double> reads_on_, drops_;
    std::vector<Term> terms_;
};

// The most that sum of gain x weight can come to over all queries.
double most_gain(const Lines& lines, Doubles gains, Doubles rank_weights) {
    double total = 0.0;
    for (std::size_t query = 0; query + 1 < lines.queries.size(); ++query) {
        double gain = 0.0, weight = 0.0;
        for (auto place = static_cast<std::size_t>(lines.queries[query]);
             place < static_cast<std::size_t>(lines.queries[query + 1]); ++place) {
            gain = std::max(gain, std::abs(at(gains, lines.rows[place])));
            weight += std::abs(rank_weights[place]);
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
    for (double one : gains) gain += std::abs(one);
    for (double one : rank_weights) weight += std::abs(one);
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
