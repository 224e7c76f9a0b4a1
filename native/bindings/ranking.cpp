#include "rankwright/ranking.hpp"

#include "arrays.hpp"

namespace rankwright::bindings {

void bind_ranking(nb::module_& m) {
    m.def(
        "sort_within_queries",
        [](Vector<std::int64_t> offsets, Vector<std::int64_t> rows, Vector<double> scores,
           std::optional<Vector<double>> tie_break, int n_threads) {
            const Offsets queries = checked_offsets(offsets, rows.size());
            const Rows places = checked_rows(rows, scores.size());
            const Doubles values = checked_numbers(scores, scores.size(), "scores must not be NaN");
            Doubles second;
            if (tie_break)
                second = checked_numbers(*tie_break, scores.size(), "tie_break must be a number for every score");
            Output<std::int64_t> order(rows.size());
            {
                nb::gil_scoped_release release;
                sort_within_queries(queries, places, values, second, n_threads, order.span());
            }
            return order.numpy();
        },
        nb::arg("offsets"), nb::arg("rows"), nb::arg("scores"), nb::arg("tie_break").none(), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
