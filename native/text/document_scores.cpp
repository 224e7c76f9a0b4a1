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
        for (const QueryWord& word : segment.words) {
            auto& cursors = cursors_.emplace_back();
            for (const WordField& mine : word.fields) cursors.emplace_back(mine.postings);
        }
    }

    double score(std::uint32_t document) {
        const double length = query_.length(segment_, document);
        const double distinct = segment_.distinct.empty() ? 0.0 : segment_.distinct[document];
        double sum = grid_.round(query_.start);
        sum += grid_.round(prior_score(query_.weighting, query_.prior, query_.lengths, length, distinct));
        for (std::size_t i = 0; i < cursors_.size(); ++i) {
            const QueryWord& word = segment_.words[i];
            const double frequency = frequency_of(i, document);
            if (frequency > 0.0)
                sum += grid_.round(term_score(query_.weighting, word.weight, word.scale, query_.lengths, frequency,
                                              length, distinct));
        }
        return sum;
    }

  private:
    double frequency_of(std::size_t word, std::uint32_t document) {
        double sum = 0.0;
        for (std::size_t i = 0; i < cursors_[word].size(); ++i) {
            const std::size_t posting = cursors_[word][i].find(document);
            const WordField& mine = segment_.words[word].fields[i];
            if (posting != PostingCursor::kNone)
                sum += query_.field_weights[mine.field] * mine.postings.frequency(posting);
        }
        return sum;
    }

    const RankedQuery& query_;
    const QuerySegment& segment_;
    Grid grid_;
    std::vector<std::vector<PostingCursor>> cursors_;  // by word and field
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
