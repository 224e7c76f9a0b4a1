#include "text/text_features.hpp"

#include <nanobind/stl/vector.h>

#include <cmath>
#include <deque>
#include <functional>
#include <unordered_map>

#include "bindings/index/postings.hpp"
#include "bindings/index/strings.hpp"
#include "index/vocabularies.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright::bindings {
namespace {

template <class T>
using Cube = NumpyArray<const T, 3>;

// One array per scope, with one number per document; none if they are not needed.
template <class T>
using ByScope = std::vector<Array<T>>;

constexpr std::size_t kModels = kFeatureModels.size();

void require_all(std::span<const double> values, bool (*holds)(double), const char* sentence) {
    require(std::all_of(values.begin(), values.end(), holds), sentence);
}

template <class T, int Dimensions>
std::span<const T> flat(const NumpyArray<const T, Dimensions>& array) {
    return {array.data(), array.size()};
}

// Numbers of the collection and of the models, by scope and word.
struct Numbering {
    std::int64_t n_documents;
    Array<std::int64_t> total_lengths;            // by scope
    Matrix<std::int64_t> documents, occurrences;  // scope, word
    Cube<double> weights, scales, starts;         // model, scope, word
    Cube<double> fields;                          // model, scope, (constant, slope)

    std::size_t n_scopes() const { return documents.shape(0); }
    std::size_t n_words() const { return documents.shape(1); }

    void check() const {
        const std::size_t scopes = n_scopes(), words = n_words();
        require(total_lengths.size() == scopes && occurrences.shape(0) == scopes && occurrences.shape(1) == words,
                "there must be one number per scope and word");
        for (const auto* cube : {&weights, &scales, &starts})
            require(cube->shape(0) == kModels && cube->shape(1) == scopes && cube->shape(2) == words,
                    "there must be one weight per model, scope and word");
        require(fields.shape(0) == kModels && fields.shape(1) == scopes && fields.shape(2) == 2,
                "there must be a constant and a slope per model and scope");
        for (const auto* cube : {&weights, &scales, &fields})
            require_all(
                flat(*cube), [](double value) { return std::isfinite(value) && value >= 0.0; },
                "weights must be finite and not negative");
        require_all(flat(starts), [](double value) { return std::isfinite(value); }, "starts must be finite");
    }

    ScopeWords scope(std::size_t s, std::span<const std::int64_t> words, std::span<const double> counts) const {
        ScopeWords scope_words;
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::size_t index = s * n_words() + static_cast<std::size_t>(words[i]);
            const auto n = static_cast<double>(documents.data()[index]);
            const auto cf = static_cast<double>(occurrences.data()[index]);
            scope_words.rarity.push_back(n > 0 ? static_cast<double>(n_documents) / n : 1.0);
            scope_words.collection_rarity.push_back(cf > 0 ? static_cast<double>(total_lengths.data()[s]) / cf
                                                           : 1.0);
            scope_words.idf.push_back(std::log(scope_words.rarity.back()));
            scope_words.icf.push_back(std::log1p(scope_words.collection_rarity.back()));
            scope_words.query_weights.push_back((1.0 + std::log(counts[i])) * scope_words.idf.back());
            scope_words.query_norm += scope_words.query_weights.back() * scope_words.query_weights.back();
        }
        scope_words.query_norm = std::sqrt(scope_words.query_norm);
        for (std::size_t m = 0; m < kModels; ++m) scope_words.models[m] = model(m, s, words, counts);
        return scope_words;
    }

  private:
    ModelWeights model(std::size_t m, std::size_t s, std::span<const std::int64_t> words,
                       std::span<const double> counts) const {
        const double* field = fields.data() + (m * n_scopes() + s) * 2;
        ModelWeights model_weights{{}, {}, 0.0, 0.0, {field[0], field[1]}};
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::size_t index = (m * n_scopes() + s) * n_words() + static_cast<std::size_t>(words[i]);
            model_weights.weights.push_back(weights.data()[index]);
            model_weights.scales.push_back(scales.data()[index]);
            model_weights.start += counts[i] * starts.data()[index];
            model_weights.prior += counts[i] * model_weights.weights.back();
        }
        return model_weights;
    }
};

// The segments that all queries of a call have in common, checked.
class Segments {
  public:
    Segments(const std::vector<std::vector<const BoundPostings*>>& postings, const Cube<std::int64_t>& terms,
             const std::vector<ByScope<std::uint32_t>>& distinct, const std::vector<ByScope<float>>& norms)
        : postings_(postings), terms_(terms) {
        require(terms.shape(0) == postings.size() && distinct.size() == postings.size() &&
                    norms.size() == postings.size(),
                "there must be one array per segment");
        for (std::size_t s = 0; s < postings.size(); ++s) add(s, distinct[s], norms[s]);
    }

    std::int64_t n_documents() const { return n_documents_; }
    bool has_vocabularies() const { return has_vocabularies_; }

    std::vector<FeatureSegment> of(std::span<const std::int64_t> words) const {
        std::vector<FeatureSegment> query_segments = segments_;
        for (std::size_t s = 0; s < query_segments.size(); ++s)
            for (std::size_t f = 0; f < terms_.shape(1); ++f)
                for (const std::int64_t word : words) query_segments[s].terms.push_back(term(s, f, word));
        return query_segments;
    }

  private:
    void add(std::size_t s, const ByScope<std::uint32_t>& distinct, const ByScope<float>& norms) {
        require(!postings_[s].empty() && postings_[s].size() == terms_.shape(1), "a segment must have all fields");
        auto& fields = fields_.emplace_back();
        for (const BoundPostings* field_postings : postings_[s]) {
            require(field_postings != nullptr, "a segment must have all fields");
            fields.push_back(field_postings->field());
            require(fields.back().n_documents() == fields.front().n_documents(),
                    "fields must have the same documents");
        }
        segments_.push_back({fields, n_documents_, {}, {}, {}});
        if (!distinct.empty() || !norms.empty())
            add_vocabularies(distinct, norms, fields.size() + 1, fields.front().n_documents());
        else
            has_vocabularies_ = has_vocabularies_ && fields.front().n_documents() == 0;
        n_documents_ += static_cast<std::int64_t>(fields.front().n_documents());
    }

    void add_vocabularies(const ByScope<std::uint32_t>& distinct, const ByScope<float>& norms,
                          std::size_t n_scopes, std::size_t n_documents) {
        require(distinct.size() == n_scopes && norms.size() == n_scopes,
                "there must be distinct terms and norms for each scope");
        auto& segment_distinct = distinct_.emplace_back();
        auto& segment_norms = norms_.emplace_back();
        for (std::size_t scope = 0; scope < n_scopes; ++scope) {
            segment_distinct.push_back(view(distinct[scope]));
            segment_norms.push_back(view(norms[scope]));
            require(segment_distinct.back().size() == n_documents && segment_norms.back().size() == n_documents,
                    "there must be one number of distinct terms and one norm per document");
        }
        segments_.back().distinct = segment_distinct;
        segments_.back().norms = segment_norms;
    }

    TermPostings term(std::size_t s, std::size_t f, std::int64_t word) const {
        const std::int64_t number =
            terms_.data()[(s * terms_.shape(1) + f) * terms_.shape(2) + static_cast<std::size_t>(word)];
        if (number == -1) return {};
        postings_[s][f]->check(static_cast<std::size_t>(number));
        return postings_[s][f]->field().term(static_cast<std::size_t>(number));
    }

    const std::vector<std::vector<const BoundPostings*>>& postings_;
    const Cube<std::int64_t>& terms_;
    std::deque<std::vector<FieldPostings>> fields_;
    std::deque<std::vector<Numbers>> distinct_;
    std::deque<std::vector<std::span<const float>>> norms_;
    std::vector<FeatureSegment> segments_;
    std::int64_t n_documents_ = 0;
    bool has_vocabularies_ = true;
};

std::vector<FeatureColumn> checked_columns(const Matrix<std::int64_t>& columns, std::size_t n_scopes,
                                           bool has_vocabularies) {
    require(columns.shape(1) == 2, "a column must have a scope and a feature");
    std::vector<FeatureColumn> checked;
    for (std::size_t i = 0; i < columns.shape(0); ++i) {
        const auto scope = static_cast<std::uint64_t>(columns.data()[2 * i]);
        const auto feature = static_cast<std::uint64_t>(columns.data()[2 * i + 1]);
        require(scope < n_scopes, "there is no such scope");
        require(feature <= static_cast<std::uint64_t>(TextFeature::query_length), "there is no such feature");
        const FeatureColumn column{scope, static_cast<TextFeature>(feature)};
        const bool needs =
            column.feature == TextFeature::cosine || column.feature == TextFeature::absolute_discounting;
        require(has_vocabularies || !needs, "this feature needs distinct terms and norms");
        checked.push_back(column);
    }
    return checked;
}

// The words of a query in order, and the numbers of the distinct ones in the order of their first appearance.
FeatureQuery make_query(std::span<const std::int64_t> words, std::span<const std::int64_t> places,
                        const Numbering& numbering, const Segments& segments) {
    FeatureQuery query;
    std::vector<std::int64_t> distinct;
    std::unordered_map<std::int64_t, std::size_t> numbers;
    for (const std::int64_t word : words) {
        const auto [entry, is_new] = numbers.try_emplace(word, distinct.size());
        if (is_new) {
            distinct.push_back(word);
            query.counts.push_back(0.0);
        }
        query.words.words.push_back(entry->second);
        query.counts[entry->second] += 1.0;
    }
    query.words.positions.assign(places.begin(), places.end());
    query.words.n_distinct = distinct.size();
    for (std::size_t s = 0; s < numbering.n_scopes(); ++s)
        query.scopes.push_back(numbering.scope(s, distinct, query.counts));
    query.segments = segments.of(distinct);
    return query;
}

// Query q has the words [word_offsets[q], word_offsets[q + 1]) and the documents of document_offsets likewise.
nb::ndarray<nb::numpy, float> features(
    const std::vector<std::vector<const BoundPostings*>>& postings, const Cube<std::int64_t>& terms,
    const std::vector<ByScope<std::uint32_t>>& distinct, const std::vector<ByScope<float>>& norms,
    std::int64_t n_documents, const Array<std::int64_t>& total_lengths,
    const Matrix<std::int64_t>& document_frequencies, const Matrix<std::int64_t>& collection_frequencies,
    const Cube<double>& weights, const Cube<double>& scales, const Cube<double>& starts,
    const Cube<double>& fields, const Array<std::int64_t>& word_offsets, const Array<std::int64_t>& words,
    const Array<std::int64_t>& places, const Array<std::int64_t>& document_offsets,
    const Array<std::int64_t>& documents, const Matrix<std::int64_t>& columns, int n_threads) {
    const Numbering numbering{
        n_documents, total_lengths, document_frequencies, collection_frequencies, weights, scales, starts, fields};
    numbering.check();
    const Segments segments(postings, terms, distinct, norms);
    require(terms.shape(1) + 1 == numbering.n_scopes() && terms.shape(2) == numbering.n_words(),
            "there must be one term per segment, field and word");
    const Offsets queries = checked_offsets(word_offsets, words.size());
    const Offsets candidates = checked_offsets(document_offsets, documents.size());
    require(queries.size() == candidates.size(), "there must be as many lists of documents as queries");
    require(places.size() == words.size(), "there must be one place per word");
    for (const std::int64_t position : view(places))
        require(position >= 0 && position >> 40 == 0, "a place is out of range");
    const Rows all_words = checked_rows(words, numbering.n_words());
    const Rows all_documents = checked_rows(documents, static_cast<std::size_t>(segments.n_documents()));
    const auto wanted = checked_columns(columns, numbering.n_scopes(), segments.has_vocabularies());
    Output<float, 2> values({documents.size(), wanted.size()});
    {
        nb::gil_scoped_release release;
        parallel_for(queries.size() - 1, n_threads, [&](std::size_t q) {
            const auto begin = static_cast<std::size_t>(queries[q]);
            const std::size_t size = static_cast<std::size_t>(queries[q + 1]) - begin;
            const auto first = static_cast<std::size_t>(candidates[q]);
            const std::size_t count = static_cast<std::size_t>(candidates[q + 1]) - first;
            const FeatureQuery query =
                make_query(all_words.subspan(begin, size), view(places).subspan(begin, size), numbering, segments);
            text_features(query, wanted, all_documents.subspan(first, count),
                          values.span().subspan(first * wanted.size(), count * wanted.size()));
        });
    }
    return values.numpy();
}

std::vector<FieldPostings> checked_fields(const std::vector<const BoundPostings*>& postings) {
    require(!postings.empty(), "there must be at least one field");
    std::vector<FieldPostings> fields;
    for (const BoundPostings* field_postings : postings) {
        require(field_postings != nullptr, "there must be at least one field");
        fields.push_back(field_postings->field());
        require(fields.back().n_documents() == fields.front().n_documents(),
                "fields must have the same documents");
    }
    return fields;
}

// (distinct, norms) of each document.
nb::tuple vocabularies(const std::vector<const BoundPostings*>& postings,
                       const std::vector<Array<std::uint32_t>>& terms) {
    const std::vector<FieldPostings> fields = checked_fields(postings);
    require(terms.size() == fields.size(), "there must be one list of terms per field");
    std::vector<Numbers> numbers;
    for (std::size_t f = 0; f < fields.size(); ++f) {
        numbers.push_back(view(terms[f]));
        require(numbers.back().size() == fields[f].n_terms(), "there must be one number per term");
        require(std::adjacent_find(numbers.back().begin(), numbers.back().end(), std::greater_equal<>()) ==
                    numbers.back().end(),
                "numbers of terms must increase");
    }
    const Vocabularies computed = [&] {
        nb::gil_scoped_release release;
        for (std::size_t f = 0; f < fields.size(); ++f)
            for (std::size_t term = 0; term < fields[f].n_terms(); ++term) postings[f]->check(term);
        return document_vocabularies(fields, numbers);
    }();
    return nb::make_tuple(to_numpy(computed.distinct), to_numpy(computed.norms));
}

// For each word the documents that have it in any field; terms[f][w] is its number in field f, or -1.
nb::ndarray<nb::numpy, std::int64_t> documents_with(const std::vector<const BoundPostings*>& postings,
                                                    const Matrix<std::int64_t>& terms,
                                                    const Array<std::uint64_t>& removed) {
    const std::vector<FieldPostings> fields = checked_fields(postings);
    require(terms.shape(0) == fields.size(), "there must be one list of terms per field");
    require(removed.size() == 0 || removed.size() == (fields.front().n_documents() + 63) / 64,
            "removed must have one bit per document");
    Output<std::int64_t> counts(terms.shape(1));
    std::vector<TermPostings> lists;
    for (std::size_t word = 0; word < terms.shape(1); ++word) {
        lists.clear();
        for (std::size_t f = 0; f < fields.size(); ++f) {
            const std::int64_t term = terms.data()[f * terms.shape(1) + word];
            if (term == -1) continue;
            postings[f]->check(static_cast<std::size_t>(term));
            lists.push_back(fields[f].term(static_cast<std::size_t>(term)));
        }
        counts.span()[word] = count_documents(lists, view(removed));
    }
    return counts.numpy();
}

}  // namespace

void bind_text_features(nb::module_& m) {
    nb::enum_<TextFeature>(m, "TextFeature")
        .value("frequency", TextFeature::frequency)
        .value("log_frequency", TextFeature::log_frequency)
        .value("normalised_frequency", TextFeature::normalised_frequency)
        .value("log_normalised_frequency", TextFeature::log_normalised_frequency)
        .value("idf", TextFeature::idf)
        .value("icf", TextFeature::icf)
        .value("tf_idf", TextFeature::tf_idf)
        .value("normalised_tf_idf", TextFeature::normalised_tf_idf)
        .value("log_tf_idf", TextFeature::log_tf_idf)
        .value("log_tf_icf", TextFeature::log_tf_icf)
        .value("length", TextFeature::length)
        .value("bm25", TextFeature::bm25)
        .value("log_bm25", TextFeature::log_bm25)
        .value("dirichlet", TextFeature::dirichlet)
        .value("jelinek_mercer", TextFeature::jelinek_mercer)
        .value("absolute_discounting", TextFeature::absolute_discounting)
        .value("cosine", TextFeature::cosine)
        .value("matched_words", TextFeature::matched_words)
        .value("matched_fraction", TextFeature::matched_fraction)
        .value("minimal_span", TextFeature::minimal_span)
        .value("span_density", TextFeature::span_density)
        .value("closest_pair", TextFeature::closest_pair)
        .value("pair_closeness", TextFeature::pair_closeness)
        .value("ordered_pairs", TextFeature::ordered_pairs)
        .value("phrases", TextFeature::phrases)
        .value("query_length", TextFeature::query_length);
    m.def("text_features", &features, nb::arg("postings"), nb::arg("terms"), nb::arg("distinct"), nb::arg("norms"),
          nb::arg("n_documents"), nb::arg("total_lengths"), nb::arg("document_frequencies"),
          nb::arg("collection_frequencies"), nb::arg("weights"), nb::arg("scales"), nb::arg("starts"),
          nb::arg("fields"), nb::arg("word_offsets"), nb::arg("words"), nb::arg("places"),
          nb::arg("document_offsets"), nb::arg("documents"), nb::arg("columns"), nb::arg("n_threads"));
    m.def("document_vocabularies", &vocabularies, nb::arg("postings"), nb::arg("terms"));
    m.def("documents_with", &documents_with, nb::arg("postings"), nb::arg("terms"), nb::arg("removed"));
}

}  // namespace rankwright::bindings
