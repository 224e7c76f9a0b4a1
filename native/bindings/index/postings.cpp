#include "bindings/index/postings.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/index/strings.hpp"

namespace rankwright::bindings {
namespace {

// (documents, occurrences) of each term, without those in removed documents; 0 for a term of -1.
nb::tuple count(const BoundPostings& postings, const Array<std::int64_t>& terms,
                const Array<std::uint32_t>& removed) {
    for (std::size_t i = 1; i < removed.size(); ++i)
        require(removed.data()[i - 1] < removed.data()[i], "removed documents must increase");
    Output<std::int64_t> documents(terms.size()), positions(terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) {
        documents.span()[i] = positions.span()[i] = 0;
        if (terms.data()[i] == -1) continue;
        const auto number = static_cast<std::size_t>(terms.data()[i]);
        postings.check(number);
        const TermPostings term = postings.field().term(number);
        const Occurrences gone = count_occurrences(term, view(removed));
        documents.span()[i] = static_cast<std::int64_t>(term.size()) - gone.documents;
        positions.span()[i] = static_cast<std::int64_t>(term.positions.size()) - gone.positions;
    }
    return nb::make_tuple(documents.numpy(), positions.numpy());
}

// (documents, frequencies, positions) of one term.
nb::tuple term(const BoundPostings& postings, std::int64_t number) {
    postings.check(static_cast<std::size_t>(number));
    const TermPostings term_postings = postings.field().term(static_cast<std::size_t>(number));
    Output<std::uint32_t> frequencies(term_postings.size());
    for (std::size_t i = 0; i < term_postings.size(); ++i) frequencies.span()[i] = term_postings.frequency(i);
    return nb::make_tuple(to_numpy(term_postings.documents), frequencies.numpy(),
                          to_numpy(term_postings.positions));
}

void require_postings(Places places, Numbers documents, Numbers ends, Numbers lengths) {
    require(!places.empty() && places.front() == 0 && places.back() == documents.size(),
            "posting_places must run from 0 to the number of postings");
    for (std::size_t i = 1; i < places.size(); ++i)
        require(places[i - 1] <= places[i], "places must not decrease");
    require(ends.size() == documents.size(), "there must be one position end per posting");
    for (const std::uint32_t document : documents)
        require(document < lengths.size(), "a document is out of range");
}

// (block_places, block_ends, impact_places, impacts)
nb::tuple impacts(const Array<std::uint64_t>& posting_places, const Array<std::uint32_t>& documents,
                  const Array<std::uint32_t>& position_ends, const Array<std::uint32_t>& lengths, int n_threads) {
    require_postings(view(posting_places), view(documents), view(position_ends), view(lengths));
    const Impacts computed = [&] {
        nb::gil_scoped_release release;
        return block_impacts(view(posting_places), view(documents), view(position_ends), view(lengths), n_threads);
    }();
    Output<std::uint32_t, 2> pairs({computed.impacts.size(), 2});
    for (std::size_t i = 0; i < computed.impacts.size(); ++i) {
        pairs.span()[2 * i] = computed.impacts[i].frequency;
        pairs.span()[2 * i + 1] = computed.impacts[i].length;
    }
    return nb::make_tuple(to_numpy(computed.block_places), to_numpy(computed.block_ends),
                          to_numpy(computed.impact_places), pairs.numpy());
}

}  // namespace

void bind_postings(nb::module_& m) {
    nb::class_<BoundPostings>(m, "Postings")
        .def(nb::init<Array<std::uint64_t>, Array<std::uint64_t>, Array<std::uint64_t>, Array<std::uint32_t>,
                      Array<std::uint32_t>, Array<std::uint32_t>, Array<std::uint32_t>, Array<std::uint64_t>,
                      Matrix<std::uint32_t>, Array<std::uint32_t>, Array<std::uint32_t>>(),
             nb::arg("posting_places"), nb::arg("position_places"), nb::arg("block_places"), nb::arg("documents"),
             nb::arg("position_ends"), nb::arg("positions"), nb::arg("block_ends"), nb::arg("impact_places"),
             nb::arg("impacts"), nb::arg("lengths"), nb::arg("shortest"))
        .def_prop_ro("n_terms", [](const BoundPostings& postings) { return postings.field().n_terms(); })
        .def("count", &count, nb::arg("terms"), nb::arg("removed"))
        .def("term", &term, nb::arg("number"));
    m.def("block_impacts", &impacts, nb::arg("posting_places"), nb::arg("documents"), nb::arg("position_ends"),
          nb::arg("lengths"), nb::arg("n_threads"));
    m.def(
        "shortest_lengths",
        [](const Array<std::uint32_t>& lengths) { return to_numpy(shortest_lengths(view(lengths))); },
        nb::arg("lengths"));
}

}  // namespace rankwright::bindings
