#include "text/retrieval.hpp"

#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <deque>

#include "bindings/index/postings.hpp"
#include "bindings/index/strings.hpp"
#include "bindings/text/scored_documents.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright::bindings {
namespace {

using Cube = NumpyArray<const std::int64_t, 3>;

constexpr double kHighestBound = 1e300;  // beyond it, rounding to a grid would overflow

// The checked arguments that all queries of a call share.
class Searched {
  public:
    Searched(const std::vector<std::vector<const BoundPostings*>>& postings,
             const std::vector<Array<std::uint64_t>>& removed, Weighting weighting, double constant, double slope,
             const Array<double>& field_weights, const Cube& terms, const Array<double>& weights,
             const Array<double>& scales)
        : postings_(postings),
          weighting_(weighting),
          lengths_{constant, slope},
          field_weights_(view(field_weights)),
          terms_(terms),
          weights_(view(weights)),
          scales_(view(scales)) {
        n_words_ = terms.shape(2);
        require(terms.shape(0) == postings.size() && removed.size() == postings.size() &&
                    terms.shape(1) == n_fields() && weights_.size() == n_words_ && scales_.size() == n_words_,
                "there must be one value per segment, field and word");
        require(n_fields() >= 1, "there must be a field");
        require_weights(std::array{constant, slope});
        require_weights(field_weights_);
        require_weights(weights_);
        require_weights(scales_);
        for (const double weight : field_weights_) {
            require(weight > 0.0, "weights of fields must be above 0");
            field_weight_ += weight;
        }
        for (std::size_t s = 0; s < postings.size(); ++s) add_segment(s, removed[s]);
    }

    // The query of some words, each with a weight; the caller keeps this object.
    RankedQuery query(std::span<const std::int64_t> words, std::span<const double> counts, double start) const {
        RankedQuery query{weighting_, lengths_, field_weights_, 0.0, start, std::abs(start), segments_};
        for (std::size_t i = 0; i < words.size(); ++i)
            add_word(query, static_cast<std::size_t>(words[i]), counts[i]);
        query.bound += bound_of_prior(weighting_, lengths_, query.prior, field_weight_);
        require(query.bound < kHighestBound, "the weights of a query are too large");
        return query;
    }
    std::size_t n_words() const { return n_words_; }
    std::int64_t n_documents() const { return n_documents_; }

    // The distinct terms of each document, by segment.
    void set_distinct(const std::vector<Array<std::uint32_t>>& distinct) {
        require(distinct.size() == segments_.size(), "there must be one array per segment");
        for (std::size_t s = 0; s < segments_.size(); ++s) {
            require(distinct[s].size() == segments_[s].fields.front().n_documents(),
                    "there must be one number of distinct terms per document");
            segments_[s].distinct = view(distinct[s]);
        }
    }

  private:
    std::size_t n_fields() const { return field_weights_.size(); }

    static void require_weights(std::span<const double> values) {
        for (const double value : values)
            require(std::isfinite(value) && value >= 0.0, "weights must be finite and not negative");
    }

    void add_segment(std::size_t s, const Array<std::uint64_t>& removed) {
        require(postings_[s].size() == n_fields(), "a segment must have all fields");
        auto& fields = segment_fields_.emplace_back();
        for (const BoundPostings* postings : postings_[s]) {
            require(postings != nullptr, "a segment must have all fields");
            fields.push_back(postings->field());
            require(fields.back().n_documents() == fields.front().n_documents(),
                    "fields must have the same documents");
        }
        const std::size_t n_documents = fields.front().n_documents();
        require(removed.size() == 0 || removed.size() == (n_documents + 63) / 64,
                "removed must have one bit per document");
        segments_.push_back({fields, view(removed), n_documents_, {}, {}});
        n_documents_ += static_cast<std::int64_t>(n_documents);
    }

    void add_word(RankedQuery& query, std::size_t word, double count) const {
        const double weight = weights_[word] * count;
        query.bound += bound_of_word(weighting_, weight, scales_[word], field_weight_);
        query.prior += weight;
        for (std::size_t s = 0; s < segments_.size(); ++s) {
            std::vector<WordField> fields;
            for (std::size_t f = 0; f < n_fields(); ++f) {
                const std::int64_t term = terms_.data()[(s * n_fields() + f) * n_words_ + word];
                if (term == -1) continue;
                postings_[s][f]->check(static_cast<std::size_t>(term));
                const TermPostings postings = postings_[s][f]->field().term(static_cast<std::size_t>(term));
                if (postings.size() > 0) fields.push_back({f, postings});
            }
            if (!fields.empty()) query.segments[s].words.push_back({weight, scales_[word], std::move(fields)});
        }
    }

    const std::vector<std::vector<const BoundPostings*>>& postings_;
    Weighting weighting_;
    FieldWeighting lengths_;
    Doubles field_weights_;
    double field_weight_ = 0.0;  // of all fields together
    const Cube& terms_;
    Doubles weights_, scales_;
    std::size_t n_words_;
    std::deque<std::vector<FieldPostings>> segment_fields_;
    std::vector<QuerySegment> segments_;
    std::int64_t n_documents_ = 0;
};

// The words of queries, with their counts, and the parts of the scores that all documents have; checked.
struct QueryLists {
    Offsets offsets;
    Rows words;
    Doubles counts, starts;

    QueryLists(const Array<std::int64_t>& given_offsets, const Array<std::int64_t>& given_words,
               const Array<double>& given_counts, const Array<double>& given_starts, std::size_t n_words)
        : offsets(checked_offsets(given_offsets, given_words.size())),
          words(checked_rows(given_words, n_words)),
          counts(checked_finite(given_counts, words.size(), "there must be one finite count per word")),
          starts(checked_finite(given_starts, offsets.size() - 1, "there must be one finite start per query")) {
        require(std::all_of(counts.begin(), counts.end(), [](double count) { return count >= 0.0; }),
                "counts must not be negative");
    }
    std::size_t size() const { return starts.size(); }
    RankedQuery query(const Searched& searched, std::size_t q) const {
        const auto begin = static_cast<std::size_t>(offsets[q]);
        const auto count = static_cast<std::size_t>(offsets[q + 1]) - begin;
        return searched.query(words.subspan(begin, count), counts.subspan(begin, count), starts[q]);
    }
};

// Query q has the words [offsets[q], offsets[q + 1]).
nb::tuple search(const std::vector<std::vector<const BoundPostings*>>& postings,
                 const std::vector<Array<std::uint64_t>>& removed, Weighting weighting, double constant,
                 double slope, const Array<double>& field_weights, const Cube& terms, const Array<double>& weights,
                 const Array<double>& scales, const Array<std::int64_t>& offsets, const Array<std::int64_t>& words,
                 const Array<double>& counts, const Array<double>& starts, std::size_t n, bool skip,
                 int n_threads) {
    const Searched searched(postings, removed, weighting, constant, slope, field_weights, terms, weights, scales);
    const QueryLists queries(offsets, words, counts, starts, searched.n_words());
    require(weighting != Weighting::absolute_discounting, "absolute discounting scores given documents only");
    require(n >= 1, "n must be at least 1");
    std::vector<std::vector<ScoredDocument>> results(queries.size());
    {
        nb::gil_scoped_release release;
        parallel_for(results.size(), n_threads,
                     [&](std::size_t q) { results[q] = best_documents(queries.query(searched, q), n, skip); });
    }
    return to_arrays(results);
}

// The scores of given documents: query q has those of [document_offsets[q], document_offsets[q + 1]).
nb::ndarray<nb::numpy, double> score(const std::vector<std::vector<const BoundPostings*>>& postings,
                                     const std::vector<Array<std::uint32_t>>& distinct, Weighting weighting,
                                     double constant, double slope, const Array<double>& field_weights,
                                     const Cube& terms, const Array<double>& weights, const Array<double>& scales,
                                     const Array<std::int64_t>& offsets, const Array<std::int64_t>& words,
                                     const Array<double>& counts, const Array<double>& starts,
                                     const Array<std::int64_t>& document_offsets,
                                     const Array<std::int64_t>& documents, int n_threads) {
    const std::vector<Array<std::uint64_t>> none(postings.size());
    Searched searched(postings, none, weighting, constant, slope, field_weights, terms, weights, scales);
    if (weighting == Weighting::absolute_discounting) {
        require(constant > 0.0 && constant <= 1.0,
                "the constant of absolute discounting must be above 0 and at most 1");
        searched.set_distinct(distinct);
    }
    const QueryLists queries(offsets, words, counts, starts, searched.n_words());
    const Offsets lists = checked_offsets(document_offsets, documents.size());
    require(lists.size() == queries.size() + 1, "there must be as many lists of documents as queries");
    const Rows all = checked_rows(documents, static_cast<std::size_t>(searched.n_documents()));
    Output<double> scores(documents.size());
    {
        nb::gil_scoped_release release;
        parallel_for(queries.size(), n_threads, [&](std::size_t q) {
            const auto begin = static_cast<std::size_t>(lists[q]);
            const auto count = static_cast<std::size_t>(lists[q + 1]) - begin;
            score_documents(queries.query(searched, q), all.subspan(begin, count),
                            scores.span().subspan(begin, count));
        });
    }
    return scores.numpy();
}

}  // namespace

void bind_retrieval(nb::module_& m) {
    nb::enum_<Weighting>(m, "Weighting")
        .value("bm25", Weighting::bm25)
        .value("dirichlet", Weighting::dirichlet)
        .value("jelinek_mercer", Weighting::jelinek_mercer)
        .value("absolute_discounting", Weighting::absolute_discounting);
    m.def("best_documents", &search, nb::arg("postings"), nb::arg("removed"), nb::arg("weighting"),
          nb::arg("constant"), nb::arg("slope"), nb::arg("field_weights"), nb::arg("terms"), nb::arg("weights"),
          nb::arg("scales"), nb::arg("offsets"), nb::arg("words"), nb::arg("counts"), nb::arg("starts"),
          nb::arg("n"), nb::arg("skip"), nb::arg("n_threads"));
    m.def("score_documents", &score, nb::arg("postings"), nb::arg("distinct"), nb::arg("weighting"),
          nb::arg("constant"), nb::arg("slope"), nb::arg("field_weights"), nb::arg("terms"), nb::arg("weights"),
          nb::arg("scales"), nb::arg("offsets"), nb::arg("words"), nb::arg("counts"), nb::arg("starts"),
          nb::arg("document_offsets"), nb::arg("documents"), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
