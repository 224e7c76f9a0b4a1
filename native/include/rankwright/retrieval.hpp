// The best documents of a query, by BM25 or by a language model.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "rankwright/postings.hpp"

namespace rankwright {

// How a posting of frequency f in a field of length l is scored, for a term with `weight` and `scale`:
//
//   bm25            weight * f / (f + (constant + slope * l))
//   dirichlet       weight * log(1 + scale * f)       and once per document: -prior * log(1 + slope * l)
//   jelinek_mercer  weight * log(1 + scale * f / l)
//
// The score of a document is the sum over the terms and fields of the query. Weights, scales, priors, constants
// and slopes are finite and not negative.
enum class Weighting { bm25, dirichlet, jelinek_mercer };

struct FieldWeighting {
    double constant = 0.0, slope = 0.0;  // of the length
};

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
    std::vector<QueryTerm> terms;
};

// A query over all segments, in the order of their documents.
struct RankedQuery {
    Weighting weighting;
    std::span<const FieldWeighting> fields;
    std::vector<double> priors;  // one per field, for dirichlet
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
double bound_of_prior(const FieldWeighting& field, double prior);

struct ScoredDocument {
    double score;
    std::int64_t document;
};

// The n best of the documents that have at least one term of the query, best first, equal scores by number. With
// `skip`, postings that cannot belong to the result are not scored; the result is the same. One thread.
std::vector<ScoredDocument> best_documents(const RankedQuery& query, std::size_t n, bool skip);

}  // namespace rankwright
