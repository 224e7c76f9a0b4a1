#include "bindings/queries/ranking.hpp"

#include "queries/ranking.hpp"

namespace rankwright::bindings {
namespace {

SortedQueries sorted_queries(Array<std::int64_t> offsets, Array<std::int64_t> rows, Array<double> scores,
                             std::optional<Array<double>> tie_break, int n_threads) {
    const Offsets queries = checked_offsets(offsets, rows.size());
    const Rows checked = checked_rows(rows, scores.size());
    const Doubles values = checked_numbers(scores, scores.size(), "scores must not be NaN");
    Doubles second;
    if (tie_break)
        second = checked_numbers(*tie_break, scores.size(), "tie_break must be a number for every score");
    SortedQueries sorted{{queries.begin(), queries.end()},
                         scores,
                         rows.size(),
                         std::make_unique_for_overwrite<std::int64_t[]>(rows.size()),
                         std::make_unique_for_overwrite<bool[]>(queries.size() - 1)};
    nb::gil_scoped_release release;
    sort_within_queries(queries, checked, values, second, n_threads, {sorted.order.get(), rows.size()},
                        {sorted.tied.get(), queries.size() - 1});
    return sorted;
}

// A read-only array of Python, kept alive by its owner.
template <class T>
nb::ndarray<nb::numpy, const T> read_only(const T* data, std::size_t size, nb::handle owner) {
    return nb::ndarray<nb::numpy, const T>(data, {size}, owner);
}

}  // namespace

void bind_ranking(nb::module_& m) {
    nb::class_<SortedQueries>(m, "SortedQueries")
        .def_prop_ro("order",
                     [](nb::handle_t<SortedQueries> self) {
                         const auto& sorted = nb::cast<const SortedQueries&>(self);
                         return read_only(sorted.order.get(), sorted.n_positions, self);
                     })
        .def_prop_ro("tied", [](nb::handle_t<SortedQueries> self) {
            const auto& sorted = nb::cast<const SortedQueries&>(self);
            return read_only(sorted.tied.get(), sorted.n_queries(), self);
        });
    m.def("sort_within_queries", &sorted_queries, nb::arg("offsets"), nb::arg("rows"), nb::arg("scores"),
          nb::arg("tie_break").none(), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
