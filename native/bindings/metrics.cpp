#include "rankwright/metrics.hpp"

#include <limits>

#include "arrays.hpp"

namespace rankwright::bindings {
namespace {

using Indices = Vector<std::int64_t>;

RankedQueries checked_ranking(const Indices& offsets, const Indices& order, const Vector<double>& scores,
                              bool average_ties) {
    return {checked_offsets(offsets, order.size()), checked_rows(order, scores.size()), view(scores),
            average_ties};
}

std::size_t longest_query(Offsets queries) {
    std::int64_t longest = 0;
    for (std::size_t query = 1; query < queries.size(); ++query)
        longest = std::max(longest, queries[query] - queries[query - 1]);
    return static_cast<std::size_t>(longest);
}

std::size_t checked_depth(std::optional<std::int64_t> depth) {
    if (!depth) return std::numeric_limits<std::size_t>::max();
    require(*depth >= 1, "depth must be at least 1");
    return static_cast<std::size_t>(*depth);
}

constexpr const char* kOneARow = "there must be one value for every score";

// A metric over documents' gains and a table of discounts.
using GainKernel = void (*)(const RankedQueries&, Doubles, Doubles, int, std::span<double>);

template <GainKernel kernel, bool whole_list>
auto gain_metric() {
    return [](Indices offsets, Indices order, Vector<double> scores, bool average_ties, Vector<double> gains,
              Vector<double> discounts, int n_threads) {
        const RankedQueries ranked = checked_ranking(offsets, order, scores, average_ties);
        const Doubles worth = checked_numbers(gains, scores.size(), kOneARow);
        require(!whole_list || discounts.size() >= longest_query(ranked.queries), "too few discounts");
        Output<double> values(ranked.queries.size() - 1);
        {
            nb::gil_scoped_release release;
            kernel(ranked, worth, view(discounts), n_threads, values.span());
        }
        return values.numpy();
    };
}

// A metric over one number a document, down to a depth.
using DepthKernel = void (*)(const RankedQueries&, Doubles, std::size_t, int, std::span<double>);

template <DepthKernel kernel>
auto depth_metric() {
    return [](Indices offsets, Indices order, Vector<double> scores, bool average_ties, Vector<double> numbers,
              std::optional<std::int64_t> depth, int n_threads) {
        const RankedQueries ranked = checked_ranking(offsets, order, scores, average_ties);
        const Doubles rows = checked_numbers(numbers, scores.size(), kOneARow);
        const std::size_t ranks = checked_depth(depth);
        Output<double> values(ranked.queries.size() - 1);
        {
            nb::gil_scoped_release release;
            kernel(ranked, rows, ranks, n_threads, values.span());
        }
        return values.numpy();
    };
}

}  // namespace

void bind_metrics(nb::module_& m) {
    const auto define_gain = [&](const char* name, auto function) {
        m.def(name, function, nb::arg("offsets"), nb::arg("order"), nb::arg("scores"), nb::arg("average_ties"),
              nb::arg("gains"), nb::arg("discounts"), nb::arg("n_threads"));
    };
    define_gain("discounted_gains", gain_metric<discounted_gains, false>());
    define_gain("mean_ndcgs", gain_metric<mean_ndcgs, true>());

    const auto define_depth = [&](const char* name, auto function, const char* numbers) {
        m.def(name, function, nb::arg("offsets"), nb::arg("order"), nb::arg("scores"), nb::arg("average_ties"),
              nb::arg(numbers), nb::arg("depth").none(), nb::arg("n_threads"));
    };
    define_depth("precision_sums", depth_metric<precision_sums>(), "relevance");
    define_depth("reciprocal_ranks", depth_metric<reciprocal_ranks>(), "relevance");
    define_depth("expected_reciprocal_ranks", depth_metric<expected_reciprocal_ranks>(), "stop_probability");

    m.def(
        "ideal_gains",
        [](Indices offsets, Indices rows, Vector<double> gains, Vector<double> discounts, int n_threads) {
            const Offsets queries = checked_offsets(offsets, rows.size());
            const Rows places = checked_rows(rows, gains.size());
            const Doubles worth = checked_numbers(gains, gains.size(), "gains must not be NaN");
            Output<double> values(queries.size() - 1);
            {
                nb::gil_scoped_release release;
                ideal_gains(queries, places, worth, view(discounts), n_threads, values.span());
            }
            return values.numpy();
        },
        nb::arg("offsets"), nb::arg("rows"), nb::arg("gains"), nb::arg("discounts"), nb::arg("n_threads"));

    m.def(
        "correct_pairs",
        [](Indices offsets, Indices order, Vector<double> scores, bool average_ties, Vector<double> labels,
           int n_threads) {
            const RankedQueries ranked = checked_ranking(offsets, order, scores, average_ties);
            const Doubles rows = checked_numbers(labels, scores.size(), kOneARow);
            Output<double> correct(ranked.queries.size() - 1), pairs(ranked.queries.size() - 1);
            {
                nb::gil_scoped_release release;
                correct_pairs(ranked, rows, n_threads, correct.span(), pairs.span());
            }
            return nb::make_tuple(correct.numpy(), pairs.numpy());
        },
        nb::arg("offsets"), nb::arg("order"), nb::arg("scores"), nb::arg("average_ties"), nb::arg("labels"),
        nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
