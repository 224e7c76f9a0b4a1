// Merges the postings of one field from several segments, a range of terms at a time.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "index/postings.hpp"

namespace rankwright {

// One segment's part in a merge. Its arrays must outlive the merge.
struct MergeSource {
    FieldPostings field;
    std::vector<std::uint32_t>
        new_terms;          // by the segment's terms: the number in the union of all terms; increasing
    Numbers new_documents;  // by the segment's documents: the number in the merged segment, or kNoTerm if removed
};

// Sources are in the order of their new documents, which increase. Terms that have no document left are dropped.
class PostingsMerge {
  public:
    // n_terms: in the union.
    PostingsMerge(std::vector<MergeSource> sources, std::size_t n_terms);

    // The terms of the union that remain, numbered in this order from 0.
    const std::vector<std::uint32_t>& terms() const { return terms_; }
    // By remaining terms; see FieldPostings.
    const std::vector<std::uint64_t>& posting_places() const { return posting_places_; }
    const std::vector<std::uint64_t>& position_places() const { return position_places_; }

    // Writes the postings of the remaining terms [first, last), one after another; the spans are as large as the
    // places say.
    void merge(std::size_t first, std::size_t last, std::span<std::uint32_t> documents,
               std::span<std::uint32_t> position_ends, std::span<std::uint32_t> positions) const;

  private:
    struct Counts {
        std::uint64_t postings = 0, positions = 0;
    };
    std::vector<Counts> count(std::size_t n_terms) const;
    void renumber(const std::vector<Counts>& counts);

    std::vector<MergeSource> sources_;  // terms without documents have the number of the next one
    std::vector<std::uint32_t> terms_;
    std::vector<std::uint64_t> posting_places_, position_places_;
};

}  // namespace rankwright
