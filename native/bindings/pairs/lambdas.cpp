#include "pairs/lambdas.hpp"

#include <cmath>
#include <functional>
#include <string>

#include "bindings/arguments/arrays.hpp"
#include "bindings/arguments/checks.hpp"
#include "bindings/networks/query_loss.hpp"
#include "bindings/trees/gradient_rule.hpp"
#include "pairs/neighbour_lambdas.hpp"

namespace rankwright::bindings {
namespace {

using Indices = Array<std::int64_t>;

// Numbers in [low, high]; the loop has no early exit, so that it compiles to SIMD instructions.
template <class T>
std::span<const T> checked_range(const Array<T>& values, std::size_t n, T low, T high, const char* sentence) {
    require(values.size() == n, sentence);
    std::int64_t inside = 0;
    for (T value : view(values)) inside += (low <= value) & (value <= high);
    require(inside == static_cast<std::int64_t>(n), sentence);
    return view(values);
}

// The documents that arrays of one number per row or per query must fit.
struct Sizes {
    std::size_t n_queries, n_rows;
};

// Where the queries and rows of a PairLoss begin among those that a metric's arrays are for.
struct Part {
    std::size_t query = 0, row = 0;
};

// A metric's kernel with its own arguments, which have been checked.
using Kernel = std::function<void(const PairLoss& loss, const Part& part, int n_threads, Lambdas lambdas)>;

// The options that every kernel takes.
struct Options {
    std::optional<Array<double>> query_weights;
    std::optional<std::int64_t> truncation;
    bool normalise;
    double sigma;
    std::optional<int> path;  // for tests

    // Without documents, but with the queries' weights.
    PairLoss checked(std::size_t n_queries) const {
        require(std::isfinite(sigma) && sigma > 0.0, "sigma must be above 0");
        Doubles weights;
        if (query_weights)
            weights = checked_finite(*query_weights, n_queries, "query_weights must be a number for every query");
        return {{},        {},      {},
                {},        weights, checked_depth(truncation, "truncation must be at least 1"),
                normalise, sigma,   checked_path(path)};
    }
};

struct Documents {
    Indices offsets, order;
    Array<double> scores, labels;

    Sizes sizes() const { return {offsets.size() - 1, scores.size()}; }

    PairLoss checked(const Options& options) const {
        const Offsets queries = checked_offsets(offsets, order.size());
        const std::size_t n_rows = scores.size();
        require(order.size() == n_rows, "order must list every row");
        PairLoss loss = options.checked(queries.size() - 1);
        loss.queries = queries;
        loss.order = checked_rows(order, n_rows);
        loss.scores = checked_finite(scores, n_rows, "scores must be finite");
        loss.labels = checked_finite(labels, n_rows, "labels must be a finite number for every score");
        return loss;
    }
};

nb::tuple run(const Kernel& kernel, const PairLoss& loss, int n_threads) {
    Output<double> gradient(loss.scores.size()), hessian(loss.scores.size());
    {
        nb::gil_scoped_release release;
        // A row that is missing from `order`, because another is there twice, would otherwise be uninitialised.
        std::fill(gradient.span().begin(), gradient.span().end(), 0.0);
        std::fill(hessian.span().begin(), hessian.span().end(), 0.0);
        kernel(loss, Part{}, n_threads, Lambdas{gradient.span(), hessian.span()});
    }
    return nb::make_tuple(gradient.numpy(), hessian.numpy());
}

// The same for one query at a time: a part of one query.
BoundPull bound(const Kernel& kernel, const Indices& offsets, const Array<double>& labels,
                const Options& options) {
    checked_finite(labels, labels.size(), "labels must be finite");
    const PairLoss of_all = options.checked(offsets.size() - 1);
    return {
        copied_offsets(offsets, labels.size()),
        // Arrays that the loss refers to are kept with it.
        [kernel, of_all, labels, weights = options.query_weights](std::size_t query, std::size_t row,
                                                                  Doubles scores, std::span<double> pull) {
            PairLoss loss = of_all;
            loss.labels = view(labels).subspan(row, scores.size());
            if (weights) loss.query_weights = view(*weights).subspan(query, 1);
            lambda_pull(
                loss, scores,
                [&](const PairLoss& of_query, Lambdas lambdas) { kernel(of_query, Part{query, row}, 1, lambdas); },
                pull);
        }};
}

// The gradients of documents that are ranked by their scores first.
BoundRule ranked_rule(const Kernel& kernel, const Indices& offsets, const Indices& rows,
                      const Array<double>& labels, const Options& options,
                      const std::optional<Array<double>>& row_weights) {
    const std::size_t n_rows = labels.size();
    PairLoss checked = options.checked(offsets.size() - 1);
    checked.queries = checked_offsets(offsets, n_rows);
    require(rows.size() == n_rows, "rows must list every row");
    checked_rows(rows, n_rows);
    checked.labels = checked_finite(labels, n_rows, "labels must be finite");
    // Arrays that the loss refers to are kept with it.
    const auto gradients = [kernel, checked, offsets, rows, labels, weights = options.query_weights](
                               Doubles scores, Rows order, int n_threads, Lambdas lambdas) {
        std::unique_ptr<std::int64_t[]> sorted;
        if (order.empty()) {
            sorted = std::make_unique_for_overwrite<std::int64_t[]>(scores.size());
            const auto tied = std::make_unique_for_overwrite<bool[]>(checked.queries.size());
            sort_within_queries(checked.queries, view(rows), scores, {}, n_threads, {sorted.get(), scores.size()},
                                {tied.get(), checked.queries.size() - 1});
            order = {sorted.get(), scores.size()};
        }
        PairLoss loss = checked;
        loss.order = order;
        loss.scores = scores;
        kernel(loss, Part{}, n_threads, lambdas);
    };
    return {n_rows, weighted_rule(n_rows, row_weights, gradients), offsets, rows};
}

// Defines NAME_lambdas, which takes the documents of all queries together.
template <class... Own>
void define_sums(nb::module_& m, const std::string& name, Kernel (*make)(const Sizes&, Own...),
                 const auto&... own) {
    m.def((name + "_lambdas").c_str(),
          [make](Indices offsets, Indices order, Array<double> scores, Array<double> labels,
                 std::optional<Array<double>> query_weights, std::optional<std::int64_t> truncation,
                 bool normalise, double sigma, int n_threads, std::optional<int> path, Own... values) {
              const Documents documents{offsets, order, scores, labels};
              const PairLoss loss = documents.checked({query_weights, truncation, normalise, sigma, path});
              return run(make(documents.sizes(), values...), loss, n_threads);
          },
          nb::kw_only(), nb::arg("offsets"), nb::arg("order"), nb::arg("scores"), nb::arg("labels"),
          nb::arg("query_weights").none(), nb::arg("truncation").none(), nb::arg("normalise"), nb::arg("sigma"),
          nb::arg("n_threads"), nb::arg("path").none() = nb::none(), own...);
}

// Defines NAME_pull, which makes a pull for training by one query at a time.
template <class... Own>
void define_pull(nb::module_& m, const std::string& name, Kernel (*make)(const Sizes&, Own...),
                 const auto&... own) {
    m.def((name + "_pull").c_str(),
          [make](Indices offsets, Array<double> labels, std::optional<Array<double>> query_weights,
                 std::optional<std::int64_t> truncation, bool normalise, double sigma, Own... values) {
              require(offsets.size() > 0, "offsets must run from 0 to the number of rows");
              const Kernel kernel = make({offsets.size() - 1, labels.size()}, values...);
              return bound(kernel, offsets, labels, {query_weights, truncation, normalise, sigma, std::nullopt});
          },
          nb::kw_only(), nb::arg("offsets"), nb::arg("labels"), nb::arg("query_weights").none(),
          nb::arg("truncation").none(), nb::arg("normalise"), nb::arg("sigma"), own...);
}

// Defines NAME_rule, the gradients of all documents as a function of their scores, for boosting without the
// interpreter.
template <class... Own>
void define_rule(nb::module_& m, const std::string& name, Kernel (*make)(const Sizes&, Own...),
                 const auto&... own) {
    m.def((name + "_rule").c_str(),
          [make](Indices offsets, Indices rows, Array<double> labels, std::optional<Array<double>> query_weights,
                 std::optional<std::int64_t> truncation, bool normalise, double sigma,
                 std::optional<Array<double>> row_weights, Own... values) {
              require(offsets.size() > 0, "offsets must run from 0 to the number of rows");
              const Options options{query_weights, truncation, normalise, sigma, std::nullopt};
              return ranked_rule(make({offsets.size() - 1, labels.size()}, values...), offsets, rows, labels,
                                 options, row_weights);
          },
          nb::kw_only(), nb::arg("offsets"), nb::arg("rows"), nb::arg("labels"), nb::arg("query_weights").none(),
          nb::arg("truncation").none(), nb::arg("normalise"), nb::arg("sigma"), nb::arg("row_weights").none(),
          own...);
}

template <class... Own>
void define(nb::module_& m, const std::string& name, Kernel (*make)(const Sizes&, Own...), const auto&... own) {
    define_sums(m, name, make, own...);
    define_pull(m, name, make, own...);
}

using Depth = std::optional<std::int64_t>;

Kernel linear(const Sizes& n, Array<float> gains, Array<double> discounts, Array<double> query_factors) {
    checked_range(gains, n.n_rows, 0.0f, 1.0f, "gains must be between 0 and 1, one per score");
    checked_range(discounts, discounts.size(), 0.0, 1.0, "discounts must be between 0 and 1");
    checked_finite(query_factors, n.n_queries, "query_factors must be one finite number per query");
    return
        [gains, discounts, query_factors](const PairLoss& loss, const Part& part, int n_threads, Lambdas lambdas) {
            // No query has more ranks than there are rows.
            const std::size_t n_ranks = std::min(discounts.size(), loss.scores.size());
            linear_lambdas(loss, view(gains).subspan(part.row, loss.scores.size()), view(discounts).first(n_ranks),
                           view(query_factors).subspan(part.query, loss.queries.size() - 1), n_threads, lambdas);
        };
}

Kernel linear_by_query(const Sizes& n, Array<float> gains, Array<double> discounts, Array<double> query_factors) {
    checked_range(gains, n.n_rows, 0.0f, 1.0f, "gains must be between 0 and 1, one per score");
    checked_range(discounts, n.n_rows, 0.0, 1.0, "discounts must be between 0 and 1, one per rank of each query");
    checked_finite(query_factors, n.n_queries, "query_factors must be one finite number per query");
    return
        [gains, discounts, query_factors](const PairLoss& loss, const Part& part, int n_threads, Lambdas lambdas) {
            const std::size_t n_rows = loss.scores.size();
            linear_by_query_lambdas(
                loss, view(gains).subspan(part.row, n_rows), view(discounts).subspan(part.row, n_rows),
                view(query_factors).subspan(part.query, loss.queries.size() - 1), n_threads, lambdas);
        };
}

Kernel average_precision(const Sizes&, double threshold, Depth depth, bool capped) {
    const std::size_t n_ranks = checked_depth(depth);
    return [threshold, n_ranks, capped](const PairLoss& loss, const Part&, int n_threads, Lambdas lambdas) {
        average_precision_lambdas(loss, threshold, n_ranks, capped, n_threads, lambdas);
    };
}

Kernel reciprocal_rank(const Sizes&, double threshold, Depth depth) {
    const std::size_t n_ranks = checked_depth(depth);
    return [threshold, n_ranks](const PairLoss& loss, const Part&, int n_threads, Lambdas lambdas) {
        reciprocal_rank_lambdas(loss, threshold, n_ranks, n_threads, lambdas);
    };
}

Kernel expected_reciprocal_rank(const Sizes& n, Array<double> stop_probability, Depth depth) {
    checked_range(stop_probability, n.n_rows, 0.0, 1.0, "stop_probability must be in 0 to 1 for every score");
    const std::size_t n_ranks = checked_depth(depth);
    return [stop_probability, n_ranks](const PairLoss& loss, const Part& part, int n_threads, Lambdas lambdas) {
        expected_reciprocal_rank_lambdas(loss, view(stop_probability).subspan(part.row, loss.scores.size()),
                                         n_ranks, n_threads, lambdas);
    };
}

Kernel even(const Sizes&) {
    return [](const PairLoss& loss, const Part&, int n_threads, Lambdas lambdas) {
        even_lambdas(loss, n_threads, lambdas);
    };
}

Kernel neighbour(const Sizes&, double scale, std::int32_t n_orders, std::uint64_t seed) {
    require(std::isfinite(scale) && scale > 0.0, "scale must be above 0");
    require(n_orders >= 1, "n_orders must be at least 1");
    return [orders = RandomOrders{scale, n_orders, seed}](const PairLoss& loss, const Part&, int n_threads,
                                                          Lambdas lambdas) {
        neighbour_lambdas(loss, orders, n_threads, lambdas);
    };
}

Kernel given_matrix(const Sizes& n, Matrix<double> deltas) {
    require(n.n_queries == 1, "there must be one query");
    require(deltas.shape(1) == n.n_rows && deltas.shape(0) <= n.n_rows && (deltas.shape(0) > 0 || n.n_rows == 0),
            "deltas must have one column per document, and one row for each of the first ranks");
    const Doubles values(deltas.data(), deltas.size());
    for (double delta : values)
        require(0.0 <= delta && std::isfinite(delta), "deltas must be finite and not negative");
    return [values](const PairLoss& loss, const Part&, int, Lambdas lambdas) {
        given_lambdas(loss, values, lambdas);
    };
}

}  // namespace

void bind_lambdas(nb::module_& m) {
    const auto metric = [&](const char* name, auto make, const auto&... own) {
        define(m, name, make, own...);
        define_rule(m, name, make, own...);
    };
    metric("linear", linear, nb::arg("gains"), nb::arg("discounts"), nb::arg("query_factors"));
    metric("average_precision", average_precision, nb::arg("threshold"), nb::arg("depth").none(),
           nb::arg("capped"));
    metric("reciprocal_rank", reciprocal_rank, nb::arg("threshold"), nb::arg("depth").none());
    metric("expected_reciprocal_rank", expected_reciprocal_rank, nb::arg("stop_probability"),
           nb::arg("depth").none());
    // Without a rule: a custom metric's sums are checked in Python every round, and no boosting is without a
    // metric.
    define(m, "linear_by_query", linear_by_query, nb::arg("gains"), nb::arg("discounts"),
           nb::arg("query_factors"));
    define(m, "even", even);
    define_sums(m, "neighbour", neighbour, nb::arg("scale"), nb::arg("n_orders"), nb::arg("seed"));
    define_rule(m, "neighbour", neighbour, nb::arg("scale"), nb::arg("n_orders"), nb::arg("seed"));
    define_sums(m, "given", given_matrix, nb::arg("deltas"));
}

}  // namespace rankwright::bindings
