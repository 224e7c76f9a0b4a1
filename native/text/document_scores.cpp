#include <algorithm>
#include <numeric>
#include <vector>

#include "text/retrieval.hpp"
#include "text/score_grid.hpp"

namespace rankwright {
namespace {

// Scores documents of one segment, which must come in the order of their numbers.
class SegmentScores {
  public:
    SegmentScores(const RankedQuery& query, const QuerySegment& segment, const Grid& grid)
        : query_(query), segment_(segment), grid_(grid) {
        for (const QueryTerm& term : segment.terms) cursors_.emplace_back(term.postings);
    }

    double score(std::uint32_t document) {
        double sum = grid_.round(query_.start);
        for (std::size_t field = 0; field < segment_.fields.size(); ++field)
            sum += grid_.round(prior_score(query_.weighting, query_.priors[field], query_.fields[field],
                                           length(field, document), distinct(field, document)));
        for (std::size_t i = 0; i < cursors_.size(); ++i) {
            const std::size_t posting = cursors_[i].find(document);
            if (posting != PostingCursor::kNone) sum += grid_.round(of_term(i, posting, document));
        }
        return sum;
    }

  private:
    double of_term(std::size_t i, std::size_t posting, std::uint32_t document) const {
        const QueryTerm& term = segment_.terms[i];
        return term_score(query_.weighting, term.weight, term.scale, query_.fields[term.field],
                          term.postings.frequency(posting), length(term.field, document),
                          distinct(term.field, document));
    }
    double length(std::size_t field, std::uint32_t document) const {
        return segment_.fields[field].lengths[document];
    }
    double distinct(std::size_t field, std::uint32_t document) const {
        return segment_.distinct.empty() ? 0.0 : segment_.distinct[field][document];
    }

    const RankedQuery& query_;
    const QuerySegment& segment_;
    Grid grid_;
    std::vector<PostingCursor> cursors_;
};

}  // namespace

void score_documents(const RankedQuery& query, std::span<const std::int64_t> documents, std::span<double> scores) {
    const Grid grid(query.bound);
    std::vector<std::size_t> order(documents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return documents[a] < documents[b]; });
    auto next = order.begin();
    for (const QuerySegment& segment : query.segments) {
        const auto size = static_cast<std::int64_t>(segment.fields.front().n_documents());
        SegmentScores scorer(query, segment, grid);
        for (; next != order.end() && documents[*next] < segment.first_document + size; ++next)
            scores[*next] = scorer.score(static_cast<std::uint32_t>(documents[*next] - segment.first_document));
    }
}

}  // namespace rankwright
