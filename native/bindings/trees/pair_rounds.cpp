#include "trees/pair_rounds.hpp"

#include "bindings/metrics/measure.hpp"
#include "bindings/pairs/bound_pairs.hpp"
#include "bindings/trees/following.hpp"
#include "bindings/trees/tree_arrays.hpp"

namespace rankwright::bindings {
namespace {

// The pairs as an object of Python: checked when it is made.
class BoundPairs {
  public:
    BoundPairs(const Array<std::int64_t>& offsets, const Array<std::int64_t>& rows,
               const Array<std::uint8_t>& labels, const Matrix<double>& strengths, const Array<double>& shares)
        : offsets(offsets),
          rows(rows),
          labels_(labels),
          strengths_(strengths),
          shares_(shares),
          task_(checked_task(checked_offsets(offsets, labels.size()), labels_, strengths_, shares_, shares_)) {
        require(rows.size() == labels.size(), "rows must list every document");
        checked_rows(rows, labels.size());
        for (const double strength : task_.strengths)
            require(strength - strength == 0.0, "strengths must be finite");
    }

    std::size_t n_rows() const { return task_.labels.size(); }
    const PairTask& task() const { return task_; }

    const Array<std::int64_t> offsets, rows;

  private:
    const Array<std::uint8_t> labels_;
    const Matrix<double> strengths_;
    const Array<double> shares_;
    const PairTask task_;  // its scores are replaced
};

nb::tuple arrays_of(const PairRound& round) {
    const PairThreshold& threshold = round.threshold;
    return nb::make_tuple(threshold.feature, threshold.code, threshold.value, threshold.gain, round.step,
                          round.n_high, round.n_missing, round.agreement, round.log_loss, round.misordered);
}

// Returns the rounds, the logarithm of the loss before them, one row of scores, one of outputs for the documents
// that follow and one of the measure's values per round, and why it ended.
nb::tuple boosted(const BinnedMatrix& binned, const BoundPairs& pairs, const Array<double>& scores,
                  std::size_t n_rounds, const StumpRounds* stumps, bool both_directions, bool diagnosed,
                  const Matrix<float>& following, const Array<std::int64_t>& sources, const BoundMeasure* measure,
                  int n_threads) {
    require_numbers(binned);
    require(pairs.n_rows() == binned.n_rows && binned.n_features >= 1,
            "the pairs and the matrix must have the same rows, and there must be features");
    const Doubles start = checked_finite(scores, binned.n_rows, "there must be one finite score per row");
    const std::optional<RoundMeasure> measured =
        checked_measure(measure, pairs.n_rows(), pairs.offsets, pairs.rows);
    require(!measured || measured->shares_order, "the pairs and the measure must have the same queries");
    const FollowingDocuments documents = checked_following(following, sources, binned.n_features);
    const PairRounds rounds{pairs.task(),
                            view(pairs.rows),
                            binned,
                            stumps,
                            both_directions,
                            diagnosed,
                            measured ? &*measured : nullptr,
                            n_threads};
    Output<double, 2> sums({n_rounds, binned.n_rows}), outputs({n_rounds, documents.size()}),
        values({n_rounds, measured ? measured->n_queries() : 0});
    PairResults results{{}, 0.0, sums.span(), outputs.span(), values.span()};
    RoundsEnd end;
    {
        nb::gil_scoped_release release;
        end = boost_pairs(rounds, start, n_rounds, documents, results);
    }
    nb::list done;
    for (const PairRound& round : results.rounds) done.append(arrays_of(round));
    const std::size_t n_done = results.rounds.size();
    return nb::make_tuple(done, results.first_log_loss, sums.first(n_done), outputs.first(n_done),
                          values.first(n_done), static_cast<int>(end));
}

nb::tuple boosted_stumps(const BoundCodes& codes, const BoundPairs& pairs, Array<double> scores,
                         std::size_t n_rounds, bool squared, double learning_rate, bool diagnosed,
                         Matrix<float> following, Array<std::int64_t> sources, const BoundMeasure* measure,
                         int n_threads) {
    require(std::ranges::equal(codes.queries, view(pairs.offsets)), "codes must be sorted within the queries");
    require(learning_rate > 0.0 && std::isfinite(learning_rate), "the learning rate must be finite and above 0");
    const StumpRounds stumps{codes.sorted, squared, learning_rate};
    return boosted(codes.binned, pairs, scores, n_rounds, &stumps, false, diagnosed, following, sources, measure,
                   n_threads);
}

nb::tuple boosted_votes(const BinnedMatrix& binned, const BoundPairs& pairs, Array<double> scores,
                        std::size_t n_rounds, bool both_directions, bool diagnosed, Matrix<float> following,
                        Array<std::int64_t> sources, const BoundMeasure* measure, int n_threads) {
    return boosted(binned, pairs, scores, n_rounds, nullptr, both_directions, diagnosed, following, sources,
                   measure, n_threads);
}

}  // namespace

void bind_pair_rounds(nb::module_& m) {
    nb::class_<BoundPairs>(m, "WeightedPairs")
        .def(nb::init<const Array<std::int64_t>&, const Array<std::int64_t>&, const Array<std::uint8_t>&,
                      const Matrix<double>&, const Array<double>&>(),
             nb::arg("offsets"), nb::arg("rows"), nb::arg("labels"), nb::arg("strengths"), nb::arg("shares"));
    m.def("boost_pair_stumps", &boosted_stumps, nb::arg("codes"), nb::arg("pairs"), nb::arg("scores"),
          nb::arg("n_rounds"), nb::arg("squared"), nb::arg("learning_rate"), nb::arg("diagnosed"),
          nb::arg("following"), nb::arg("sources"), nb::arg("measure").none(), nb::arg("n_threads"));
    m.def("boost_pair_votes", &boosted_votes, nb::arg("binned"), nb::arg("pairs"), nb::arg("scores"),
          nb::arg("n_rounds"), nb::arg("both_directions"), nb::arg("diagnosed"), nb::arg("following"),
          nb::arg("sources"), nb::arg("measure").none(), nb::arg("n_threads"));
}

}  // namespace rankwright::bindings
