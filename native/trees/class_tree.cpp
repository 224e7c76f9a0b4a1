#include "trees/class_tree.hpp"

#include <algorithm>

#include "trees/class_search.hpp"
#include "trees/gradient_scan.hpp"
#include "trees/leaf_sums.hpp"

namespace rankwright {
namespace {

class ClassStatistic {
  public:
    using Sums = std::vector<Packed>;  // one per class, and the number of documents
    struct Inherited {};
    using Split = ClassSplit;

    ClassStatistic(const BinnedMatrix& binned, const GrowthLimits& limits, const WideRows& rows,
                   const ClassSearch& search)
        : binned_(binned), limits_(limits), rows_(rows), search_(search) {}

    const HistogramLayout& layout() const { return search_.layout(); }

    void fill(RowList rows, int n_threads, Packed* histogram) const {
        fill_wide_histogram(binned_, rows, rows_, search_.features(), layout(), n_threads, histogram);
    }

    Sums total(const Packed* histogram) const { return layout().slot_total(0, histogram); }

    void subtract(const Sums& part, Sums& whole) const {
        for (std::size_t k = 0; k < whole.size(); ++k) whole[k] -= part[k];
    }

    ClassSplit best_split(const Leaf<ClassStatistic>& leaf, Worker& worker) const {
        return search_.best_split(leaf.histogram.get(), leaf.sums, worker.n_threads);
    }

    bool allows(const ClassSplit& split) const { return split.gain > limits_.min_gain; }
    double reported_gain(const ClassSplit& split) const { return split.gain; }
    CodeSplit code_split(const ClassSplit& split) const {
        return {search_.features()[split.slot], split.code, split.missing_left};
    }
    void pass_down(const Leaf<ClassStatistic>&, Leaf<ClassStatistic>&, Leaf<ClassStatistic>&) const {}

  private:
    const BinnedMatrix& binned_;
    const GrowthLimits& limits_;
    const WideRows& rows_;
    const ClassSearch& search_;
};

// Writes the integers of every row of the sample, and 1 for the count of documents; returns the classes' units.
std::vector<ClassSteps> quantise_classes(const ClassGrowthTask& task, std::size_t n_rows, int levels,
                                         int n_threads, GrowthWorkspace& space) {
    space.wide.resize(n_rows, task.n_classes + 1);
    std::vector<ClassSteps> units;
    for (std::size_t k = 0; k < task.n_classes; ++k) {
        quantise(task.gradient.subspan(k * n_rows, n_rows), task.hessian.subspan(k * n_rows, n_rows), task.sample,
                 task.sample_weights, levels, n_threads, space.quantised);
        units.push_back({space.quantised.gradient_step, space.quantised.hessian_step});
        space.quantised.visit([&](auto steps) {
            for (const std::uint32_t row : task.sample) space.wide.row(row)[k] = pack(steps[row]);
        });
    }
    for (const std::uint32_t row : task.sample) {
        Packed* integers = space.wide.row(row);
        integers[task.n_classes] = 1;
        std::fill(integers + task.n_classes + 1, integers + space.wide.width, 0);
    }
    return units;
}

// One class of every leaf: its value, from all rows in full precision, and the outputs of all rows.
void set_values_of_class(std::size_t k, const ClassGrowthTask& task, double l2, const GrowthWorkspace& space,
                         GrownTree& tree, std::span<double> outputs) {
    const std::size_t n_rows = space.leaf_of_row.size(), n_leaves = tree.cover.size();
    const auto gradient = task.gradient.subspan(k * n_rows, n_rows);
    const auto hessian = task.hessian.subspan(k * n_rows, n_rows);
    std::vector<double> values(n_leaves), hessians(n_leaves);
    sum_leaves(gradient, space.leaf_of_row, 1, values);
    sum_leaves(hessian, space.leaf_of_row, 1, hessians);
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
        values[leaf] = leaf_value({values[leaf], hessians[leaf]}, l2, {});
        tree.leaf_value[leaf * task.n_classes + k] = values[leaf];
    }
    for (std::size_t row = 0; row < n_rows; ++row) outputs[k * n_rows + row] = values[space.leaf_of_row[row]];
}

}  // namespace

GrownTree grow_class_tree(const BinnedMatrix& binned, const ClassGrowthTask& task, const GrowthLimits& limits,
                          int n_threads, GrowthWorkspace& space, std::span<double> outputs) {
    std::vector<ClassSteps> units = quantise_classes(task, binned.n_rows, limits.levels, n_threads, space);
    const ClassSearch search(binned, task.features, limits, std::move(units), space.wide.width);
    const ClassStatistic statistic(binned, limits, space.wide, search);
    GrownTree tree;
    const auto leaves = Grower(binned, statistic, limits.max_leaves, n_threads, space).grow(task.sample, {}, tree);
    space.leaf_of_row.resize(binned.n_rows);
    number_rows<ClassStatistic>(leaves, n_threads, space.leaf_of_row);
    tree.leaf_value.resize(leaves.size() * task.n_classes);
    parallel_for(task.n_classes, binned.n_rows >= kRowsPerThread ? n_threads : 1,
                 [&](std::size_t k) { set_values_of_class(k, task, limits.l2, space, tree, outputs); });
    return tree;
}

}  // namespace rankwright
