// From the texts of documents to postings, for one field.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "index/postings.hpp"
#include "index/words.hpp"

namespace rankwright {

inline constexpr std::uint32_t kNoTerm = 0xFFFFFFFF;  // of a word that is removed

// Documents as numbers of words, in memory until they are inverted: 4 bytes per word.
class WordedDocuments {
  public:
    WordedDocuments();

    // Adds documents. Chunks of documents are read in parallel, each with its own table; then their words get
    // numbers here, chunk by chunk, so that the numbers do not depend on n_threads.
    void add_texts(std::span<const std::string_view> texts, const CharacterTable& characters, int n_threads);
    // Adds one document given as words, which may contain anything.
    void add_words(std::span<const std::string_view> words);

    std::size_t n_documents() const { return n_documents_; }
    std::size_t n_words() const { return n_words_; }
    // The distinct words; number 0 stands for words that are too long and is empty.
    const WordTable& vocabulary() const { return vocabulary_; }

    // Consecutive documents. Document i has the words [ends[i - 1], ends[i]).
    struct Part {
        std::vector<std::uint32_t> words;
        std::vector<std::uint32_t> ends;
        std::size_t first_document;
    };
    const std::vector<Part>& parts() const { return parts_; }

  private:
    struct Chunk;
    void keep(std::vector<Chunk>& chunks, int n_threads);

    std::vector<Part> parts_;
    WordTable vocabulary_;
    std::size_t n_documents_ = 0, n_words_ = 0;
};

// Inverts documents by counting: first how many postings and positions each term has, then where they go. Removed
// words count as positions but not in lengths. The result does not depend on n_threads. Uses 8 bytes per term and
// thread besides its outputs.
class Inversion {
  public:
    // term_of[word] < n_terms or kNoTerm, for every word of the vocabulary; every term must occur. Keeps
    // references.
    Inversion(const WordedDocuments& documents, Numbers term_of, std::size_t n_terms, int n_threads);

    // n_terms + 1 places each; see FieldPostings.
    const std::vector<std::uint64_t>& posting_places() const { return posting_places_; }
    const std::vector<std::uint64_t>& position_places() const { return position_places_; }

    // documents and position_ends have as many places as postings, positions as positions, lengths as documents.
    // Works once.
    void fill(std::span<std::uint32_t> documents, std::span<std::uint32_t> position_ends,
              std::span<std::uint32_t> positions, std::span<std::uint32_t> lengths);

  private:
    struct Cursor {
        std::uint32_t postings = 0;   // counted; then the next one, relative to the term's first
        std::uint32_t positions = 0;  // the same
    };
    template <class Visit>
    void visit(std::size_t partition, const Visit& visit) const;
    void count(std::size_t partition);
    void set_places();

    const WordedDocuments& documents_;
    Numbers term_of_;
    std::size_t n_terms_;
    int n_threads_;
    std::vector<std::size_t> partitions_;       // partition p has the parts [partitions_[p], partitions_[p + 1])
    std::vector<std::vector<Cursor>> cursors_;  // by partition and term
    std::vector<std::uint64_t> posting_places_, position_places_;
};

}  // namespace rankwright
