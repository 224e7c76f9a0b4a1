#include "text/retrieval.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "text/best.hpp"
#include "text/score_grid.hpp"
#include "text/word_list.hpp"

namespace rankwright {
namespace {

// MaxScore (Turtle and Flood 1995) by windows of documents: in a window, words whose bounds together do not exceed
// the threshold cannot bring a document into the best, so that only documents of the other words are candidates.
template <class Model>
class SegmentSearch {
  public:
    SegmentSearch(const RankedQuery& query, const QuerySegment& segment, const Grid& grid, bool skip, Best& best)
        : query_(query),
          segment_(segment),
          grid_(grid),
          skip_(skip),
          best_(best),
          start_(grid.round(query.start)) {
        lists_.reserve(segment.words.size());
        for (const QueryWord& word : segment.words) lists_.emplace_back(query, segment, word, grid);
    }

    void run() {
        const std::size_t n_documents = segment_.fields.front().n_documents();
        for (std::size_t begin = 0; begin < n_documents; begin = next_window(begin)) {
            begin_ = begin;
            end_ = std::min(begin + kWindow, n_documents);
            enter();
            if (first_essential_ < active_.size()) {
                find_candidates();
                add_others();
                keep_best();
            }
        }
    }

  private:
    using List = WordList<Model>;

    std::size_t next_window(std::size_t begin) const {
        std::size_t next = std::numeric_limits<std::size_t>::max();
        for (const List& list : lists_) next = std::min(next, list.next_document());
        return std::max(begin + kWindow, next / kWindow * kWindow);
    }

    // Sorts the words of the window by their bounds and divides them.
    void enter() {
        active_.clear();
        for (List& list : lists_)
            if (list.enter(begin_, end_)) active_.push_back(&list);
        std::sort(active_.begin(), active_.end(), [](auto* a, auto* b) { return a->bound() < b->bound(); });
        threshold_ = skip_ ? best_.threshold() : -std::numeric_limits<double>::infinity();
        const double prior = highest_prior();
        rest_ = 0.0;
        first_essential_ = 0;
        while (first_essential_ < active_.size() &&
               prior + rest_ + active_[first_essential_]->bound() <= threshold_)
            rest_ += active_[first_essential_++]->bound();
    }

    // All documents of the essential words that may still be among the best.
    void find_candidates() {
        n_candidates_ = 0;
        if (first_essential_ + 1 == active_.size()) {
            active_.back()->scan(begin_, end_,
                                 [&](std::uint32_t document, double score) { propose(document, score); });
            return;
        }
        for (std::size_t i = first_essential_; i < active_.size(); ++i) {
            active_[i]->scan(begin_, end_, [&](std::uint32_t document, double score) {
                const std::size_t index = document - begin_;
                sums_[index] += score;
                marks_[index / 64] |= std::uint64_t{1} << index % 64;
            });
        }
        for (std::size_t word = 0; word < marks_.size(); ++word) {
            for (std::uint64_t marks = marks_[word]; marks != 0; marks &= marks - 1) {
                const std::size_t index = word * 64 + static_cast<std::size_t>(std::countr_zero(marks));
                propose(static_cast<std::uint32_t>(begin_ + index), sums_[index]);
                sums_[index] = 0.0;
            }
            marks_[word] = 0;
        }
    }

    void propose(std::uint32_t document, double score) {
        score += prior_of(document);
        candidates_[n_candidates_] = {score, document};
        n_candidates_ += score + rest_ > threshold_;
    }

    // Adds the other words, the highest bounds first, and drops candidates that fall behind.
    void add_others() {
        for (std::size_t i = first_essential_; i-- > 0 && n_candidates_ > 0;) {
            List& list = *active_[i];
            rest_ -= list.bound();
            std::size_t kept = 0;
            for (std::size_t c = 0; c < n_candidates_; ++c) {
                Candidate candidate = candidates_[c];
                if (candidate.score + list.bound_at(candidate.document) + rest_ <= threshold_) continue;
                candidate.score += list.score(candidate.document);
                candidates_[kept] = candidate;
                kept += candidate.score + rest_ > threshold_;
            }
            n_candidates_ = kept;
        }
    }

    void keep_best() {
        for (std::size_t c = 0; c < n_candidates_; ++c) {
            const std::uint32_t document = candidates_[c].document;
            if (!is_removed(document)) best_.add(candidates_[c].score, segment_.first_document + document);
        }
    }

    bool is_removed(std::uint32_t document) const {
        return !segment_.removed.empty() && (segment_.removed[document / 64] >> document % 64 & 1) != 0;
    }

    double prior_for(double length) const {
        return prior_score(Weighting::dirichlet, query_.prior, query_.lengths, length, 0.0);
    }
    double prior_of(std::uint32_t document) const {
        if constexpr (!Model::kHasPrior) return start_;
        return start_ + grid_.round(prior_for(query_.length(segment_, document)));
    }
    double highest_prior() const {
        if constexpr (!Model::kHasPrior) return start_;
        double shortest = 0.0;
        for (std::size_t field = 0; field < segment_.fields.size(); ++field)
            shortest += query_.field_weights[field] * segment_.fields[field].shortest[begin_ / kWindow];
        return start_ + grid_.above(prior_for(shortest));
    }

    struct Candidate {
        double score;
        std::uint32_t document;
    };

    const RankedQuery& query_;
    const QuerySegment& segment_;
    Grid grid_;
    bool skip_;
    Best& best_;
    double start_;
    std::vector<List> lists_;
    // The current window.
    std::size_t begin_ = 0, end_ = 0;
    std::vector<List*> active_;  // by their bounds; from first_essential_ on they make candidates
    std::size_t first_essential_ = 0;
    double threshold_ = 0.0, rest_ = 0.0;  // rest_: the most that words not yet added can contribute
    std::array<double, kWindow> sums_{};
    std::array<std::uint64_t, kWindow / 64> marks_{};
    std::array<Candidate, kWindow + 1> candidates_;
    std::size_t n_candidates_ = 0;
};

template <class Model>
std::vector<ScoredDocument> search(const RankedQuery& query, std::size_t n, bool skip) {
    const Grid grid(query.bound);
    Best best(n);
    for (const QuerySegment& segment : query.segments)
        if (!segment.words.empty()) SegmentSearch<Model>(query, segment, grid, skip, best).run();
    return std::move(best).sorted();
}

constexpr double kMostFrequent = 4294967296.0;  // frequencies and lengths are less than 2^32

}  // namespace

double bound_of_word(Weighting weighting, double weight, double scale, double field_weight) {
    if (weighting == Weighting::bm25) return weight;
    return weight * std::log1p(scale * field_weight * kMostFrequent);
}

double bound_of_prior(Weighting weighting, const FieldWeighting& lengths, double prior, double field_weight) {
    const double longest = std::max(field_weight, 1.0) * kMostFrequent;
    if (weighting == Weighting::dirichlet) return prior * std::log1p(lengths.slope * longest);
    if (weighting == Weighting::absolute_discounting)
        return prior * (std::log(longest) - std::log(lengths.constant));
    return 0.0;
}

std::vector<ScoredDocument> best_documents(const RankedQuery& query, std::size_t n, bool skip) {
    switch (query.weighting) {
        case Weighting::bm25:
            return search<Bm25>(query, n, skip);
        case Weighting::dirichlet:
            return search<Dirichlet>(query, n, skip);
        default:
            return search<JelinekMercer>(query, n, skip);
    }
}

}  // namespace rankwright
