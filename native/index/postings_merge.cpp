#include "index/postings_merge.hpp"

#include <utility>

#include "index/inversion.hpp"

namespace rankwright {
namespace {

// Where the postings of one merged term go.
struct Target {
    std::uint32_t* documents;
    std::uint32_t* position_ends;
    std::uint32_t* positions;
    std::uint32_t n_positions = 0;

    void append(const TermPostings& term, Numbers new_documents) {
        for (std::size_t posting = 0; posting < term.size(); ++posting) {
            const std::uint32_t document = new_documents[term.documents[posting]];
            if (document == kNoTerm) continue;
            const Numbers occurrences = term.positions_of(posting);
            std::copy(occurrences.begin(), occurrences.end(), positions + n_positions);
            n_positions += static_cast<std::uint32_t>(occurrences.size());
            *documents++ = document;
            *position_ends++ = n_positions;
        }
    }
};

bool has_removed(Numbers new_documents) {
    return std::find(new_documents.begin(), new_documents.end(), kNoTerm) != new_documents.end();
}

}  // namespace

PostingsMerge::PostingsMerge(std::vector<MergeSource> sources, std::size_t n_terms)
    : sources_(std::move(sources)) {
    renumber(count(n_terms));
}

std::vector<PostingsMerge::Counts> PostingsMerge::count(std::size_t n_terms) const {
    std::vector<Counts> counts(n_terms);
    for (const MergeSource& source : sources_) {
        const bool removed = has_removed(source.new_documents);
        for (std::size_t number = 0; number < source.new_terms.size(); ++number) {
            const TermPostings term = source.field.term(number);
            Counts& sum = counts[source.new_terms[number]];
            sum.postings += term.size();
            sum.positions += term.positions.size();
            for (std::size_t posting = 0; removed && posting < term.size(); ++posting) {
                if (source.new_documents[term.documents[posting]] != kNoTerm) continue;
                --sum.postings;
                sum.positions -= term.frequency(posting);
            }
        }
    }
    return counts;
}

void PostingsMerge::renumber(const std::vector<Counts>& counts) {
    posting_places_.push_back(0);
    position_places_.push_back(0);
    std::vector<std::uint32_t> number_of(counts.size());
    for (std::size_t term = 0; term < counts.size(); ++term) {
        number_of[term] = static_cast<std::uint32_t>(terms_.size());
        if (counts[term].postings == 0) continue;
        terms_.push_back(static_cast<std::uint32_t>(term));
        posting_places_.push_back(posting_places_.back() + counts[term].postings);
        position_places_.push_back(position_places_.back() + counts[term].positions);
    }
    for (MergeSource& source : sources_)
        for (std::uint32_t& term : source.new_terms) term = number_of[term];
}

void PostingsMerge::merge(std::size_t first, std::size_t last, std::span<std::uint32_t> documents,
                          std::span<std::uint32_t> position_ends, std::span<std::uint32_t> positions) const {
    std::vector<Target> targets;
    for (std::size_t term = first; term < last; ++term) {
        const std::size_t posting = posting_places_[term] - posting_places_[first];
        const std::size_t position = position_places_[term] - position_places_[first];
        targets.push_back(
            {documents.data() + posting, position_ends.data() + posting, positions.data() + position});
    }
    for (const MergeSource& source : sources_) {
        const auto begin = std::lower_bound(source.new_terms.begin(), source.new_terms.end(), first);
        const auto end = std::lower_bound(begin, source.new_terms.end(), last);
        for (auto term = begin; term != end; ++term)
            targets[*term - first].append(
                source.field.term(static_cast<std::size_t>(term - source.new_terms.begin())),
                source.new_documents);
    }
}

}  // namespace rankwright
