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

    GradientStatistic(const BinnedMatrix& binned, const GrowthLimits& limits, const Quantised& quantised,
                      const GradientSearch& search, SampleGains& gains)
        : binned_(binned), limits_(limits), quantised_(quantised), search_(search), gains_(gains) {}

    const HistogramLayout& layout() const { return search_.layout(); }

    void fill(RowList rows, int n_threads, Packed* histogram) const {
        fill_histogram(binned_, rows, quantised_, search_.bytes(), layout(), n_threads, histogram);
    }

    Packed total(const Packed* histogram) const {
        const int n_used = layout().n_used.front();
        const Packed sum = std::accumulate(histogram, histogram + n_used, Packed{0});
        return n_used == static_cast<int>(kCodes) ? sum : sum + histogram[kMissing];
    }

    void subtract(Packed part, Packed& whole) const { whole -= part; }

    GradientSplit best_split(const Leaf<GradientStatistic>& leaf, Worker& worker) const {
        return search_.best_split({leaf.sample, leaf.rest, leaf.histogram.get(), leaf.sums, leaf.inherited},
                                  worker);
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
    const BinnedMatrix& binned_;
    const GrowthLimits& limits_;
    const Quantised& quantised_;
    const GradientSearch& search_;
    SampleGains& gains_;
};

using GradientLeaves = std::vector<Leaf<GradientStatistic>>;

void set_values(const GradientLeaves& leaves, const GrowthTask& task, double l2, int n_threads,
                GrowthWorkspace& space, GrownTree& tree, std::span<double> outputs) {
    const std::size_t n_rows = outputs.size();
    space.leaf_of_row.resize(n_rows);
    number_rows<GradientStatistic>(leaves, n_threads, space.leaf_of_row);
    std::vector<double> gradients(leaves.size()), hessians(leaves.size());
    sum_leaves(task.gradient, space.leaf_of_row, n_threads, gradients);
    sum_leaves(task.hessian, space.leaf_of_row, n_threads, hessians);
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
        tree.leaf_value.push_back(leaf_value({gradients[leaf], hessians[leaf]}, l2, leaves[leaf].inherited));
    parallel_ranges(n_rows, kRowsPerRange, n_threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) outputs[row] = tree.leaf_value[space.leaf_of_row[row]];
    });
}

}  // namespace

GrownTree grow_tree(const BinnedMatrix& features, const GrowthTask& task, const GrowthLimits& limits,
                    int n_threads, GrowthWorkspace& space, std::span<double> outputs) {
    quantise(task.gradient, task.hessian, task.sample, task.sample_weights, limits.levels, n_threads,
             space.quantised);
    const bool all_rows_decide = features.coarse && task.sample.size() < features.n_rows;
    if (all_rows_decide)
        quantise(task.gradient, task.hessian, {}, {}, limits.levels, n_threads, space.all_quantised);
    const BinnedMatrix& binned =
        all_rows_decide
            ? order_categories(features, task.features, space.all_quantised, {}, n_threads, space.categories)
            : order_categories(features, task.features, space.quantised, task.sample, n_threads, space.categories);
    const GradientSearch search(binned, task, limits, space.quantised, space.all_quantised);
    space.sample_gains = {};
    const GradientStatistic statistic(binned, limits, space.quantised, search, space.sample_gains);
    GrownTree tree;
    const auto leaves = Grower(binned, statistic, limits.max_leaves, n_threads, space).grow(task.sample, {}, tree);
    if (!all_rows_decide) space.sample_gains = {};
    set_values(leaves, task, limits.l2, binned.n_rows >= kRowsPerThread ? n_threads : 1, space, tree, outputs);
    return tree;
}

}  // namespace rankwright
