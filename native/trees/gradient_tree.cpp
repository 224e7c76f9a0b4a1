#include "trees/gradient_tree.hpp"

#include <numeric>

#include "trees/gradient_search.hpp"
#include "trees/leaf_sums.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kRowsPerRange = 1 << 15;

class GradientStatistic {
  public:
    using Sums = Packed;
    using Inherited = ValueBounds;
    using Split = GradientSplit;

    GradientStatistic(const GrowthLimits& limits, const GradientSearch& search, SampleGains& gains)
        : limits_(limits), search_(search), gains_(gains) {}

    const HistogramLayout& layout() const { return search_.layout(); }

    Packed total(const Packed* histogram) const {
        const int n_used = layout().n_used.front();
        const Packed sum = std::accumulate(histogram, histogram + n_used, Packed{0});
        const bool has_missing = layout().by_level || n_used == static_cast<int>(kCodes);
        return has_missing ? sum : sum + histogram[kMissing];
    }

    void subtract(Packed part, Packed& whole) const { whole -= part; }

    void search(std::span<Leaf<GradientStatistic>* const> leaves, RowStore& store, Worker& worker) const {
        std::vector<GradientLeaf> searched;
        for (const Leaf<GradientStatistic>* leaf : leaves)
            searched.push_back({leaf->rows, leaf->histogram.get(), leaf->sums, leaf->inherited});
        const std::vector<GradientSplit> best = search_.best_splits(searched, store, worker);
        for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i]->best = best[i];
    }

    // Sets the split that all leaves of a level share; false if it gains too little.
    bool share_split(std::span<Leaf<GradientStatistic>* const> leaves, int n_threads) const {
        std::vector<GradientLeaf> level;
        for (const Leaf<GradientStatistic>* leaf : leaves)
            level.push_back({leaf->rows, leaf->histogram.get(), leaf->sums, leaf->inherited});
        const GradientSearch::SharedSplit shared = search_.shared_split(level, n_threads);
        for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i]->best = shared.of_leaf[i];
        return shared.total > limits_.min_gain;
    }

    bool left_is_lighter(const Leaf<GradientStatistic>& leaf) const {
        return search_.left_is_lighter(leaf.histogram.get(), leaf.sums, leaf.best);
    }
    bool allows(const GradientSplit& split) const { return split.gain > limits_.min_gain; }
    double reported_gain(const GradientSplit& split) const {
        gains_.of_first += split.of_first;
        gains_.of_all += split.gain;
        return split.gain;
    }
    CodeSplit code_split(const GradientSplit& split) const {
        return {search_.feature(split.slot), split.code, split.missing_left};
    }

    // Under a monotone constraint the two sides meet half way between their values.
    void pass_down(const Leaf<GradientStatistic>& parent, Leaf<GradientStatistic>& left,
                   Leaf<GradientStatistic>& right) const {
        left.inherited = right.inherited = parent.inherited;
        const int direction = search_.direction(parent.best.slot);
        if (direction == 0) return;
        (direction > 0 ? left.inherited.high : left.inherited.low) = parent.best.middle;
        (direction > 0 ? right.inherited.low : right.inherited.high) = parent.best.middle;
    }

  private:
    const GrowthLimits& limits_;
    const GradientSearch& search_;
    SampleGains& gains_;
};

// The values of the leaves of fewer rows take one thread less time than several.
constexpr std::size_t kRowsForValueThreads = 2'000;

using GradientLeaves = std::vector<Leaf<GradientStatistic>>;

void set_values(const GradientLeaves& leaves, const GrowthTask& task, double l2, int n_threads,
                GrowthWorkspace& space, GrownTree& tree, std::span<double> outputs) {
    const std::size_t n_rows = outputs.size();
    space.leaf_of_row.resize(n_rows);
    number_rows<GradientStatistic>(leaves, n_threads, space.leaf_of_row);
    std::vector<double> gradients(leaves.size()), hessians(leaves.size());
    parallel_for(2, n_threads, [&](std::size_t second) {
        sum_leaves(second ? task.hessian : task.gradient, space.leaf_of_row, n_threads,
                   second ? hessians : gradients);
    });
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
        tree.leaf_value.push_back(leaf_value({gradients[leaf], hessians[leaf]}, l2, leaves[leaf].inherited));
    parallel_ranges(n_rows, kRowsPerRange, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) outputs[row] = tree.leaf_value[space.leaf_of_row[row]];
    });
}

}  // namespace

GrownTree grow_tree(const BinnedMatrix& features, GrowthTask task, const GrowthLimits& limits, int n_threads,
                    GrowthWorkspace& space, std::span<double> outputs) {
    quantise(task.gradient, task.hessian, task.sample, task.sample_weights, limits.levels, n_threads,
             space.quantised);
    task.all_rows_judge = features.coarse && task.sample.size() < features.n_rows;
    if (task.all_rows_judge)
        quantise(task.gradient, task.hessian, {}, {}, limits.levels, n_threads, space.all_quantised);
    const Quantised& judging = task.all_rows_judge ? space.all_quantised : space.quantised;
    const BinnedMatrix& binned = order_categories(
        features, task.features, judging, task.all_rows_judge ? std::span<const std::uint32_t>() : task.sample,
        n_threads, space.categories);
    const GradientSearch search(binned, task, limits, space.quantised, space.all_quantised);
    space.sample_gains = {};
    const GradientStatistic statistic(limits, search, space.sample_gains);
    const auto fill = [&](RowList rows, int threads, Packed* histogram) {
        fill_histogram(binned, rows, space.quantised, search.bytes(), search.layout(), threads, space.histograms,
                       histogram);
    };
    LocalRows rows(binned, task.sample, search.layout(), fill, judging, task.all_rows_judge, space);
    GrownTree tree;
    Grower grower(binned, statistic, rows, limits.max_leaves, n_threads, space);
    const auto leaves = limits.symmetric ? grower.grow_by_level({}, tree) : grower.grow({}, tree);
    if (!task.all_rows_judge) space.sample_gains = {};
    const int n_value_threads = binned.n_rows >= kRowsForValueThreads ? n_threads : 1;
    set_values(leaves, task, limits.l2, n_value_threads, space, tree, outputs);
    return tree;
}

GrownTree grow_remote_tree(const BinnedMatrix& binned, const GrowthTask& task, const GrowthLimits& limits,
                           const NumberSizes& units, const NumberSizes& all_units, RemoteRows& rows, int n_threads,
                           GrowthWorkspace& space) {
    const auto set = [](const NumberSizes& steps, Quantised& quantised) {
        quantised.gradient_step = steps.gradient;
        quantised.hessian_step = steps.hessian;
    };
    set(units, space.quantised);
    set(all_units, space.all_quantised);
    GradientSearch search(binned, task, limits, space.quantised, space.all_quantised);
    search.read_sent();
    space.sample_gains = {};
    const GradientStatistic statistic(limits, search, space.sample_gains);
    GrownTree tree;
    Grower grower(binned, statistic, rows, limits.max_leaves, n_threads, space);
    const auto leaves = limits.symmetric ? grower.grow_by_level({}, tree) : grower.grow({}, tree);
    if (!task.all_rows_judge) space.sample_gains = {};
    std::vector<double> gradients, hessians;
    rows.sum_leaves(leaf_ids<GradientStatistic>(leaves), gradients, hessians);
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
        tree.leaf_value.push_back(
            leaf_value({gradients[leaf], hessians[leaf]}, limits.l2, leaves[leaf].inherited));
    return tree;
}

}  // namespace rankwright
