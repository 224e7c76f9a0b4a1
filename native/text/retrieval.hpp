// The best documents of a query by a retrieval model, and the scores of given documents.
//
// The score of a document is the sum over the words and fields of the query; see text/weighting.hpp.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "index/postings.hpp"
#include "text/weighting.hpp"

namespace rankwright {

// A term of a query in one field of one segment.
struct QueryTerm {
    std::size_t field;
    TermPostings postings;
    double weight, scale;
};

// The part of a query in one segment.
struct QuerySegment {
    std::span<const FieldPostings> fields;
    std::span<const std::uint64_t> removed;  // one bit per document; empty: none is removed
    std::int64_t first_document;             // of the segment, in the index
    std::span<const Numbers> distinct;       // one per field: distinct terms of each document; or empty
    std::vector<QueryTerm> terms;
};

// A query over all segments, in the order of their documents.
struct RankedQuery {
    Weighting weighting;
    std::span<const FieldWeighting> fields;
    std::vector<double> priors;  // one per field: the sum of the words' weights
    double start = 0.0;          // a part of the score that all documents have
    // No score is larger than this in absolute value, whatever the postings; see bound_of_term. Every summand is
    // rounded to a multiple of the power of two above it over 2^50, so that sums are exact in any order, and ties
    // are ties.
    double bound = 0.0;
    std::vector<QuerySegment> segments;
};

// The highest score of a term, for any frequency and length.
double bound_of_term(Weighting weighting, double weight, double scale);
// The same for the part of a score that depends on the length only.
double bound_of_prior(Weighting weighting, const FieldWeighting& field, double prior);

struct ScoredDocument {
    double score;
    std::int64_t document;
};

// The n best of the documents that have at least one term of the query, best first, equal scores by number. With
// `skip`, postings that cannot belong to the result are not scored; the result is the same. Not for
// absolute_discounting. One thread.
std::vector<ScoredDocument> best_documents(const RankedQuery& query, std::size_t n, bool skip);

// The score of each document, given by its number in the index in any order; exactly that of best_documents.
// Blocks of postings without any of the documents are skipped. absolute_discounting needs `distinct`. One thread.
void score_documents(const RankedQuery& query, std::span<const std::int64_t> documents, std::span<double> scores);

}  // namespace rankwright
