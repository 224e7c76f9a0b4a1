// Statistics of the documents of a segment, over several fields together.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "index/postings.hpp"

namespace rankwright {

// For each document of a segment, with some fields together: its distinct terms, and the Euclidean norm of
// (1 + log c) over its terms. Term t of field f is the term terms[f][t] of all fields together; terms increase.
// Every term must be sound. One thread.
struct Vocabularies {
    std::vector<std::uint32_t> distinct;
    std::vector<float> norms;
};
Vocabularies document_vocabularies(std::span<const FieldPostings> fields, std::span<const Numbers> terms);

// The number of documents of a segment, without removed ones, that have a term in any of several fields. `removed`
// has one bit per document, or is empty.
std::int64_t count_documents(std::span<const TermPostings> terms, std::span<const std::uint64_t> removed);

}  // namespace rankwright
