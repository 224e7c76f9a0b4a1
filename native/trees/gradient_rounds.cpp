#include "trees/gradient_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rankwright {
namespace {

bool all_finite(Doubles values) {
    std::size_t wrong = 0;
    for (const double value : values) wrong += value - value != 0.0;
    return wrong == 0;
}

std::vector<std::uint32_t> all_of(std::size_t n) {
    std::vector<std::uint32_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
    return numbers;
}

void follow(const GrownTree& tree, const FollowingDocuments& documents, std::span<double> outputs) {
    for (std::size_t row = 0; row < documents.size(); ++row) {
        const float* values = documents.values.data() + row * documents.n_features;
        std::int32_t node = tree.feature.empty() ? -1 : 0;
        while (node >= 0) {
            const auto split = static_cast<std::size_t>(node);
            const float value = values[documents.sources[static_cast<std::size_t>(tree.feature[split])]];
            const bool left = std::isnan(value) ? tree.missing_left[split] != 0 : value <= tree.threshold[split];
            node = left ? tree.left[split] : tree.right[split];
        }
        outputs[row] = tree.leaf_value[static_cast<std::size_t>(-1 - node)];
    }
}

}  // namespace

RoundsEnd boost_trees(const TreeRounds& rounds, Doubles start, std::span<const RoundDraw> draws,
                      const FollowingDocuments& following, GrowthWorkspace& workspace, RoundResults& results) {
    const BinnedMatrix& binned = rounds.binned;
    const std::size_t n_rows = start.size();
    std::vector<double> gradient(n_rows), hessian(n_rows), outputs(n_rows);
    std::vector<std::uint32_t> all_rows, all_features;
    Doubles scores = start;
    for (const RoundDraw& draw : draws) {
        rounds.rule(scores, rounds.n_threads, {gradient, hessian});
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
        const auto [lowest, highest] = std::ranges::minmax(outputs);
        if (!(lowest < highest)) return RoundsEnd::kNothingLeft;
        const std::size_t round = results.trees.size();
        const std::span<double> sums = results.scores.subspan(round * n_rows, n_rows);
        for (std::size_t row = 0; row < n_rows; ++row) sums[row] = rounds.shrinkage * outputs[row] + scores[row];
        if (!all_finite(sums)) return RoundsEnd::kNotFinite;
        follow(tree, following, results.outputs.subspan(round * following.size(), following.size()));
        results.trees.push_back(std::move(tree));
        scores = sums;
    }
    return RoundsEnd::kAllDone;
}

}  // namespace rankwright
