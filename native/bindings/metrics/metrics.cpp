#include "metrics/metrics.hpp"

#include "bindings/arguments/checks.hpp"
#include "bindings/queries/ranking.hpp"

namespace rankwright::bindings {
namespace {

std::size_t longest_query(Offsets queries) {
    std::int64_t longest = 0;
    for (std::size_t query = 1; query < queries.size(); ++query)
        longest = std::max(longest, queries[query] - queries[query - 1]);
    return static_cast<std::size_t>(longest);
}

constexpr const char* kOnePerRow = "there must be a finite number for every score";

// The arguments that all metrics have in common, and the array that they fill.
template <class Kernel>
auto run(const SortedQueries& sorted, bool average_ties, const Kernel& kernel) {
    const RankedQueries ranked{sorted.offsets,
                               {sorted.order.get(), sorted.n_positions},
                               view(sorted.scores),
                               {sorted.tied.get(), sorted.n_queries()},
                               average_ties};
    Output<double> values(sorted.n_queries());
    {
        nb::gil_scoped_release release;
        kernel(ranked, values.span());
    }
    return values.numpy();
}

using GainKernel = void (*)(const RankedQueries&, Doubles, Doubles, int, std::span<double>);

template <GainKernel kernel, bool whole_list>
auto gain_metric(const SortedQueries& sorted, bool average_ties, Array<double> gains, Array<double> discounts,
                 int n_threads) {
    const Doubles checked_gains = checked_finite(gains, sorted.scores.size(), kOnePerRow);
    return run(sorted, average_ties, [&](const RankedQueries& ranked, std::span<double> values) {
        require(!whole_list || discounts.size() >= longest_query(ranked.queries), "too few discounts");
        kernel(ranked, checked_gains, view(discounts), n_threads, values);
    });
}

auto average_precision_metric(const SortedQueries& sorted, bool average_ties, Array<double> labels,
                              double threshold, std::optional<std::int64_t> depth, bool capped, int n_threads) {
    const Relevance relevance{checked_finite(labels, sorted.scores.size(), kOnePerRow), threshold};
    const std::size_t ranks = checked_depth(depth);
    return run(sorted, average_ties, [&](const RankedQueries& ranked, std::span<double> values) {
        average_precisions(ranked, relevance, ranks, capped, n_threads, values);
    });
}

auto reciprocal_rank_metric(const SortedQueries& sorted, bool average_ties, Array<double> labels, double threshold,
                            std::optional<std::int64_t> depth, int n_threads) {
    const Relevance relevance{checked_finite(labels, sorted.scores.size(), kOnePerRow), threshold};
    const std::size_t ranks = checked_depth(depth);
    return run(sorted, average_ties, [&](const RankedQueries& ranked, std::span<double> values) {
        reciprocal_ranks(ranked, relevance, ranks, n_threads, values);
    });
}

auto expected_reciprocal_rank_metric(const SortedQueries& sorted, bool average_ties,
                                     Array<double> stop_probability, std::optional<std::int64_t> depth,
                                     int n_threads) {
    const Doubles stops = checked_finite(stop_probability, sorted.scores.size(), kOnePerRow);
    const std::size_t ranks = checked_depth(depth);
    return run(sorted, average_ties, [&](const RankedQueries& ranked, std::span<double> values) {
        expected_reciprocal_ranks(ranked, stops, ranks, n_threads, values);
    });
}

auto pair_accuracy_metric(const SortedQueries& sorted, bool average_ties, Array<double> labels, int n_threads) {
    const Doubles rows = checked_finite(labels, sorted.scores.size(), kOnePerRow);
    return run(sorted, average_ties, [&](const RankedQueries& ranked, std::span<double> values) {
        pair_accuracies(ranked, rows, n_threads, values);
    });
}

}  // namespace

void bind_metrics(nb::module_& m) {
    const auto define = [&m](const char* name, auto function, auto... arguments) {
        m.def(name, function, nb::arg("ranking"), nb::arg("average_ties"), arguments..., nb::arg("n_threads"));
    };
    define("discounted_gains", gain_metric<discounted_gains, false>, nb::arg("gains"), nb::arg("discounts"));
    define("ndcgs", gain_metric<ndcgs, false>, nb::arg("gains"), nb::arg("discounts"));
    define("mean_ndcgs", gain_metric<mean_ndcgs, true>, nb::arg("gains"), nb::arg("discounts"));
    define("average_precisions", average_precision_metric, nb::arg("labels"), nb::arg("threshold"),
           nb::arg("depth").none(), nb::arg("capped"));
    define("reciprocal_ranks", reciprocal_rank_metric, nb::arg("labels"), nb::arg("threshold"),
           nb::arg("depth").none());
    define("expected_reciprocal_ranks", expected_reciprocal_rank_metric, nb::arg("stop_probability"),
           nb::arg("depth").none());
    define("pair_accuracies", pair_accuracy_metric, nb::arg("labels"));
}

}  // namespace rankwright::bindings
