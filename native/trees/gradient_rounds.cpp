#include "trees/gradient_rounds.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <optional>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kRowsPerRange = 1 << 16;

std::vector<std::uint32_t> all_of(std::size_t n) {
    std::vector<std::uint32_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
    return numbers;
}

// Draws the rows of a task by size; all of them if no size is above 0.
void draw_rows(const SampleGuard& guard, std::uint64_t seed, int n_threads, std::span<const std::uint32_t> all,
               GrowthWorkspace& workspace, GrowthTask& task) {
    task.sample = all;
    if (guard.fraction() >= 1.0) return;
    workspace.drawn.resize(all.size());
    workspace.drawn_weights.resize(all.size());
    const std::array<Doubles, 2> values{task.gradient, task.hessian};
    const double mu = size_threshold(values, guard.fraction());
    const std::size_t n_drawn =
        draw_by_size(values, mu, seed, 0, n_threads, {workspace.drawn, workspace.drawn_weights});
    if (n_drawn == 0) return;
    task.sample = std::span(workspace.drawn).first(n_drawn);
    task.sample_weights = std::span(workspace.drawn_weights).first(n_drawn);
}

// Whether body(first, last) is true for all ranges of rows.
template <class Body>
bool all_ranges(std::size_t n_rows, int n_threads, const Body& body) {
    std::atomic<bool> all = true;
    parallel_ranges(n_rows, kRowsPerRange, n_threads, [&](std::size_t first, std::size_t last) {
        if (!body(first, last)) all = false;
    });
    return all;
}

bool are_finite(const Lambdas& lambdas, int n_threads) {
    return all_ranges(lambdas.gradient.size(), n_threads, [&](std::size_t first, std::size_t last) {
        return all_finite(lambdas.gradient.subspan(first, last - first)) &&
               all_finite(lambdas.hessian.subspan(first, last - first));
    });
}

// The scores after a tree with these outputs; false if one is not finite.
bool add_outputs(Doubles scores, double shrinkage, Doubles outputs, int n_threads, std::span<double> sums) {
    return all_ranges(scores.size(), n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) sums[row] = shrinkage * outputs[row] + scores[row];
        return all_finite(sums.subspan(first, last - first));
    });
}

}  // namespace

RoundsEnd boost_trees(const TreeRounds& rounds, Doubles start, std::span<const RoundDraw> draws,
                      const FollowingDocuments& following, GrowthWorkspace& workspace, RoundResults& results) {
    const BinnedMatrix& binned = rounds.binned;
    const std::size_t n_rows = start.size();
    for (std::vector<double>* numbers : {&workspace.gradient, &workspace.hessian, &workspace.outputs})
        numbers->resize(n_rows);
    const std::span<double> gradient = workspace.gradient, hessian = workspace.hessian,
                            outputs = workspace.outputs;
    std::vector<std::uint32_t> all_rows, all_features;
    std::optional<RoundRanking> ranking;
    if (rounds.measure != nullptr) ranking.emplace(rounds.measure->queries, rounds.measure->rows);
    Doubles scores = start;
    Rows order;
    for (const RoundDraw& draw : draws) {
        rounds.rule(scores, order, rounds.n_threads, {gradient, hessian});
        if (!are_finite({gradient, hessian}, rounds.n_threads)) return RoundsEnd::kNotFinite;
        GrowthTask task{gradient, hessian, draw.rows, {}, draw.features, rounds.monotone};
        if (rounds.guard != nullptr)
            draw_rows(*rounds.guard, draw.seed, rounds.n_threads, draw.rows, workspace, task);
        const auto grown = [&] {
            return grow_tree(binned, task, rounds.limits, rounds.n_threads, workspace, outputs);
        };
        GrownTree tree = grown();
        if (rounds.guard != nullptr) rounds.guard->check(workspace.sample_gains);
        if (tree.feature.empty() && (task.sample.size() < n_rows || draw.features.size() < binned.n_features)) {
            if (all_rows.empty()) all_rows = all_of(n_rows), all_features = all_of(binned.n_features);
            task.sample = all_rows;
            task.sample_weights = {};
            task.features = all_features;
            tree = grown();
        }
        const auto [lowest, highest] = std::ranges::minmax(tree.leaf_value);  // every leaf has rows
        if (!(lowest < highest)) return RoundsEnd::kNothingLeft;
        const std::size_t round = results.trees.size();
        const std::span<double> sums = results.scores.subspan(round * n_rows, n_rows);
        if (!add_outputs(scores, rounds.shrinkage, outputs, rounds.n_threads, sums)) return RoundsEnd::kNotFinite;
        for (std::size_t row = 0; row < following.size(); ++row)
            results.outputs[round * following.size() + row] = tree.leaf_value[following.leaf(tree, row)];
        results.trees.push_back(std::move(tree));
        scores = sums;
        if (!ranking) continue;
        const std::size_t n_queries = rounds.measure->n_queries();
        ranking->sort(scores, rounds.n_threads);
        ranking->measure(*rounds.measure, scores, rounds.n_threads,
                         results.values.subspan(round * n_queries, n_queries));
        if (rounds.measure->shares_order) order = ranking->order();
    }
    return RoundsEnd::kAllDone;
}

}  // namespace rankwright
