#include "rankwright/lambdas.hpp"

#include <cmath>

#include "arrays.hpp"
#include "checks.hpp"

namespace rankwright::bindings {
namespace {

using Indices = Vector<std::int64_t>;

// Numbers in [low, high]; the loop has no way out, so that it vectorises.
template <class T>
std::span<const T> checked_range(const Vector<T>& values, std::size_t n, T low, T high, const char* sentence) {
    require(values.size() == n, sentence);
    std::int64_t inside = 0;
    for (T value : view(values)) inside += (low <= value) & (value <= high);
    require(inside == static_cast<std::int64_t>(n), sentence);
    return view(values);
}

// What all of them take before the metric's own arguments.
struct Arguments {
    Indices offsets, order;
    Vector<double> scores, labels;
    std::optional<Vector<double>> query_weights;
    std::optional<std::int64_t> truncation;
    bool normalise;
    double sigma;
    int n_threads;
    std::optional<int> path;  // for tests

    std::size_t n_rows() const { return scores.size(); }
    std::size_t n_queries() const { return offsets.size() - 1; }

    PairLoss checked() const {
        const Offsets queries = checked_offsets(offsets, order.size());
        require(order.size() == n_rows(), "order must list every row");
        require(std::isfinite(sigma) && sigma > 0.0, "sigma must be above 0");
        Doubles weights;
        if (query_weights)
            weights =
                checked_finite(*query_weights, n_queries(), "query_weights must be a number for every query");
        return {queries,
                checked_rows(order, n_rows()),
                checked_finite(scores, n_rows(), "scores must be finite"),
                checked_finite(labels, n_rows(), "labels must be a finite number for every score"),
                weights,
                checked_depth(truncation, "truncation must be at least 1"),
                normalise,
                sigma,
                checked_path(path)};
    }

    template <class Kernel>
    nb::tuple run(const Kernel& kernel) const {
        const PairLoss loss = checked();
        Output<double> gradient(n_rows()), hessian(n_rows());
        {
            nb::gil_scoped_release release;
            // A row that `order` leaves out, for another that it lists twice, would keep what memory held.
            std::fill(gradient.span().begin(), gradient.span().end(), 0.0);
            std::fill(hessian.span().begin(), hessian.span().end(), 0.0);
            kernel(loss, Lambdas{gradient.span(), hessian.span()});
        }
        return nb::make_tuple(gradient.numpy(), hessian.numpy());
    }
};

template <class... Own>
void define(nb::module_& m, const char* name, nb::tuple (*kernel)(const Arguments&, Own...), const auto&... own) {
    m.def(
        name,
        [kernel](Indices offsets, Indices order, Vector<double> scores, Vector<double> labels,
                 std::optional<Vector<double>> query_weights, std::optional<std::int64_t> truncation,
                 bool normalise, double sigma, int n_threads, std::optional<int> path, Own... values) {
            return kernel(Arguments{offsets, order, scores, labels, query_weights, truncation, normalise, sigma,
                                    n_threads, path},
                          values...);
        },
        nb::kw_only(), nb::arg("offsets"), nb::arg("order"), nb::arg("scores"), nb::arg("labels"),
        nb::arg("query_weights").none(), nb::arg("truncation").none(), nb::arg("normalise"), nb::arg("sigma"),
        nb::arg("n_threads"), nb::arg("path").none() = nb::none(), own...);
}

using Depth = std::optional<std::int64_t>;

nb::tuple linear(const Arguments& given, Vector<float> gains, Vector<double> discounts,
                 Vector<double> query_factors) {
    return given.run([&](const PairLoss& loss, Lambdas lambdas) {
        linear_lambdas(
            loss,
            checked_range(gains, given.n_rows(), 0.0f, 1.0f, "gains must lie in 0 to 1, one for every score"),
            checked_range(discounts, discounts.size(), 0.0, 1.0, "discounts must lie in 0 to 1"),
            checked_finite(query_factors, given.n_queries(), "query_factors must be one a query"), given.n_threads,
            lambdas);
    });
}

nb::tuple average_precision(const Arguments& given, double threshold, Depth depth, bool capped) {
    return given.run([&](const PairLoss& loss, Lambdas lambdas) {
        average_precision_lambdas(loss, threshold, checked_depth(depth), capped, given.n_threads, lambdas);
    });
}

nb::tuple reciprocal_rank(const Arguments& given, double threshold, Depth depth) {
    return given.run([&](const PairLoss& loss, Lambdas lambdas) {
        reciprocal_rank_lambdas(loss, threshold, checked_depth(depth), given.n_threads, lambdas);
    });
}

nb::tuple expected_reciprocal_rank(const Arguments& given, Vector<double> stop_probability, Depth depth) {
    return given.run([&](const PairLoss& loss, Lambdas lambdas) {
        constexpr const char* sentence = "stop_probability must be in 0 to 1 for every score";
        expected_reciprocal_rank_lambdas(loss, checked_range(stop_probability, given.n_rows(), 0.0, 1.0, sentence),
                                         checked_depth(depth), given.n_threads, lambdas);
    });
}

nb::tuple even(const Arguments& given) {
    return given.run([&](const PairLoss& loss, Lambdas lambdas) { even_lambdas(loss, given.n_threads, lambdas); });
}

nb::tuple given_matrix(const Arguments& given, Matrix<double> deltas) {
    return given.run([&](const PairLoss& loss, Lambdas lambdas) {
        require(given.n_queries() == 1, "there must be one query");
        require(deltas.shape(0) == given.n_rows() && deltas.shape(1) == given.n_rows(),
                "deltas must have a row and a column for every document");
        const Doubles values(deltas.data(), deltas.size());
        for (double delta : values)
            require(0.0 <= delta && std::isfinite(delta), "deltas must be finite and not below 0");
        given_lambdas(loss, values, lambdas);
    });
}

}  // namespace

void bind_lambdas(nb::module_& m) {
    define(m, "linear_lambdas", linear, nb::arg("gains"), nb::arg("discounts"), nb::arg("query_factors"));
    define(m, "average_precision_lambdas", average_precision, nb::arg("threshold"), nb::arg("depth").none(),
           nb::arg("capped"));
    define(m, "reciprocal_rank_lambdas", reciprocal_rank, nb::arg("threshold"), nb::arg("depth").none());
    define(m, "expected_reciprocal_rank_lambdas", expected_reciprocal_rank, nb::arg("stop_probability"),
           nb::arg("depth").none());
    define(m, "even_lambdas", even);
    define(m, "given_lambdas", given_matrix, nb::arg("deltas"));
}

}  // namespace rankwright::bindings
