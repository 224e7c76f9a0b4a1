// Features of documents for a query, from the postings of its words.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "index/postings.hpp"
#include "text/weighting.hpp"
#include "text/word_positions.hpp"

namespace rankwright {

// A scope is one field, or all fields together as one document: frequencies and lengths are summed, and the
// collection's numbers are those of such documents. Notation, in a scope: a word has the frequency c in the
// document, which has l terms, u of them distinct; n of N documents have the word, which is at cf of L positions.
// Sums run over the words of the query that the document has, matched ones; a word that comes k times in the query
// counts k times.
enum class TextFeature {
    frequency,                 // sum of c
    log_frequency,             // sum of log(c + 1)
    normalised_frequency,      // sum of c / l
    log_normalised_frequency,  // sum of log(c / l + 1)
    idf,                       // sum of log(N / n)
    icf,                       // sum of log(L / cf + 1)
    tf_idf,                    // sum of c * log(N / n)
    normalised_tf_idf,         // sum of c / l * log(N / n)
    log_tf_idf,                // sum of log(c / l * N / n + 1)
    log_tf_icf,                // sum of log(c / l * L / cf + 1)
    length,                    // l
    bm25,                      // score by models[0]
    log_bm25,                  // log of it; NaN if no word is matched or the score is 0
    dirichlet,                 // score by models[1]
    jelinek_mercer,            // score by models[2]
    absolute_discounting,      // score by models[3]; needs `distinct`
    cosine,                    // of (1 + log k) * log(N / n) and (1 + log c); needs `norms`; 0 if a norm is 0
    matched_words,             // distinct words matched
    matched_fraction,          // the same, divided by all distinct words of the query; 0 without words
    minimal_span,              // see WordPositions; NaN if no word is matched
    span_density,              // matched words / minimal span; 0 if no word is matched
    closest_pair,              // the smallest distance of two different words; NaN if fewer than two are matched
    pair_closeness,            // sum of 1 / distance^2 over WordPositions::neighbours
    ordered_pairs,             // see WordPositions
    phrases,                   // see WordPositions
    query_length,              // words of the query, in any scope
};
// In the scope of all fields, phrases and ordered pairs are summed over fields, pairs have the distance of the
// field where they are closest, and the span is that of the field with the most matched words, of several the
// shortest.

struct FeatureColumn {
    std::size_t scope;  // a field; n_fields: all fields
    TextFeature feature;
};

// A model's numbers in one scope, by distinct word of the query; see text/weighting.hpp.
struct ModelWeights {
    std::vector<double> weights, scales;
    double start = 0.0, prior = 0.0;  // of the whole query
    FieldWeighting field;
};
inline constexpr std::array<Weighting, 4> kFeatureModels{
    Weighting::bm25, Weighting::dirichlet, Weighting::jelinek_mercer, Weighting::absolute_discounting};

// Numbers of the collection in one scope, by distinct word of the query; words that no document has are not
// matched.
struct ScopeWords {
    std::vector<double> idf;                                 // log(N / n)
    std::vector<double> icf;                                 // log(L / cf + 1)
    std::vector<double> rarity, collection_rarity;           // N / n, L / cf
    std::vector<double> query_weights;                       // (1 + log k) * log(N / n)
    double query_norm = 0.0;                                 // of query_weights
    std::array<ModelWeights, kFeatureModels.size()> models;  // weights without k
};

// The query in one segment.
struct FeatureSegment {
    std::span<const FieldPostings> fields;
    std::int64_t first_document;
    // By scope and document, or empty: distinct terms, and the norm of (1 + log c) over them.
    std::span<const Numbers> distinct;
    std::span<const std::span<const float>> norms;
    std::vector<TermPostings> terms;  // field * n_words + word; without documents if the segment does not have it
};

struct FeatureQuery {
    QueryWords words;
    std::vector<double> counts;      // k, by distinct word
    std::vector<ScopeWords> scopes;  // n_fields + 1
    std::vector<FeatureSegment> segments;
};

// values[d * n_columns + c] is a feature of document d, given by its number in the index in any order. Blocks of
// postings without any of the documents are skipped. One thread.
void text_features(const FeatureQuery& query, std::span<const FeatureColumn> columns,
                   std::span<const std::int64_t> documents, std::span<float> values);

}  // namespace rankwright
