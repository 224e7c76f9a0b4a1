#include "trees/gradient_rounds.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

namespace rankwright {
namespace {

std::vector<std::uint32_t> all_of(std::size_t n) {
    std::vector<std::uint32_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
    return numbers;
}

}  // namespace

RoundsEnd boost_trees(const TreeRounds& rounds, Doubles start, std::span<const RoundDraw> draws,
                      const FollowingDocuments& following, GrowthWorkspace& workspace, RoundResults& results) {
    const BinnedMatrix& binned = rounds.binned;
    const std::size_t n_rows = start.size();
    std::vector<double> gradient(n_rows), hessian(n_rows), outputs(n_rows);
    std::vector<std::uint32_t> all_rows, all_features;
    std::optional<RoundRanking> ranking;
    if (rounds.measure != nullptr) ranking.emplace(rounds.measure->queries, rounds.measure->rows);
    Doubles scores = start;
    Rows order;
    for (const RoundDraw& draw : draws) {
        rounds.rule(scores, order, rounds.n_threads, {gradient, hessian});
        if (!all_finite(gradient) || !all_finite(hessian)) return RoundsEnd::kNotFinite;
        GrowthTask task{gradient, hessian, draw.rows, {}, draw.features, rounds.monotone};
        const auto grown = [&] {
            return grow_tree(binned, task, rounds.limits, rounds.n_threads, workspace, outputs);
        };
        GrownTree tree = grown();
        if (tree.feature.empty() && (draw.rows.size() < n_rows || draw.features.size() < binned.n_features)) {
            if (all_rows.empty()) all_rows = all_of(n_rows), all_features = all_of(binned.n_features);
            task.sample = all_rows;
            task.features = all_features;
            tree = grown();
        }
        const auto [lowest, highest] = std::ranges::minmax(tree.leaf_value);  // every leaf has rows
        if (!(lowest < highest)) return RoundsEnd::kNothingLeft;
        const std::size_t round = results.trees.size();
        const std::span<double> sums = results.scores.subspan(round * n_rows, n_rows);
        for (std::size_t row = 0; row < n_rows; ++row) sums[row] = rounds.shrinkage * outputs[row] + scores[row];
        if (!all_finite(sums)) return RoundsEnd::kNotFinite;
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
