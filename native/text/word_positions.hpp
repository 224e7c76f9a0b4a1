// Positions of the words of a query in one field of one document: spans, pairs and phrases.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "index/postings.hpp"

namespace rankwright {

// The words of a query in order, for computations on positions. The same word may come more than once.
struct QueryWords {
    std::vector<std::size_t> words;       // by number: one per distinct word, from 0
    std::vector<std::int64_t> positions;  // of each word in the query's text, increasing
    std::size_t n_distinct = 0;
};

struct WordPositions {
    std::size_t n_matched = 0;  // distinct words that occur
    std::uint64_t span = 0;     // positions in the shortest part of the field with all words that occur; 0: none
    std::uint64_t closest = 0;  // the smallest distance of two different words; 0: fewer than two occur
    std::int64_t ordered_pairs = 0;  // neighbours in the query with the same order and distance here
    std::int64_t phrases = 0;        // positions where all words are as in the query; 0 if one does not occur
    // For each word of the query but the last, the smallest distance of it and the next one; 0 if they are the
    // same word or one of them does not occur.
    std::vector<std::uint64_t> neighbours;
};

// Computes positions of one query in many documents; keeps its memory. One thread.
class PositionFinder {
  public:
    explicit PositionFinder(const QueryWords& query);

    // positions[w] are those of distinct word w in the field, increasing; empty if it does not occur. The result
    // is overwritten by the next call.
    const WordPositions& find(std::span<const Numbers> positions);

  private:
    struct Occurrence {
        std::uint32_t position;
        std::uint32_t word;
    };
    void merge(std::span<const Numbers> positions);
    void find_span();
    void find_closest();
    void find_neighbours(std::span<const Numbers> positions);
    void count_phrases(std::span<const Numbers> positions);

    const QueryWords& query_;
    std::vector<Occurrence> merged_;
    std::vector<std::size_t> counts_;
    WordPositions result_;
};

}  // namespace rankwright
