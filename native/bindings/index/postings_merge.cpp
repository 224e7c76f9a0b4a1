#include "index/postings_merge.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/index/postings.hpp"
#include "bindings/index/strings.hpp"
#include "index/inversion.hpp"

namespace rankwright::bindings {
namespace {

// Postings, new numbers of terms, new numbers of documents.
using Source = std::tuple<const BoundPostings*, Array<std::uint32_t>, Array<std::uint32_t>>;

// A merge with the arrays that it reads.
struct BoundMerge {
    nb::list given;
    std::vector<Array<std::uint32_t>> new_documents;
    PostingsMerge merge;
};

void require_terms(Numbers terms, std::size_t n_terms) {
    for (std::size_t i = 1; i < terms.size(); ++i)
        require(terms[i - 1] < terms[i], "numbers of terms must increase");
    require(terms.empty() || terms.back() < n_terms, "a term is out of range");
}

// Returns the lowest number that the next source may use.
std::uint64_t require_documents(Numbers documents, std::uint64_t least) {
    for (const std::uint32_t number : documents) {
        if (number == kNoTerm) continue;
        require(number >= least, "numbers of documents must increase");
        least = number + std::uint64_t{1};
    }
    return least;
}

MergeSource checked_source(const Source& given, std::size_t n_terms) {
    const auto& [postings, terms, documents] = given;
    require(postings != nullptr, "there must be postings");
    require(terms.size() == postings->field().n_terms(), "there must be one new number per term");
    require(documents.size() == postings->field().n_documents(), "there must be one new number per document");
    require_terms(view(terms), n_terms);
    for (std::size_t term = 0; term < terms.size(); ++term) postings->check(term);
    return {postings->field(), {terms.data(), terms.data() + terms.size()}, view(documents)};
}

void make_merge(BoundMerge* merge, nb::list given, std::size_t n_terms) {
    const auto all = nb::cast<std::vector<Source>>(given);
    std::vector<MergeSource> sources;
    std::vector<Array<std::uint32_t>> new_documents;
    std::uint64_t least = 0;
    std::size_t most_terms = 0;
    for (const Source& source : all) {
        sources.push_back(checked_source(source, n_terms));
        most_terms += sources.back().new_terms.size();
        new_documents.push_back(std::get<2>(source));
        least = require_documents(view(new_documents.back()), least);
    }
    require(n_terms <= most_terms, "there must not be more terms than the sources have");
    new (merge) BoundMerge{given, std::move(new_documents), PostingsMerge(std::move(sources), n_terms)};
    for (std::size_t term = 1; term < merge->merge.position_places().size(); ++term)
        require(merge->merge.position_places()[term] - merge->merge.position_places()[term - 1] < kNoTerm,
                "a term occurs too often for one segment");
}

// (documents, position_ends, positions) of the terms [first, last).
nb::tuple merge_terms(const BoundMerge& bound, std::size_t first, std::size_t last) {
    const PostingsMerge& merge = bound.merge;
    require(first <= last && last <= merge.terms().size(), "a term is out of range");
    const std::size_t n_postings = merge.posting_places()[last] - merge.posting_places()[first];
    Output<std::uint32_t> documents(n_postings), ends(n_postings);
    Output<std::uint32_t> positions(merge.position_places()[last] - merge.position_places()[first]);
    {
        nb::gil_scoped_release release;
        merge.merge(first, last, documents.span(), ends.span(), positions.span());
    }
    return nb::make_tuple(documents.numpy(), ends.numpy(), positions.numpy());
}

}  // namespace

void bind_postings_merge(nb::module_& m) {
    nb::class_<BoundMerge>(m, "PostingsMerge")
        .def("__init__", &make_merge, nb::arg("sources"), nb::arg("n_terms"))
        .def("merge", &merge_terms, nb::arg("first"), nb::arg("last"))
        .def_prop_ro(
            "terms", [](const BoundMerge& bound) { return to_numpy(bound.merge.terms()); }, nb::rv_policy::move)
        .def_prop_ro(
            "posting_places", [](const BoundMerge& bound) { return to_numpy(bound.merge.posting_places()); },
            nb::rv_policy::move)
        .def_prop_ro(
            "position_places", [](const BoundMerge& bound) { return to_numpy(bound.merge.position_places()); },
            nb::rv_policy::move);
}

}  // namespace rankwright::bindings
