// Many texts in one array of bytes, found by binary search: the terms of a field, the ids of documents.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "index/postings.hpp"

namespace rankwright {

// Text i has the bytes [places[i], places[i + 1]). The arrays may come from a damaged file: a text that is not
// within the bytes is empty.
struct TextArray {
    Places places;  // at least one
    std::string_view bytes;

    std::size_t size() const { return places.size() - 1; }
    std::string_view operator[](std::size_t i) const {
        const std::uint64_t begin = places[i], end = places[i + 1];
        return begin <= end && end <= bytes.size() ? bytes.substr(begin, end - begin) : std::string_view();
    }
};

// The number of the text equal to `wanted`, or -1. `order` has the numbers of the texts in the order of their
// bytes; numbers out of range are never found.
std::int64_t find_text(const TextArray& texts, Numbers order, std::string_view wanted);
// The same for texts that are themselves in order.
std::int64_t find_text(const TextArray& texts, std::string_view wanted);

// Numbers of texts in the order of their bytes, equal ones in their own order.
std::vector<std::uint32_t> order_of_texts(std::span<const std::string_view> texts);

// Distinct terms in the order of their bytes, and each word's term (kNoTerm for words without one).
struct SortedTerms {
    std::vector<std::string_view> terms;
    std::vector<std::uint32_t> term_of;
};
SortedTerms sort_terms(std::span<const std::optional<std::string_view>> term_of_word);

// The union of lists in order, again in order; number_of[l][i] is the number in the union of text i of list l.
struct MergedTexts {
    std::vector<std::string_view> texts;
    std::vector<std::vector<std::uint32_t>> number_of;
};
MergedTexts merge_texts(std::span<const TextArray> lists);

}  // namespace rankwright
