#include "metrics/metrics.hpp"

#include <string>

#include "bindings/arguments/checks.hpp"
#include "bindings/metrics/measure.hpp"
#include "bindings/queries/ranking.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright::bindings {
namespace {

std::size_t longest_query(Offsets queries) {
    std::int64_t longest = 0;
    for (std::size_t query = 1; query < queries.size(); ++query)
        longest = std::max(longest, queries[query] - queries[query - 1]);
    return static_cast<std::size_t>(longest);
}

constexpr const char* kOnePerRow = "there must be a finite number for every score";

// The documents that the arguments of a metric must fit: the rows of every query, in any order.
struct Documents {
    std::size_t n_rows;
    Offsets queries;
    Rows rows;
    int n_threads;  // to prepare the metric
};

// The values of sorted queries.
auto values_of(const SortedQueries& sorted, bool average_ties, const RankMeasure& measure, int n_threads) {
    const RankedQueries ranked{sorted.offsets,
                               {sorted.order.get(), sorted.n_positions},
                               view(sorted.scores),
                               {sorted.tied.get(), sorted.n_queries()},
                               average_ties};
    Output<double> values(sorted.n_queries());
    {
        nb::gil_scoped_release release;
        measure(ranked, n_threads, values.span());
    }
    return values.numpy();
}

// One row per row of scores.
auto values_of_rounds(const BoundMeasure& bound, Matrix<double> scores, int n_threads) {
    const RoundMeasure by{view(bound.offsets), view(bound.rows), bound.average_ties, bound.measure, false};
    const std::size_t n_rounds = scores.shape(0), n_queries = by.n_queries();
    const Doubles all{scores.data(), scores.size()};
    require(scores.shape(1) == bound.n_rows, "there must be one score per row");
    for (const double score : all) require(score == score, "scores must not be NaN");
    Output<double, 2> values({n_rounds, n_queries});
    {
        nb::gil_scoped_release release;
        parallel_for(n_rounds, n_threads, [&](std::size_t round) {
            const Doubles own = all.subspan(round * bound.n_rows, bound.n_rows);
            RoundRanking ranking(by.queries, by.rows);
            ranking.sort(own, n_threads);
            ranking.measure(by, own, n_threads, values.span().subspan(round * n_queries, n_queries));
        });
    }
    return values.numpy();
}

using GainKernel = void (*)(const RankedQueries&, Doubles, Doubles, int, std::span<double>);
using Depth = std::optional<std::int64_t>;

template <GainKernel kernel, bool whole_list>
RankMeasure gain_metric(const Documents& documents, Array<double> gains, Array<double> discounts) {
    checked_finite(gains, documents.n_rows, kOnePerRow);
    require(!whole_list || discounts.size() >= longest_query(documents.queries), "too few discounts");
    return [gains, discounts](const RankedQueries& ranked, int n_threads, std::span<double> values) {
        kernel(ranked, view(gains), view(discounts), n_threads, values);
    };
}

// The ideal order is the same after every round, and so is its gain.
RankMeasure ndcg_metric(const Documents& documents, Array<double> gains, Array<double> discounts) {
    checked_finite(gains, documents.n_rows, kOnePerRow);
    std::vector<double> ideals(documents.queries.size() - 1);
    {
        nb::gil_scoped_release release;
        ideal_gains(documents.queries, documents.rows, view(gains), view(discounts), documents.n_threads, ideals);
    }
    return [gains, discounts, ideals = std::move(ideals)](const RankedQueries& ranked, int n_threads,
                                                          std::span<double> values) {
        ndcgs(ranked, view(gains), view(discounts), ideals, n_threads, values);
    };
}

RankMeasure average_precision_metric(const Documents& documents, Array<double> labels, double threshold,
                                     Depth depth, bool capped) {
    checked_finite(labels, documents.n_rows, kOnePerRow);
    const std::size_t ranks = checked_depth(depth);
    return [=](const RankedQueries& ranked, int n_threads, std::span<double> values) {
        average_precisions(ranked, {view(labels), threshold}, ranks, capped, n_threads, values);
    };
}

RankMeasure reciprocal_rank_metric(const Documents& documents, Array<double> labels, double threshold,
                                   Depth depth) {
    checked_finite(labels, documents.n_rows, kOnePerRow);
    const std::size_t ranks = checked_depth(depth);
    return [=](const RankedQueries& ranked, int n_threads, std::span<double> values) {
        reciprocal_ranks(ranked, {view(labels), threshold}, ranks, n_threads, values);
    };
}

RankMeasure expected_reciprocal_rank_metric(const Documents& documents, Array<double> stop_probability,
                                            Depth depth) {
    checked_finite(stop_probability, documents.n_rows, kOnePerRow);
    const std::size_t ranks = checked_depth(depth);
    return [=](const RankedQueries& ranked, int n_threads, std::span<double> values) {
        expected_reciprocal_ranks(ranked, view(stop_probability), ranks, n_threads, values);
    };
}

RankMeasure pair_accuracy_metric(const Documents& documents, Array<double> labels) {
    checked_finite(labels, documents.n_rows, kOnePerRow);
    return [labels](const RankedQueries& ranked, int n_threads, std::span<double> values) {
        pair_accuracies(ranked, view(labels), n_threads, values);
    };
}

// Defines NAME, the values of sorted queries, and NAME_measure, the same as an object for boosting.
template <class... Own>
void define(nb::module_& m, const std::string& name, RankMeasure (*make)(const Documents&, Own...),
            const auto&... own) {
    m.def(
        name.c_str(),
        [make](const SortedQueries& sorted, bool average_ties, Own... values, int n_threads) {
            const Rows order{sorted.order.get(), sorted.n_positions};
            const Documents documents{sorted.scores.size(), sorted.offsets, order, n_threads};
            return values_of(sorted, average_ties, make(documents, values...), n_threads);
        },
        nb::arg("ranking"), nb::arg("average_ties"), own..., nb::arg("n_threads"));
    m.def((name + "_measure").c_str(),
          [make](Array<std::int64_t> offsets, Array<std::int64_t> rows, bool average_ties, Own... values) {
              const Offsets queries = checked_offsets(offsets, rows.size());
              checked_rows(rows, rows.size());
              return BoundMeasure{offsets, rows, rows.size(), average_ties,
                                  make({rows.size(), queries, view(rows), 1}, values...)};
          },
          nb::arg("offsets"), nb::arg("rows"), nb::arg("average_ties"), own...);
}

}  // namespace

void bind_metrics(nb::module_& m) {
    nb::class_<BoundMeasure>(m, "RankMeasure")
        .def("of_rounds", &values_of_rounds, nb::arg("scores"), nb::arg("n_threads"));
    define(m, "discounted_gains", gain_metric<discounted_gains, false>, nb::arg("gains"), nb::arg("discounts"));
    define(m, "ndcgs", ndcg_metric, nb::arg("gains"), nb::arg("discounts"));
    define(m, "mean_ndcgs", gain_metric<mean_ndcgs, true>, nb::arg("gains"), nb::arg("discounts"));
    define(m, "average_precisions", average_precision_metric, nb::arg("labels"), nb::arg("threshold"),
           nb::arg("depth").none(), nb::arg("capped"));
    define(m, "reciprocal_ranks", reciprocal_rank_metric, nb::arg("labels"), nb::arg("threshold"),
           nb::arg("depth").none());
    define(m, "expected_reciprocal_ranks", expected_reciprocal_rank_metric, nb::arg("stop_probability"),
           nb::arg("depth").none());
    define(m, "pair_accuracies", pair_accuracy_metric, nb::arg("labels"));
}

}  // namespace rankwright::bindings
