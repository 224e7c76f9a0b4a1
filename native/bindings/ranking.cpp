#include "rankwright/ranking.hpp"

#include <vector>

#include "arrays.hpp"
#include "rankwright/vectors.hpp"

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
            Output<bool> tied(queries.size() - 1);
            {
                nb::gil_scoped_release release;
                sort_within_queries(queries, places, values, second, n_threads, order.span(), tied.span());
            }
            return nb::make_tuple(order.numpy(), tied.numpy());
        },
        nb::arg("offsets"), nb::arg("rows"), nb::arg("scores"), nb::arg("tie_break").none(), nb::arg("n_threads"));

    m.def("widest_path", [] { return static_cast<int>(widest_path()); });

    // For tests: how many keys are above each, by the vector path asked for.
    m.def(
        "count_above",
        [](Vector<float> keys, int path) {
            require(0 <= path && path <= static_cast<int>(widest_path()), "this processor has no such path");
            const auto values = view(keys);
            for (float value : values) require(value == value, "keys must not be NaN");
            std::vector<float> padded(values.begin(), values.end());
            padded.resize(values.size() + kCountLanes);
            std::vector<std::int32_t> ranks(padded.size());
            count_above(padded.data(), static_cast<std::int64_t>(values.size()), ranks.data(),
                        static_cast<VectorPath>(path));
            Output<std::int32_t> result(values.size());
            std::copy_n(ranks.begin(), values.size(), result.span().begin());
            return result.numpy();
        },
        nb::arg("keys"), nb::arg("path"));
}

}  // namespace rankwright::bindings
