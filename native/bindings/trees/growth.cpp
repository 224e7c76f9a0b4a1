#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/arguments/arrays.hpp"
#include "bindings/metrics/measure.hpp"
#include "bindings/trees/following.hpp"
#include "bindings/trees/gradient_rule.hpp"
#include "bindings/trees/growth_arguments.hpp"
#include "bindings/trees/tree_arrays.hpp"
#include "bindings/trees/workspace.hpp"
#include "scoring/class_link.hpp"
#include "trees/class_tree.hpp"
#include "trees/gradient_tree.hpp"
#include "trees/leaf_sums.hpp"

namespace rankwright::bindings {
namespace {

nb::dict arrays_of(const GrownTree& tree) {
    nb::dict arrays = shape_arrays(tree);
    arrays["leaf_value"] = to_numpy(tree.leaf_value);
    return arrays;
}

// The arrays of several trees together, and where the splits of each begin.
nb::dict arrays_of(std::span<const GrownTree> trees) {
    std::vector<std::int64_t> splits{0};
    for (const GrownTree& tree : trees)
        splits.push_back(splits.back() + static_cast<std::int64_t>(tree.feature.size()));
    const auto join = [&]<class T, class Owner>(std::vector<T> Owner::* numbers) {
        std::vector<T> all;
        for (const GrownTree& tree : trees) all.insert(all.end(), (tree.*numbers).begin(), (tree.*numbers).end());
        return to_numpy(all);
    };
    nb::dict arrays;
    arrays["splits"] = to_numpy(splits);
    arrays["feature"] = join(&GrownTree::feature);
    arrays["threshold"] = join(&GrownTree::threshold);
    arrays["missing_left"] = join(&GrownTree::missing_left);
    arrays["set_size"] = join(&GrownTree::set_size);
    arrays["set_words"] = join(&GrownTree::set_words);
    arrays["left"] = join(&GrownTree::left);
    arrays["right"] = join(&GrownTree::right);
    arrays["gain"] = join(&GrownTree::gain);
    arrays["cover"] = join(&GrownTree::cover);
    arrays["leaf_value"] = join(&GrownTree::leaf_value);
    return arrays;
}

nb::tuple grown(const BinnedMatrix& binned, Array<double> gradient, Array<double> hessian,
                Array<std::uint32_t> sample, Array<double> sample_weights, Array<std::uint32_t> features,
                Array<std::int8_t> monotone, std::int32_t max_leaves, std::int64_t min_documents,
                double min_hessian, double l2, double min_gain, std::int32_t levels, int n_threads,
                GuardedWorkspace& workspace, bool symmetric) {
    const GrowthTask task{view(gradient),
                          view(hessian),
                          checked_subset(sample, binned.n_rows, kSample),
                          view(sample_weights),
                          checked_subset(features, binned.n_features, kFeatures),
                          checked_directions(monotone, binned.n_features)};
    for (Doubles values : {task.gradient, task.hessian})
        check_finite(values, binned.n_rows, "there must be one finite number per row");
    check_weights(task.hessian, task.sample_weights, task.sample.size());
    const GrowthLimits limits =
        with_symmetry(checked_limits(max_leaves, min_documents, min_hessian, l2, min_gain, levels), symmetric,
                      binned, task.monotone);
    Output<double> outputs(binned.n_rows);
    const GrownTree tree = grow_alone(
        workspace, [&] { return grow_tree(binned, task, limits, n_threads, workspace, outputs.span()); });
    return nb::make_tuple(arrays_of(tree), outputs.numpy());
}

// The leaf of each row in the tree that grow_tree or grow_class_tree grew last.
auto leaf_of_row(GuardedWorkspace& workspace) {
    const std::unique_lock turn(workspace.turn, std::try_to_lock);
    require(turn.owns_lock(), "another thread is using this workspace");
    return to_numpy(workspace.leaf_of_row);
}

auto leaf_sums(Array<double> values, Array<std::uint32_t> leaf_of_row, std::size_t n_leaves, int n_threads) {
    check_finite(view(values), leaf_of_row.size(), "there must be one finite number per row");
    const auto leaves = checked_leaves(leaf_of_row, n_leaves);
    Output<double> sums(n_leaves);
    {
        nb::gil_scoped_release release;
        sum_leaves(view(values), leaves, n_threads, sums.span());
    }
    return sums.numpy();
}

// The guard of the next tree's sample, given the gains of that tree.
SampleGuard checked_guard(SampleGuard guard, GuardedWorkspace& workspace) {
    const std::unique_lock turn(workspace.turn, std::try_to_lock);
    require(turn.owns_lock(), "another thread is using this workspace");
    guard.check(workspace.sample_gains);
    return guard;
}

// With the numbers of another guard's state.
SampleGuard new_guard(double fraction, int n_trees, double of_first, double of_all) {
    require(0.0 < fraction && fraction <= 1.0, "fraction must be above 0 and at most 1");
    return SampleGuard({fraction, n_trees, {of_first, of_all}});
}

BoundRule squared_error_rule(Array<double> targets, std::optional<Array<double>> row_weights) {
    checked_finite(targets, targets.size(), "targets must be finite");
    const auto gradients = [targets](Doubles scores, Rows, int, Lambdas sums) {
        for (std::size_t row = 0; row < scores.size(); ++row)
            sums.gradient[row] = view(targets)[row] - scores[row];
        std::ranges::fill(sums.hessian, 1.0);
    };
    return {targets.size(), weighted_rule(targets.size(), row_weights, gradients), {}, {}};
}

auto probabilities_of(Matrix<double> scores, bool softmax) {
    require(scores.shape(0) >= 1, "there must be a class");
    Output<double, 2> probabilities({scores.shape(0), scores.shape(1)});
    {
        nb::gil_scoped_release release;
        class_probabilities(softmax ? ClassLink::kSoftmax : ClassLink::kLogistic, scores.shape(0),
                            {scores.data(), scores.size()}, 1, probabilities.span());
    }
    return probabilities.numpy();
}

// McRank's: the residuals of the probabilities, see rankers/mcrank.py.
BoundRule class_rule(Matrix<double> targets, bool softmax, std::optional<Array<double>> row_weights) {
    const std::size_t n_classes = targets.shape(0);
    const Doubles wanted{targets.data(), targets.size()};
    require(1 <= n_classes && n_classes <= kMostClasses, "there must be from 1 to 256 classes");
    require(all_finite(wanted), "targets must be finite");
    require(!softmax || n_classes > 1, "a softmax takes more than one class");
    const auto gradients = [=](Doubles scores, Rows, int n_threads, Lambdas sums) {
        const auto classes = static_cast<double>(n_classes);
        const double factor = softmax ? classes / (classes - 1.0) : 1.0;
        class_probabilities(softmax ? ClassLink::kSoftmax : ClassLink::kLogistic, n_classes, scores, n_threads,
                            sums.hessian);
        for (std::size_t i = 0; i < scores.size(); ++i) {
            const double share = sums.hessian[i];
            sums.gradient[i] = targets.data()[i] - share;
            sums.hessian[i] = share * (1.0 - share) * factor;
        }
    };
    return {targets.shape(1), weighted_rule(targets.shape(1), row_weights, gradients), {}, {}, n_classes};
}

// Returns the trees, one row of scores, one of outputs for the documents that follow and one of the measure's
// values per round, why it ended, and the guard of the next tree.
nb::tuple boosted(const BinnedMatrix& binned, const BoundRule& rule, bool shared, Array<double> scores,
                  const std::vector<std::tuple<Array<std::uint32_t>, Array<std::uint32_t>, std::uint64_t>>& draws,
                  Array<std::int8_t> monotone, std::int32_t max_leaves, std::int64_t min_documents,
                  double min_hessian, double l2, double min_gain, std::int32_t levels, double shrinkage,
                  Matrix<float> following, Array<std::int64_t> sources, const BoundMeasure* measure, int n_threads,
                  std::optional<SampleGuard> guard, GuardedWorkspace& workspace, bool symmetric) {
    require(rule.n_rows == binned.n_rows, "the rule and the matrix must have the same rows");
    require(binned.n_rows > 0, "there must be documents");
    const Doubles start =
        checked_finite(scores, rule.n_classes * binned.n_rows, "there must be one finite score per row and class");
    require(!shared || binned.categories.empty(), "only trees of one gradient split categories");
    require(!symmetric || !shared, "trees that classes share are not symmetric");
    require(measure == nullptr || rule.n_classes == 1, "one score per row is measured");
    const std::optional<RoundMeasure> measured = checked_measure(measure, rule.n_rows, rule.offsets, rule.rows);
    const TreeRounds rounds{
        binned,
        rule.gradients,
        rule.n_classes,
        shared,
        checked_directions(monotone, binned.n_features),
        with_symmetry(checked_limits(max_leaves, min_documents, min_hessian, l2, min_gain, levels), symmetric,
                      binned, view(monotone)),
        shrinkage,
        n_threads,
        measured ? &*measured : nullptr,
        guard ? &*guard : nullptr};
    require(draws.size() % rounds.trees_per_round() == 0, "there must be one draw per tree of whole rounds");
    std::vector<TreeDraw> checked;
    for (const auto& [rows, features, seed] : draws) {
        checked.push_back({checked_subset(rows, binned.n_rows, kSample),
                           checked_subset(features, binned.n_features, kFeatures), seed});
        require(!guard || rows.size() == binned.n_rows, "a guarded sample is drawn from all rows");
    }
    const FollowingDocuments documents = checked_following(following, sources, binned.n_features);
    const std::size_t most = draws.size() / rounds.trees_per_round();
    Output<double, 2> sums({most, start.size()}), outputs({most, rule.n_classes * documents.size()}),
        values({most, measured ? measured->n_queries() : 0});
    RoundResults results{{}, sums.span(), outputs.span(), values.span()};
    const RoundsEnd end =
        grow_alone(workspace, [&] { return boost_trees(rounds, start, checked, documents, workspace, results); });
    const std::size_t n_rounds = results.trees.size() / rounds.trees_per_round();
    return nb::make_tuple(arrays_of(std::span<const GrownTree>(results.trees)), sums.first(n_rounds),
                          outputs.first(n_rounds), values.first(n_rounds), static_cast<int>(end), guard);
}

nb::tuple grown_class_tree(const BinnedMatrix& binned, Matrix<double> gradient, Matrix<double> hessian,
                           Array<std::uint32_t> sample, Array<double> sample_weights,
                           Array<std::uint32_t> features, std::int32_t max_leaves, std::int64_t min_documents,
                           double min_hessian, double l2, double min_gain, std::int32_t levels, int n_threads,
                           GuardedWorkspace& workspace) {
    const std::size_t n_classes = gradient.shape(0);
    require_numbers(binned);
    require(n_classes >= 1 && n_classes <= kMostClasses, "there must be from 1 to 256 classes");
    for (const Matrix<double>& values : {gradient, hessian}) {
        require(values.shape(0) == n_classes, "there must be one row of numbers per class");
        check_finite({values.data(), values.size()}, n_classes * binned.n_rows,
                     "there must be one finite number per row and class");
    }
    const ClassGrowthTask task{n_classes,
                               {gradient.data(), gradient.size()},
                               {hessian.data(), hessian.size()},
                               checked_subset(sample, binned.n_rows, kSample),
                               view(sample_weights),
                               checked_subset(features, binned.n_features, kFeatures)};
    check_weights(task.hessian, task.sample_weights, task.sample.size());
    const GrowthLimits limits = checked_limits(max_leaves, min_documents, min_hessian, l2, min_gain, levels);
    Output<double, 2> outputs({n_classes, binned.n_rows});
    const GrownTree tree = grow_alone(
        workspace, [&] { return grow_class_tree(binned, task, limits, n_threads, workspace, outputs.span()); });
    return nb::make_tuple(arrays_of(tree), outputs.numpy());
}

}  // namespace

void bind_growth(nb::module_& m) {
    nb::class_<GuardedWorkspace>(m, "GrowthWorkspace")
        .def(nb::init<>())
        .def_ro("bytes_read", &GuardedWorkspace::bytes_read)
        .def("leaf_of_row", &leaf_of_row);
    nb::class_<SampleGuard>(m, "SampleGuard")
        .def_prop_ro("fraction", &SampleGuard::fraction)
        .def_prop_ro("state",
                     [](const SampleGuard& guard) {
                         const SampleGuard::State& state = guard.state();
                         return nb::make_tuple(state.fraction, state.n_trees, state.sums.of_first,
                                               state.sums.of_all);
                     })
        .def("checked", &checked_guard, nb::arg("workspace"));
    m.def("sample_guard", &new_guard, nb::arg("fraction"), nb::arg("n_trees") = 0, nb::arg("of_first") = 0.0,
          nb::arg("of_all") = 0.0);
    m.def("grow_tree", &grown, nb::arg("binned"), nb::arg("gradient"), nb::arg("hessian"), nb::arg("sample"),
          nb::arg("sample_weights"), nb::arg("features"), nb::arg("monotone"), nb::arg("max_leaves"),
          nb::arg("min_documents"), nb::arg("min_hessian"), nb::arg("l2"), nb::arg("min_gain"), nb::arg("levels"),
          nb::arg("n_threads"), nb::arg("workspace"), nb::arg("symmetric") = false);
    m.def("leaf_sums", &leaf_sums, nb::arg("values"), nb::arg("leaf_of_row"), nb::arg("n_leaves"),
          nb::arg("n_threads"));
    nb::class_<BoundRule>(m, "GradientRule");
    m.def("squared_error_rule", &squared_error_rule, nb::arg("targets"), nb::arg("row_weights").none());
    m.def("class_probabilities", &probabilities_of, nb::arg("scores"), nb::arg("softmax"));
    m.def("class_rule", &class_rule, nb::arg("targets"), nb::arg("softmax"), nb::arg("row_weights").none());
    m.def("boost_trees", &boosted, nb::arg("binned"), nb::arg("rule"), nb::arg("shared"), nb::arg("scores"),
          nb::arg("draws"), nb::arg("monotone"), nb::arg("max_leaves"), nb::arg("min_documents"),
          nb::arg("min_hessian"), nb::arg("l2"), nb::arg("min_gain"), nb::arg("levels"), nb::arg("shrinkage"),
          nb::arg("following"), nb::arg("sources"), nb::arg("measure").none(), nb::arg("n_threads"),
          nb::arg("guard").none(), nb::arg("workspace"), nb::arg("symmetric") = false);
    m.def("grow_class_tree", &grown_class_tree, nb::arg("binned"), nb::arg("gradient"), nb::arg("hessian"),
          nb::arg("sample"), nb::arg("sample_weights"), nb::arg("features"), nb::arg("max_leaves"),
          nb::arg("min_documents"), nb::arg("min_hessian"), nb::arg("l2"), nb::arg("min_gain"), nb::arg("levels"),
          nb::arg("n_threads"), nb::arg("workspace"));
}

}  // namespace rankwright::bindings
