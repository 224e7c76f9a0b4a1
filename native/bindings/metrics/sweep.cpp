#include "metrics/sweep.hpp"

#include "bindings/arguments/arrays.hpp"
#include "bindings/arguments/checks.hpp"

namespace rankwright::bindings {
namespace {

// The arguments that all sweeps have in common.
struct Arguments {
    Array<std::int64_t> offsets, rows;
    Array<double> s, t;
    double low, high;
    bool average_ties;
    int n_threads;

    std::size_t n_rows() const { return s.size(); }

    Lines checked() const {
        require(low < high, "low must be below high");
        return {checked_offsets(offsets, rows.size()),
                checked_rows(rows, n_rows()),
                checked_scores(s, n_rows()),
                checked_scores(t, n_rows()),
                low,
                high,
                average_ties};
    }

    static Doubles checked_scores(const Array<double>& scores, std::size_t n) {
        constexpr const char* sentence = "scores must be finite, at most 1e300, and one per row";
        const Doubles numbers = checked_finite(scores, n, sentence);
        std::int64_t inside = 0;
        for (double score : numbers) inside += -kHighestScore <= score && score <= kHighestScore;
        require(inside == static_cast<std::int64_t>(n), sentence);
        return numbers;
    }

    template <class Kernel>
    nb::tuple run(const Kernel& kernel) const {
        const Lines lines = checked();
        Output<double> starts(offsets.size() - 1);
        Sweep sweep;
        {
            nb::gil_scoped_release release;
            kernel(lines, starts.span(), sweep);
        }
        return nb::make_tuple(starts.numpy(), to_numpy(sweep.alphas), to_numpy(sweep.changes));
    }
};

constexpr const char* kOnePerRow = "there must be a finite number for every score";

nb::tuple gains(const Arguments& arguments, Array<double> gains, Array<double> rank_weights) {
    const Doubles checked_gains = checked_finite(gains, arguments.n_rows(), kOnePerRow);
    const Doubles weights =
        checked_finite(rank_weights, arguments.rows.size(), "there must be one weight per rank");
    require(gains_add_up(arguments.checked(), checked_gains, weights), "gains are too large to be summed");
    return arguments.run([&](const Lines& lines, std::span<double> starts, Sweep& sweep) {
        sweep_gains(lines, checked_gains, weights, arguments.n_threads, starts, sweep);
    });
}

nb::tuple average_precisions(const Arguments& arguments, Array<double> labels, double threshold,
                             std::optional<std::int64_t> depth, bool capped) {
    const Relevance relevance{checked_finite(labels, arguments.n_rows(), kOnePerRow), threshold};
    const std::size_t ranks = checked_depth(depth);
    return arguments.run([&](const Lines& lines, std::span<double> starts, Sweep& sweep) {
        sweep_average_precisions(lines, relevance, ranks, capped, arguments.n_threads, starts, sweep);
    });
}

nb::tuple reciprocal_ranks(const Arguments& arguments, Array<double> labels, double threshold,
                           std::optional<std::int64_t> depth) {
    const Relevance relevance{checked_finite(labels, arguments.n_rows(), kOnePerRow), threshold};
    const std::size_t ranks = checked_depth(depth);
    return arguments.run([&](const Lines& lines, std::span<double> starts, Sweep& sweep) {
        sweep_reciprocal_ranks(lines, relevance, ranks, arguments.n_threads, starts, sweep);
    });
}

nb::tuple expected_reciprocal_ranks(const Arguments& arguments, Array<double> stop_probability,
                                    std::optional<std::int64_t> depth) {
    constexpr const char* sentence = "there must be one probability per score";
    const Doubles stops = checked_finite(stop_probability, arguments.n_rows(), sentence);
    for (double stop : stops) require(0.0 <= stop && stop <= 1.0, sentence);
    const std::size_t ranks = checked_depth(depth);
    return arguments.run([&](const Lines& lines, std::span<double> starts, Sweep& sweep) {
        sweep_expected_reciprocal_ranks(lines, stops, ranks, arguments.n_threads, starts, sweep);
    });
}

// A function of the common arguments, and of those that are specific to the metric.
template <class... Own>
auto sharing(nb::tuple (*function)(const Arguments&, Own...)) {
    return [function](Array<std::int64_t> offsets, Array<std::int64_t> rows, Array<double> s, Array<double> t,
                      double low, double high, bool average_ties, int n_threads, Own... own) {
        return function({offsets, rows, s, t, low, high, average_ties, n_threads}, own...);
    };
}

}  // namespace

void bind_sweep(nb::module_& m) {
    const auto define = [&m](const char* name, auto function, auto... own) {
        m.def(name, sharing(function), nb::kw_only(), nb::arg("offsets"), nb::arg("rows"), nb::arg("s"),
              nb::arg("t"), nb::arg("low"), nb::arg("high"), nb::arg("average_ties"), nb::arg("n_threads"),
              own...);
    };
    define("sweep_gains", gains, nb::arg("gains"), nb::arg("rank_weights"));
    define("sweep_average_precisions", average_precisions, nb::arg("labels"), nb::arg("threshold"),
           nb::arg("depth").none(), nb::arg("capped"));
    define("sweep_reciprocal_ranks", reciprocal_ranks, nb::arg("labels"), nb::arg("threshold"),
           nb::arg("depth").none());
    define("sweep_expected_reciprocal_ranks", expected_reciprocal_ranks, nb::arg("stop_probability"),
           nb::arg("depth").none());
}

}  // namespace rankwright::bindings
