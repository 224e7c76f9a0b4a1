#include "networks/network_training.hpp"

#include <nanobind/stl/variant.h>

#include <cmath>
#include <variant>

#include "bindings/networks/network.hpp"
#include "bindings/networks/query_loss.hpp"

namespace rankwright::bindings {
namespace {

BoundPull cross_entropy(Array<std::int64_t> offsets, Array<double> labels) {
    checked_finite(labels, labels.size(), "labels must be finite");
    auto queries = copied_offsets(offsets, labels.size());
    std::vector<double> targets(labels.size());
    for (std::size_t query = 1; query < queries.size(); ++query) {
        const auto begin = static_cast<std::size_t>(queries[query - 1]);
        const std::size_t n_rows = static_cast<std::size_t>(queries[query]) - begin;
        if (n_rows > 0) softmax(view(labels).subspan(begin, n_rows), std::span(targets).subspan(begin, n_rows));
    }
    return {std::move(queries),
            [targets = std::move(targets)](std::size_t, std::size_t row, Doubles scores, std::span<double> pull) {
                cross_entropy_pull(Doubles(targets).subspan(row, scores.size()), scores, pull);
            }};
}

// Calls a Python function for the pull: the loss of a metric without a kernel.
class PythonPull {
  public:
    explicit PythonPull(nb::callable function) : function_(function) {}

    void operator()(std::size_t query, Doubles scores, std::span<double> pull) const {
        const nb::gil_scoped_acquire acquire;
        Output<double> given(scores.size());
        std::copy(scores.begin(), scores.end(), given.span().begin());
        const auto returned = nb::cast<Array<double>>(nb::handle(function_)(query, given.numpy()));
        require(returned.size() == pull.size(), "the pull must be a number for every document");
        std::copy_n(returned.data(), returned.size(), pull.begin());
    }

  private:
    nb::handle function_;  // kept by the caller
};

nb::ndarray<nb::numpy, double> pull_of_query(const BoundPull& pull, std::size_t query, Array<double> scores) {
    checked_finite(scores, scores.size(), "scores must be finite");
    Output<double> result(scores.size());
    pull(query, view(scores), result.span());
    return result.numpy();
}

Output<double> copied(const Array<double>& values, std::size_t n, const char* sentence) {
    require(values.size() == n, sentence);
    Output<double> copy(n);
    std::copy_n(values.data(), n, copy.span().begin());
    return copy;
}

constexpr std::int64_t kMostSteps = std::int64_t{1} << 52;

nb::object train(Array<std::int64_t> widths, Array<double> parameters, Array<double> mean,
                 Array<double> mean_square, std::int64_t n_steps, double learning_rate, Matrix<float> values,
                 Array<std::int64_t> offsets, Array<std::int64_t> queries, std::optional<Array<double>> weights,
                 std::variant<const BoundPull*, nb::callable> pull) {
    const std::vector<double> missing(values.shape(1));  // nothing is missing
    const Array<double> no_missing(Array<double>::Base(missing.data(), {missing.size()}));
    const CheckedNetwork checked(widths, parameters, no_missing, values);
    TrainingQueries data{checked_offsets(offsets, values.shape(0)), all(values), {}};
    if (weights)
        data.weights = checked_finite(*weights, values.shape(0), "weights must be a finite number for every row");
    const Rows steps = checked_rows(queries, offsets.size() - 1);
    require(n_steps >= 0 && n_steps <= kMostSteps, "n_steps must be from 0 to 2^52");
    require(std::isfinite(learning_rate), "learning_rate must be finite");
    const std::size_t n = parameters.size(), n_means = mean.size() == 0 ? 0 : n;
    Output<double> moved = copied(parameters, n, "");
    Output<double> new_mean = copied(mean, n_means, "mean must be a number for every parameter, or empty");
    Output<double> new_square =
        copied(mean_square, n_means, "mean_square must be a number for every parameter, or empty as mean is");
    Adam adam{learning_rate, moved.span(), new_mean.span(), new_square.span(), n_steps};
    const QueryPull ask = std::holds_alternative<nb::callable>(pull)
                              ? QueryPull(PythonPull(std::get<nb::callable>(pull)))
                              : QueryPull(std::cref(*std::get<const BoundPull*>(pull)));
    bool is_finite = false;
    {
        nb::gil_scoped_release release;
        is_finite = train_network(checked.network().widths, missing, data, steps, ask, adam);
    }
    if (!is_finite) return nb::none();
    return nb::make_tuple(moved.numpy(), new_mean.numpy(), new_square.numpy());
}

}  // namespace

void bind_network_training(nb::module_& m) {
    nb::class_<BoundPull>(m, "QueryPull").def("__call__", pull_of_query, nb::arg("query"), nb::arg("scores"));
    m.def("cross_entropy_pull", cross_entropy, nb::kw_only(), nb::arg("offsets"), nb::arg("labels"));
    m.def("train_network", train, nb::kw_only(), nb::arg("widths"), nb::arg("parameters"), nb::arg("mean"),
          nb::arg("mean_square"), nb::arg("n_steps"), nb::arg("learning_rate"), nb::arg("values"),
          nb::arg("offsets"), nb::arg("queries"), nb::arg("weights").none(), nb::arg("pull"));
}

}  // namespace rankwright::bindings
