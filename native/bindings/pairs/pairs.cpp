#include "bindings/pairs/bound_pairs.hpp"
#include "pairs/query_factors.hpp"

namespace rankwright::bindings {
namespace {

nb::tuple gradients(Array<std::int64_t> offsets, Array<std::uint8_t> labels, Matrix<double> strengths,
                    Array<double> shares, Array<double> scores, int n_threads) {
    const PairTask task = checked_task(checked_offsets(offsets, scores.size()), labels, strengths, shares, scores);
    Output<double> gradient(scores.size()), hessian(scores.size());
    double log_sum;
    {
        nb::gil_scoped_release release;
        log_sum = pair_gradients(task, n_threads, gradient.span(), hessian.span());
    }
    return nb::make_tuple(gradient.numpy(), hessian.numpy(), log_sum);
}

double misordered(Array<std::int64_t> offsets, Array<std::int64_t> order, Array<std::uint8_t> labels,
                  Matrix<double> strengths, Array<double> shares, Array<double> scores, int n_threads) {
    const PairTask task = checked_task(checked_offsets(offsets, scores.size()), labels, strengths, shares, scores);
    require(order.size() == scores.size(), "order must list every row");
    const Rows rows = checked_rows(order, scores.size());
    nb::gil_scoped_release release;
    return misordered_share(task, rows, n_threads);
}

auto crossing(const BoundCodes& codes, Array<std::uint8_t> labels, Matrix<double> strengths, Array<double> shares,
              Array<double> scores, double log_sum, bool squared, int n_threads) {
    const PairTask task = checked_task(codes.queries, labels, strengths, shares, scores);
    require(std::isfinite(log_sum), "log_sum must be finite");
    Output<double, 2> sums({codes.binned.n_features, kCodes});
    {
        nb::gil_scoped_release release;
        std::vector<QueryFactors> factors = query_factors(task, n_threads);
        crossing_weights(task, log_sum, squared, codes.binned, codes.sorted, n_threads, factors, sums.span());
    }
    return sums.numpy();
}

auto crossing_given(const BinnedMatrix& binned, Array<std::int64_t> rows, Array<std::int64_t> begins,
                    Array<std::int64_t> ends, Array<double> weights, int n_threads) {
    const GivenPairs pairs{checked_rows(rows, binned.n_rows), view(begins), view(ends), view(weights)};
    require(begins.size() == rows.size() && ends.size() == rows.size(), "there must be one range per row");
    std::uint64_t n_pairs = 0;
    for (std::size_t index = 0; index < rows.size(); ++index) {
        const std::int64_t begin = pairs.begins[index], end = pairs.ends[index];
        require(0 <= begin && begin <= end && end <= static_cast<std::int64_t>(binned.n_rows),
                "a range must lie within the rows");
        n_pairs += static_cast<std::uint64_t>(end - begin);
    }
    require(n_pairs == weights.size(), "there must be one weight per pair");
    Output<double, 2> sums({binned.n_features, kCodes});
    {
        nb::gil_scoped_release release;
        std::fill(sums.span().begin(), sums.span().end(), 0.0);
        crossing_of_pairs(pairs, binned, n_threads, sums.span());
    }
    return sums.numpy();
}

auto summed(const BinnedMatrix& binned, Array<double> values, int n_threads) {
    const Doubles numbers = checked_numbers(values, binned.n_rows, "there must be one number per row");
    Output<double, 2> sums({binned.n_features, kCodes});
    {
        nb::gil_scoped_release release;
        sum_by_code(binned, numbers, n_threads, sums.span());
    }
    return sums.numpy();
}

}  // namespace

void bind_pairs(nb::module_& m) {
    m.attr("MOST_LABELS") = kMostLabels;
    nb::class_<BoundCodes>(m, "SortedCodes")
        .def(nb::init<const BinnedMatrix&, Array<std::int64_t>, int>(), nb::arg("binned"), nb::arg("offsets"),
             nb::arg("n_threads"), nb::keep_alive<1, 2>());
    m.def("pair_gradients", &gradients, nb::arg("offsets"), nb::arg("labels"), nb::arg("strengths"),
          nb::arg("shares"), nb::arg("scores"), nb::arg("n_threads"));
    m.def("misordered_share", &misordered, nb::arg("offsets"), nb::arg("order"), nb::arg("labels"),
          nb::arg("strengths"), nb::arg("shares"), nb::arg("scores"), nb::arg("n_threads"));
    m.def("crossing_weights", &crossing, nb::arg("codes"), nb::arg("labels"), nb::arg("strengths"),
          nb::arg("shares"), nb::arg("scores"), nb::arg("log_sum"), nb::arg("squared"), nb::arg("n_threads"));
    m.def("crossing_of_pairs", &crossing_given, nb::arg("binned"), nb::arg("rows"), nb::arg("begins"),
          nb::arg("ends"), nb::arg("weights"), nb::arg("n_threads"));
    m.def("sum_by_code", &summed, nb::arg("binned"), nb::arg("values"), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
