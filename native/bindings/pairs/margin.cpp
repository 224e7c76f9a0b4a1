#include "pairs/margin.hpp"

#include "bindings/queries/ranking.hpp"
#include "pairs/violated_precision.hpp"

namespace rankwright::bindings {
namespace {

nb::tuple sums_within_margin(const SortedQueries& ranking, Array<double> labels, Array<double> weights,
                             Array<double> values, int n_threads) {
    const std::size_t n_rows = ranking.scores.size();
    const RankedPairs pairs{ranking.offsets, Rows(ranking.order.get(), ranking.n_positions),
                            checked_finite(ranking.scores, n_rows, "scores must be finite"),
                            checked_finite(labels, n_rows, "labels must be a finite number for every score")};
    const Doubles checked_weights =
        checked_finite(weights, n_rows, "weights must be a finite number for every score");
    const Doubles checked_values =
        checked_finite(values, n_rows, "values must be a finite number for every score");
    Output<double> worse(n_rows), better(n_rows), sums(n_rows);
    {
        nb::gil_scoped_release release;
        // A row that is missing from the ranking would otherwise be uninitialised.
        for (auto* output : {&worse, &better, &sums}) std::fill(output->span().begin(), output->span().end(), 0.0);
        margin_sums(pairs, checked_weights, checked_values, n_threads, {worse.span(), better.span(), sums.span()});
    }
    return nb::make_tuple(worse.numpy(), better.numpy(), sums.numpy());
}

nb::tuple violated_precision(const SortedQueries& ranking, Array<bool> relevant, int n_threads) {
    const std::size_t n_rows = ranking.scores.size();
    const Doubles scores = checked_finite(ranking.scores, n_rows, "scores must be finite");
    require(relevant.size() == n_rows, "relevant must be true or false for every score");
    Output<std::int64_t> crossings(n_rows);
    Output<double> lost(ranking.n_queries());
    {
        nb::gil_scoped_release release;
        std::fill(crossings.span().begin(), crossings.span().end(), 0);  // rows that the ranking leaves out
        most_violated_precision(ranking.offsets, Rows(ranking.order.get(), ranking.n_positions), scores,
                                view(relevant), n_threads, crossings.span(), lost.span());
    }
    return nb::make_tuple(crossings.numpy(), lost.numpy());
}

}  // namespace

void bind_margin(nb::module_& m) {
    m.def("margin_sums", sums_within_margin, nb::arg("ranking"), nb::arg("labels"), nb::arg("weights"),
          nb::arg("values"), nb::arg("n_threads"));
    m.def("most_violated_precision", violated_precision, nb::arg("ranking"), nb::arg("relevant"),
          nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
