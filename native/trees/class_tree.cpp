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

    ClassStatistic(const GrowthLimits& limits, const ClassSearch& search) : limits_(limits), search_(search) {}

    const HistogramLayout& layout() const { return search_.layout(); }

    Sums total(const Packed* histogram) const { return layout().slot_total(0, histogram); }

    void subtract(const Sums& part, Sums& whole) const {
        for (std::size_t k = 0; k < whole.size(); ++k) whole[k] -= part[k];
    }

    void search(std::span<Leaf<ClassStatistic>* const> leaves, RowStore&, Worker& worker) const {
        for (Leaf<ClassStatistic>* leaf : leaves)
            leaf->best = search_.best_split(leaf->histogram.get(), leaf->sums, worker.n_threads);
    }

    bool left_is_lighter(const Leaf<ClassStatistic>& leaf) const {
        const std::size_t count = search_.count_position(), width = layout().width;
        const Packed* sums = leaf.histogram.get() + leaf.best.slot * layout().slot_size() + count;
        Packed left = leaf.best.missing_left ? sums[kMissing * width] : 0;
        for (std::size_t code = 0; code <= static_cast<std::size_t>(leaf.best.code); ++code)
            left += sums[code * width];
        return 2 * left < leaf.sums[count];
    }

    bool allows(const ClassSplit& split) const { return split.gain > limits_.min_gain; }
    double reported_gain(const ClassSplit& split) const { return split.gain; }
    CodeSplit code_split(const ClassSplit& split) const {
        return {search_.features()[split.slot], split.code, split.missing_left};
    }
    void pass_down(const Leaf<ClassStatistic>&, Leaf<ClassStatistic>&, Leaf<ClassStatistic>&) const {}

  private:
    const GrowthLimits& limits_;
    const ClassSearch& search_;
};

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

std::vector<ClassSteps> quantise_classes(
    const ClassGrowthTask& task, std::size_t n_rows,
    const std::function<void(const RoundedRows&, std::size_t)>& quantise_class, GrowthWorkspace& space) {
    space.wide.resize(n_rows, task.n_classes + 1);
    std::vector<ClassSteps> units;
    for (std::size_t k = 0; k < task.n_classes; ++k) {
        quantise_class({task.gradient.subspan(k * n_rows, n_rows), task.hessian.subspan(k * n_rows, n_rows),
                        task.sample, task.sample_weights},
                       k);
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

GrownTree grow_class_tree(const BinnedMatrix& binned, const ClassGrowthTask& task, const GrowthLimits& limits,
                          int n_threads, GrowthWorkspace& space, std::span<double> outputs) {
    std::vector<ClassSteps> units = quantise_classes(
        task, binned.n_rows,
        [&](const RoundedRows& rows, std::size_t) {
            quantise(rows.gradient, rows.hessian, rows.rows, rows.factors, limits.levels, n_threads,
                     space.quantised);
        },
        space);
    const ClassSearch search(binned, task.features, limits, std::move(units), space.wide.width);
    const ClassStatistic statistic(limits, search);
    const auto fill = [&](RowList rows, int threads, Packed* histogram) {
        fill_wide_histogram(binned, rows, space.wide, search.features(), search.layout(), threads, histogram);
    };
    LocalRows rows(binned, task.sample, search.layout(), fill, space.quantised, false, space);
    GrownTree tree;
    const auto leaves = Grower(binned, statistic, rows, limits.max_leaves, n_threads, space).grow({}, tree);
    space.leaf_of_row.resize(binned.n_rows);
    number_rows<ClassStatistic>(leaves, n_threads, space.leaf_of_row);
    tree.leaf_value.resize(leaves.size() * task.n_classes);
    parallel_for(task.n_classes, binned.n_rows >= kRowsPerThread ? n_threads : 1,
                 [&](std::size_t k) { set_values_of_class(k, task, limits.l2, space, tree, outputs); });
    return tree;
}

GrownTree grow_remote_class_tree(const BinnedMatrix& binned, std::span<const std::uint32_t> features,
                                 const GrowthLimits& limits, std::vector<ClassSteps> units, RemoteRows& rows,
                                 int n_threads, GrowthWorkspace& space) {
    const std::size_t n_classes = units.size();
    const ClassSearch search(binned, features, limits, std::move(units), wide_width(n_classes + 1));
    const ClassStatistic statistic(limits, search);
    GrownTree tree;
    const auto leaves = Grower(binned, statistic, rows, limits.max_leaves, n_threads, space).grow({}, tree);
    std::vector<double> gradients, hessians;
    rows.sum_leaves(leaf_ids<ClassStatistic>(leaves), gradients, hessians);
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
        for (std::size_t k = 0; k < n_classes; ++k) {
            const std::size_t i = k * leaves.size() + leaf;
            tree.leaf_value.push_back(leaf_value({gradients[i], hessians[i]}, limits.l2, {}));
        }
    return tree;
}

}  // namespace rankwright
