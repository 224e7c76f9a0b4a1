#include "rankwright/retrieval.hpp"

#include <nanobind/stl/vector.h>

#include <cmath>
#include <deque>

#include "postings.hpp"
#include "rankwright/threads.hpp"
#include "strings.hpp"

namespace rankwright::bindings {
namespace {

using Cube = Array<const std::int64_t, 3>;

// What all queries of a call have in common, checked.
class Searched {
  public:
    Searched(const std::vector<std::vector<const BoundPostings*>>& postings,
             const std::vector<Vector<std::uint64_t>>& removed, Weighting weighting, const Matrix<double>& fields,
             const Cube& terms, const Matrix<double>& weights, const Matrix<double>& scales)
        : postings_(postings), weighting_(weighting), terms_(terms), weights_(weights), scales_(scales) {
        n_fields_ = fields.shape(0);
        n_words_ = terms.shape(2);
        require(n_fields_ >= 1 && fields.shape(1) == 2, "each field must have a constant and a slope");
        require(terms.shape(0) == postings.size() && removed.size() == postings.size() &&
                    terms.shape(1) == n_fields_ && weights.shape(0) == n_fields_ && scales.shape(0) == n_fields_ &&
                    weights.shape(1) == n_words_ && scales.shape(1) == n_words_,
                "there must be one value per segment, field and word");
        require_weights(fields);
        require_weights(weights);
        require_weights(scales);
        for (std::size_t f = 0; f < n_fields_; ++f)
            fields_.push_back({fields.data()[2 * f], fields.data()[2 * f + 1]});
        for (std::size_t s = 0; s < postings.size(); ++s) add_segment(s, removed[s]);
    }

    // The query of some words, each with a weight; the caller keeps this object.
    RankedQuery query(std::span<const std::int64_t> words, std::span<const double> counts, double start) const {
        RankedQuery query{weighting_, fields_,         std::vector<double>(n_fields_, 0.0),
                          start,      std::abs(start), segments_};
        for (std::size_t i = 0; i < words.size(); ++i)
            add_word(query, static_cast<std::size_t>(words[i]), counts[i]);
        if (weighting_ == Weighting::dirichlet)
            for (std::size_t f = 0; f < n_fields_; ++f) query.bound += bound_of_prior(fields_[f], query.priors[f]);
        require(std::isfinite(query.bound), "the weights of a query are too large");
        return query;
    }
    std::size_t n_words() const { return n_words_; }

  private:
    void require_weights(const Matrix<double>& values) {
        for (std::size_t i = 0; i < values.size(); ++i)
            require(std::isfinite(values.data()[i]) && values.data()[i] >= 0.0,
                    "weights must be finite and not negative");
    }

    void add_segment(std::size_t s, const Vector<std::uint64_t>& removed) {
        require(postings_[s].size() == n_fields_, "a segment must have all fields");
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
        segments_.push_back({fields, view(removed), n_documents_, {}});
        n_documents_ += static_cast<std::int64_t>(n_documents);
    }

    void add_word(RankedQuery& query, std::size_t word, double count) const {
        for (std::size_t f = 0; f < n_fields_; ++f) {
            const double weight = weights_.data()[f * n_words_ + word] * count;
            const double scale = scales_.data()[f * n_words_ + word];
            query.bound += bound_of_term(weighting_, weight, scale);
            query.priors[f] += weight;
            for (std::size_t s = 0; s < segments_.size(); ++s) {
                const std::int64_t term = terms_.data()[(s * n_fields_ + f) * n_words_ + word];
                if (term == -1) continue;
                postings_[s][f]->check(static_cast<std::size_t>(term));
                const TermPostings found = postings_[s][f]->field().term(static_cast<std::size_t>(term));
                if (found.size() > 0) query.segments[s].terms.push_back({f, found, weight, scale});
            }
        }
    }

    const std::vector<std::vector<const BoundPostings*>>& postings_;
    Weighting weighting_;
    const Cube& terms_;
    const Matrix<double>&weights_, &scales_;
    std::size_t n_fields_, n_words_;
    std::vector<FieldWeighting> fields_;
    std::deque<std::vector<FieldPostings>> segment_fields_;
    std::vector<QuerySegment> segments_;
    std::int64_t n_documents_ = 0;
};

// (offsets, documents, scores)
nb::tuple to_arrays(const std::vector<std::vector<ScoredDocument>>& found) {
    Output<std::int64_t> offsets(found.size() + 1);
    offsets.span()[0] = 0;
    for (std::size_t q = 0; q < found.size(); ++q)
        offsets.span()[q + 1] = offsets.span()[q] + static_cast<std::int64_t>(found[q].size());
    const auto size = static_cast<std::size_t>(offsets.span().back());
    Output<std::int64_t> documents(size);
    Output<double> scores(size);
    std::size_t next = 0;
    for (const auto& query : found) {
        for (const ScoredDocument& one : query) {
            documents.span()[next] = one.document;
            scores.span()[next++] = one.score;
        }
    }
    return nb::make_tuple(offsets.numpy(), documents.numpy(), scores.numpy());
}

// Query q has the words [offsets[q], offsets[q + 1]).
nb::tuple search(const std::vector<std::vector<const BoundPostings*>>& postings,
                 const std::vector<Vector<std::uint64_t>>& removed, Weighting weighting,
                 const Matrix<double>& fields, const Cube& terms, const Matrix<double>& weights,
                 const Matrix<double>& scales, const Vector<std::int64_t>& offsets,
                 const Vector<std::int64_t>& words, const Vector<double>& counts, const Vector<double>& starts,
                 std::size_t n, bool skip, int n_threads) {
    const Searched searched(postings, removed, weighting, fields, terms, weights, scales);
    const Offsets queries = checked_offsets(offsets, words.size());
    const Rows all_words = checked_rows(words, searched.n_words());
    const Doubles all_counts = checked_finite(counts, words.size(), "there must be one finite count per word");
    const Doubles all_starts =
        checked_finite(starts, queries.size() - 1, "there must be one finite start per query");
    require(n >= 1, "n must be at least 1");
    require(std::all_of(all_counts.begin(), all_counts.end(), [](double count) { return count >= 0.0; }),
            "counts must not be negative");
    std::vector<std::vector<ScoredDocument>> found(queries.size() - 1);
    {
        nb::gil_scoped_release release;
        parallel_for(found.size(), n_threads, [&](std::size_t q) {
            const auto begin = static_cast<std::size_t>(queries[q]);
            const auto size = static_cast<std::size_t>(queries[q + 1]) - begin;
            const RankedQuery query =
                searched.query(all_words.subspan(begin, size), all_counts.subspan(begin, size), all_starts[q]);
            found[q] = best_documents(query, n, skip);
        });
    }
    return to_arrays(found);
}

}  // namespace

void bind_retrieval(nb::module_& m) {
    nb::enum_<Weighting>(m, "Weighting")
        .value("bm25", Weighting::bm25)
        .value("dirichlet", Weighting::dirichlet)
        .value("jelinek_mercer", Weighting::jelinek_mercer);
    m.def("best_documents", &search, nb::arg("postings"), nb::arg("removed"), nb::arg("weighting"),
          nb::arg("fields"), nb::arg("terms"), nb::arg("weights"), nb::arg("scales"), nb::arg("offsets"),
          nb::arg("words"), nb::arg("counts"), nb::arg("starts"), nb::arg("n"), nb::arg("skip"),
          nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
