// The postings of one field of a segment: for each term the documents that have it, how often and where.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankwright {

using Numbers = std::span<const std::uint32_t>;
using Places = std::span<const std::uint64_t>;  // offsets into another span, never decreasing

inline constexpr std::size_t kBlock = 128;    // postings per block, the last of a term may have fewer
inline constexpr std::size_t kWindow = 2048;  // documents that are scored together

// How often a term occurs in a document, and the length of the document's field. Of the postings of a block only
// those are kept that no other exceeds in both respects (higher frequency, shorter field): the highest value in
// the block of any score that grows with the frequency and falls with the length is among them.
struct Impact {
    std::uint32_t frequency;
    std::uint32_t length;
};
static_assert(sizeof(Impact) == 8);

// The postings of one term. Posting i: document documents[i] has the term at the positions
// [position_ends[i - 1], position_ends[i]) of the term's positions (from 0 for i = 0), so that the difference is
// the frequency.
struct TermPostings {
    Numbers documents;      // increasing
    Numbers position_ends;  // increasing
    Numbers positions;      // of words in the field, increasing within a posting
    Numbers block_ends;     // the last document of each block
    Places impact_places;   // block b has the impacts [impact_places[b], impact_places[b + 1])

    std::size_t size() const { return documents.size(); }
    std::size_t n_blocks() const { return block_ends.size(); }
    std::uint32_t frequency(std::size_t posting) const {
        return position_ends[posting] - (posting == 0 ? 0 : position_ends[posting - 1]);
    }
    Numbers positions_of(std::size_t posting) const {
        return positions.subspan(position_ends[posting] - frequency(posting), frequency(posting));
    }
};

// The first posting of a block that is not before the document; the block must have one. Without branches that
// cannot be predicted.
inline std::size_t first_in_block(Numbers documents, std::size_t block, std::size_t document) {
    const std::size_t begin = block * kBlock;
    const std::uint32_t* first = documents.data() + begin;
    for (std::size_t size = std::min(kBlock, documents.size() - begin); size > 1;) {
        const std::size_t half = size / 2;
        first += first[half - 1] < document ? half : 0;
        size -= half;
    }
    return static_cast<std::size_t>(first - documents.data());
}

// Looks up documents, which must not decrease from call to call, in the postings of a term, block by block.
class PostingCursor {
  public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    explicit PostingCursor(const TermPostings& term) : term_(term) {}

    // The posting of the document, kNone if it does not have the term.
    std::size_t find(std::uint32_t document) {
        const auto ends = term_.block_ends;
        const auto block =
            std::lower_bound(ends.begin() + static_cast<std::ptrdiff_t>(block_), ends.end(), document);
        block_ = static_cast<std::size_t>(block - ends.begin());
        if (block == ends.end()) return kNone;
        const std::size_t posting = first_in_block(term_.documents, block_, document);
        return term_.documents[posting] == document ? posting : kNone;
    }
    const TermPostings& term() const { return term_; }

  private:
    TermPostings term_;
    std::size_t block_ = 0;  // all earlier blocks are passed
};

// The postings of all terms, as flat arrays; the owner of the memory is the caller. Terms are numbered in the
// order of their bytes.
struct FieldPostings {
    Places posting_places;   // n_terms + 1
    Places position_places;  // n_terms + 1
    Places block_places;     // n_terms + 1; term t has the blocks [block_places[t], block_places[t + 1])
    Numbers documents;       // n_postings
    Numbers position_ends;   // n_postings, relative to the term's first position
    Numbers positions;       // n_positions
    Numbers block_ends;      // n_blocks
    Places impact_places;    // n_blocks + 1
    std::span<const Impact> impacts;
    Numbers lengths;   // n_documents: the number of terms in the field
    Numbers shortest;  // one per kWindow documents: their lowest length

    std::size_t n_terms() const { return posting_places.size() - 1; }
    std::size_t n_documents() const { return lengths.size(); }
    std::size_t frequency_in_documents(std::size_t term) const {
        return posting_places[term + 1] - posting_places[term];
    }
    TermPostings term(std::size_t number) const {
        const std::size_t begin = posting_places[number], size = posting_places[number + 1] - begin;
        const std::size_t first = position_places[number];
        const std::size_t block = block_places[number], n_blocks = block_places[number + 1] - block;
        return {documents.subspan(begin, size), position_ends.subspan(begin, size),
                positions.subspan(first, position_places[number + 1] - first), block_ends.subspan(block, n_blocks),
                impact_places.subspan(block, n_blocks + 1)};
    }
};

// Whether the arrays of a term can be used: all places are in range, documents increase and exist, positions are
// as many as their ends say, and so on. Nothing else may be done with a term of a file before that.
bool is_sound(const FieldPostings& field, std::size_t term);

// Impacts of the blocks of many terms.
struct Impacts {
    std::vector<std::uint64_t> block_places;   // n_terms + 1
    std::vector<std::uint32_t> block_ends;     // n_blocks
    std::vector<std::uint64_t> impact_places;  // n_blocks + 1
    std::vector<Impact> impacts;
};

// The impacts of terms whose postings are at posting_places (from 0); lengths by document. A chunk of terms
// belongs to one thread.
Impacts block_impacts(Places posting_places, Numbers documents, Numbers position_ends, Numbers lengths,
                      int n_threads);

// shortest[w] is the lowest of the lengths [w * kWindow, (w + 1) * kWindow).
std::vector<std::uint32_t> shortest_lengths(Numbers lengths);

// How many of the documents (increasing) are in a term's postings, and how often they have the term together.
struct Occurrences {
    std::int64_t documents = 0;
    std::int64_t positions = 0;
};
Occurrences count_occurrences(const TermPostings& term, Numbers documents);

}  // namespace rankwright
