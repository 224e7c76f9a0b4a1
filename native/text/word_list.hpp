// The postings of a word of a query in all fields of a segment, with bounds of its scores.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "text/retrieval.hpp"
#include "text/score_grid.hpp"

namespace rankwright {

// The postings of a word in one field, passed window by window.
class FieldList {
  public:
    // block_bounds: the highest score of any posting in each block.
    FieldList(const TermPostings& postings, double weight, std::vector<double> block_bounds)
        : documents_(postings.documents),
          ends_(postings.position_ends),
          block_ends_(postings.block_ends),
          weight_(weight),
          block_bounds_(std::move(block_bounds)) {}

    // No document before this one remains.
    std::size_t next_document() const {
        if (is_over()) return std::numeric_limits<std::size_t>::max();
        return block_ == 0 ? 0 : block_ends_[block_ - 1] + std::size_t{1};
    }
    void skip_to(std::size_t document) {
        while (!is_over() && block_ends_[block_] < document) ++block_;
    }
    // Whether any document before `end` may remain, and raises `bound` to the highest bound of their blocks.
    bool bound_until(std::size_t end, double& bound) const {
        std::size_t block = block_;
        for (; block < block_ends_.size() && (block == 0 || block_ends_[block - 1] + 1 < end); ++block)
            bound = std::max(bound, block_bounds_[block]);
        return block > block_;
    }
    double bound() const { return is_over() ? 0.0 : block_bounds_[block_]; }

    // The first posting that is not before the document, which must not be before that of skip_to.
    std::size_t first_from(std::size_t document) const {
        return is_over() ? documents_.size() : first_in_block(documents_, block_, document);
    }
    std::size_t size() const { return documents_.size(); }
    std::uint32_t document(std::size_t posting) const { return documents_[posting]; }
    // The frequency times the weight of the field.
    double frequency(std::size_t posting) const {
        return weight_ * (ends_[posting] - (posting == 0 ? 0 : ends_[posting - 1]));
    }

  private:
    bool is_over() const { return block_ == block_ends_.size(); }

    Numbers documents_, ends_, block_ends_;
    double weight_;
    std::vector<double> block_bounds_;
    std::size_t block_ = 0;  // all earlier blocks are passed
};

// A word of the query in all fields of a segment, passed window by window.
//
// Scores grow with the frequency ever more slowly, so that the score of a sum of frequencies is at most the sum of
// their scores: the bound of a word is the sum of the bounds of its fields.
template <class Model>
class WordList {
  public:
    WordList(const RankedQuery& query, const QuerySegment& segment, const QueryWord& word, const Grid& grid)
        : query_(query), segment_(segment), model_(word.weight, word.scale, query.lengths), grid_(grid) {
        for (const WordField& mine : word.fields)
            lists_.emplace_back(mine.postings, query.field_weights[mine.field], block_bounds(mine));
    }

    double bound() const { return bound_; }
    std::size_t next_document() const {
        std::size_t next = std::numeric_limits<std::size_t>::max();
        for (const FieldList& list : lists_) next = std::min(next, list.next_document());
        return next;
    }

    // Finds the bound of the scores in the documents [begin, end); returns whether there may be any.
    bool enter(std::size_t begin, std::size_t end) {
        bool has_any = false;
        bound_ = 0.0;
        for (FieldList& list : lists_) {
            double highest = 0.0;
            list.skip_to(begin);
            has_any |= list.bound_until(end, highest);
            bound_ += highest;
        }
        return has_any;
    }

    // Calls visit(document, score) for the documents in [begin, end) that have the word.
    template <class Visit>
    void scan(std::size_t begin, std::size_t end, const Visit& visit) {
        if (lists_.size() == 1) {
            const FieldList& list = lists_.front();
            for (std::size_t i = list.first_from(begin); i < list.size() && list.document(i) < end; ++i)
                visit(list.document(i), score_of(list.frequency(i), list.document(i)));
            return;
        }
        next_.resize(lists_.size());
        for (std::size_t i = 0; i < lists_.size(); ++i) next_[i] = lists_[i].first_from(begin);
        for (std::size_t document = first_next(); document < end; document = first_next()) {
            double frequency = 0.0;
            for (std::size_t i = 0; i < lists_.size(); ++i)
                if (next_[i] < lists_[i].size() && lists_[i].document(next_[i]) == document)
                    frequency += lists_[i].frequency(next_[i]++);
            visit(static_cast<std::uint32_t>(document), score_of(frequency, document));
        }
    }

    // The highest score that a document may have, which must not be before that of the last call.
    double bound_at(std::size_t document) {
        double sum = 0.0;
        for (FieldList& list : lists_) {
            list.skip_to(document);
            sum += list.bound();
        }
        return sum;
    }
    // The score of the document of the last call.
    double score(std::size_t document) const {
        double frequency = 0.0;
        for (const FieldList& list : lists_) {
            const std::size_t posting = list.first_from(document);
            if (posting < list.size() && list.document(posting) == document) frequency += list.frequency(posting);
        }
        return frequency == 0.0 ? 0.0 : score_of(frequency, document);
    }

  private:
    double score_of(double frequency, std::size_t document) const {
        return grid_.round(model_(frequency, query_.length(segment_, document)));
    }
    std::size_t first_next() const {
        std::size_t first = std::numeric_limits<std::size_t>::max();
        for (std::size_t i = 0; i < lists_.size(); ++i)
            if (next_[i] < lists_[i].size()) first = std::min<std::size_t>(first, lists_[i].document(next_[i]));
        return first;
    }

    std::vector<double> block_bounds(const WordField& word) const {
        const TermPostings& postings = word.postings;
        const double weight = query_.field_weights[word.field];
        std::vector<double> bounds(postings.n_blocks());
        for (std::size_t block = 0; block < bounds.size(); ++block) {
            const std::size_t first = block == 0 ? 0 : postings.block_ends[block - 1] + std::size_t{1};
            const double others = shortest_others(word.field, first, postings.block_ends[block]);
            const std::size_t begin = postings.impact_places[block];
            double highest = 0.0;
            for (const Impact& impact :
                 segment_.fields[word.field].impacts.subspan(begin, postings.impact_places[block + 1] - begin))
                highest = std::max(highest, model_(weight * impact.frequency, weight * impact.length + others));
            bounds[block] = grid_.above(highest);
        }
        return bounds;
    }

    // At most the length in all other fields of any document from `first` to `last`.
    double shortest_others(std::size_t field, std::size_t first, std::size_t last) const {
        double sum = 0.0;
        for (std::size_t other = 0; other < query_.field_weights.size(); ++other) {
            if (other == field) continue;
            const Numbers shortest = segment_.fields[other].shortest;
            std::uint32_t least = shortest[first / kWindow];
            for (std::size_t window = first / kWindow + 1; window <= last / kWindow && least > 0; ++window)
                least = std::min(least, shortest[window]);
            sum += query_.field_weights[other] * least;
        }
        return sum;
    }

    const RankedQuery& query_;
    const QuerySegment& segment_;
    Model model_;
    Grid grid_;
    std::vector<FieldList> lists_;
    std::vector<std::size_t> next_;  // of each list, while it is scanned
    double bound_ = 0.0;             // in the current window
};

}  // namespace rankwright
