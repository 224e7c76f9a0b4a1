#include "trees/gradient_rounds.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
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

// Grows the trees of a block of rounds.
class TreeGrower {
  public:
    TreeGrower(const TreeRounds& rounds, GrowthWorkspace& workspace) : rounds_(rounds), workspace_(workspace) {}

    // A tree for one score per row, or for the scores of all classes.
    GrownTree grow(const Lambdas& lambdas, const TreeDraw& draw, std::span<double> outputs) {
        GrowthTask task{lambdas.gradient, lambdas.hessian, draw.rows, {}, draw.features, rounds_.monotone};
        if (rounds_.guard != nullptr) draw_rows(draw.seed, task);
        GrownTree tree = grow(task, outputs);
        if (rounds_.guard != nullptr) rounds_.guard->check(workspace_.sample_gains);
        const BinnedMatrix& binned = rounds_.binned;
        const bool is_draw = task.sample.size() < binned.n_rows || draw.features.size() < binned.n_features;
        if (!tree.feature.empty() || !is_draw) return tree;
        if (all_rows_.empty()) all_rows_ = all_of(binned.n_rows), all_features_ = all_of(binned.n_features);
        task.sample = all_rows_;
        task.sample_weights = {};
        task.features = all_features_;
        return grow(task, outputs);
    }

  private:
    GrownTree grow(const GrowthTask& task, std::span<double> outputs) {
        if (!rounds_.shared)
            return grow_tree(rounds_.binned, task, rounds_.limits, rounds_.n_threads, workspace_, outputs);
        const ClassGrowthTask of_classes{rounds_.n_classes, task.gradient,       task.hessian,
                                         task.sample,       task.sample_weights, task.features};
        return grow_class_tree(rounds_.binned, of_classes, rounds_.limits, rounds_.n_threads, workspace_, outputs);
    }

    // Draws the rows of a task by size; all of them if no size is above 0.
    void draw_rows(std::uint64_t seed, GrowthTask& task) {
        const double fraction = rounds_.guard->fraction();
        const std::size_t n_rows = rounds_.binned.n_rows;
        if (fraction >= 1.0) return;
        workspace_.drawn.resize(n_rows);
        workspace_.drawn_weights.resize(n_rows);
        std::vector<Doubles> values;
        for (const Doubles numbers : {task.gradient, task.hessian})
            for (std::size_t first = 0; first < numbers.size(); first += n_rows)
                values.push_back(numbers.subspan(first, n_rows));
        const double mu = size_threshold(values, fraction);
        const std::size_t n_drawn =
            draw_by_size(values, mu, seed, 0, rounds_.n_threads, {workspace_.drawn, workspace_.drawn_weights});
        if (n_drawn == 0) return;
        task.sample = std::span(workspace_.drawn).first(n_drawn);
        task.sample_weights = std::span(workspace_.drawn_weights).first(n_drawn);
    }

    const TreeRounds& rounds_;
    GrowthWorkspace& workspace_;
    std::vector<std::uint32_t> all_rows_, all_features_;
};

// Whether a tree changes the order of rows by any of its n_columns values per leaf; every leaf has rows.
bool divides(const GrownTree& tree, std::size_t n_columns) {
    for (std::size_t column = 0; column < n_columns; ++column) {
        double lowest = HUGE_VAL, highest = -HUGE_VAL;
        for (std::size_t i = column; i < tree.leaf_value.size(); i += n_columns) {
            lowest = std::min(lowest, tree.leaf_value[i]);
            highest = std::max(highest, tree.leaf_value[i]);
        }
        if (lowest < highest) return true;
    }
    return false;
}

// Overwrites the outputs of a tree for documents in these leaves, one row of them per column of its leaves.
void follow(const GrownTree& tree, std::size_t n_columns, std::span<const std::uint32_t> leaves, double* outputs) {
    for (std::size_t column = 0; column < n_columns; ++column)
        for (const std::uint32_t leaf : leaves) *outputs++ = tree.leaf_value[leaf * n_columns + column];
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

RoundsEnd boost_trees(const TreeRounds& rounds, Doubles start, std::span<const TreeDraw> draws,
                      const FollowingDocuments& following, GrowthWorkspace& workspace, RoundResults& results) {
    const std::size_t size = start.size(), n_trees = rounds.trees_per_round(), part = size / n_trees;
    const std::size_t n_columns = rounds.n_classes / n_trees, n_outputs = n_columns * following.size();
    for (std::vector<double>* numbers : {&workspace.gradient, &workspace.hessian, &workspace.outputs})
        numbers->resize(size);
    const std::span<double> gradient = workspace.gradient, hessian = workspace.hessian,
                            outputs = workspace.outputs;
    const FrequentLoops frequent(rounds.n_threads);
    TreeGrower grower(rounds, workspace);
    std::vector<std::uint32_t> leaves(following.size());
    std::optional<RoundRanking> ranking;
    if (rounds.measure != nullptr) ranking.emplace(rounds.measure->queries, rounds.measure->rows);
    Doubles scores = start;
    Rows order;
    for (std::size_t round = 0; round < draws.size() / n_trees; ++round) {
        rounds.rule(scores, order, rounds.n_threads, {gradient, hessian});
        if (!are_finite({gradient, hessian}, rounds.n_threads)) return RoundsEnd::kNotFinite;
        std::vector<GrownTree> trees;
        for (std::size_t i = 0; i < n_trees; ++i)
            trees.push_back(grower.grow({gradient.subspan(i * part, part), hessian.subspan(i * part, part)},
                                        draws[round * n_trees + i], outputs.subspan(i * part, part)));
        const auto helps = [&](const GrownTree& tree) { return divides(tree, n_columns); };
        if (std::ranges::none_of(trees, helps)) return RoundsEnd::kNothingLeft;
        const std::span<double> sums = results.scores.subspan(round * size, size);
        if (!add_outputs(scores, rounds.shrinkage, outputs, rounds.n_threads, sums)) return RoundsEnd::kNotFinite;
        for (GrownTree& tree : trees) {
            following.find_leaves(tree, rounds.n_threads, leaves);
            follow(tree, n_columns, leaves, results.outputs.data() + results.trees.size() * n_outputs);
            results.trees.push_back(std::move(tree));
        }
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
