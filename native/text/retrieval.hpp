// The best documents of a query by a retrieval model, and the scores of given documents.
//
// All fields count as one document: the frequency of a word is the sum over the fields of weight * frequency, and
// the length likewise (BM25F of Robertson, Zaragoza & Taylor 2004, with one b for all fields). The score of a
// document is the sum over the words of the query; see text/weighting.hpp.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "index/postings.hpp"
#include "text/best.hpp"
#include "text/weighting.hpp"

namespace rankwright {

// The postings of a word of the query in one field of a segment.
struct WordField {
    std::size_t field;
    TermPostings postings;
};

// A word of a query in one segment; at least one field has postings.
struct QueryWord {
    double weight, scale;
    std::vector<WordField> fields;  // in the order of fields
};

// The part of a query in one segment.
struct QuerySegment {
    std::span<const FieldPostings> fields;
    std::span<const std::uint64_t> removed;  // one bit per document; empty: none is removed
    std::int64_t first_document;             // of the segment, in the index
    Numbers distinct;                        // distinct terms of each document in all fields; or empty
    std::vector<QueryWord> words;
};

// A query over all segments, in the order of their documents.
struct RankedQuery {
    Weighting weighting;
    FieldWeighting lengths;
    std::span<const double> field_weights;  // above 0
    double prior = 0.0;                     // the sum of the words' weights
    double start = 0.0;                     // a part of the score that all documents have
    // No score is larger than this in absolute value, whatever the postings; see bound_of_word. Every summand is
    // rounded to a multiple of the power of two above it over 2^50, so that sums are exact in any order, and ties
    // are ties.
    double bound = 0.0;
    std::vector<QuerySegment> segments;

    // The length of a document, which is one of the segment.
    double length(const QuerySegment& segment, std::size_t document) const {
        double sum = 0.0;
        for (std::size_t field = 0; field < field_weights.size(); ++field)
            sum += field_weights[field] * segment.fields[field].lengths[document];
        return sum;
    }
};

// The highest score of a word, for any frequency and length; field_weight is the sum of the weights of fields.
double bound_of_word(Weighting weighting, double weight, double scale, double field_weight);
// The same for the part of a score that depends on the length only.
double bound_of_prior(Weighting weighting, const FieldWeighting& lengths, double prior, double field_weight);

// The n best of the documents that have at least one word of the query, best first, equal scores by number. With
// `skip`, postings that cannot belong to the result are not scored; the result is the same. Not for
// absolute_discounting. One thread.
std::vector<ScoredDocument> best_documents(const RankedQuery& query, std::size_t n, bool skip);

// The score of each document, given by its number in the index in any order; exactly that of best_documents.
// Blocks of postings without any of the documents are skipped. absolute_discounting needs `distinct`. One thread.
void score_documents(const RankedQuery& query, std::span<const std::int64_t> documents, std::span<double> scores);

}  // namespace rankwright
