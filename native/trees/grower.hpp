// Grows one tree, the leaf with the best split first: the algorithm that all statistics share.
//
// Data flow through these stages, one file each:
//
// clang-format off
//   binning      features become codes of 8 bits                        histograms/binning.hpp
//   quantising   gradients of rows become integers                      histograms/quantise.hpp
//   ordering     levels of categories get codes by their gradients      category_order.hpp
//   histogram    integers of a leaf's rows are summed by code           histograms/histogram.hpp
//   splitting    a leaf's best split is found from its histogram        gradient_search, class_search, stumps
//   growth       leaves are split, rows divided, histograms subtracted  this file
//   leaf values  leaves get values or votes, rows their outputs         gradient_tree, class_tree, hamming_tree
// clang-format on
//
// Neither the order of rows nor the number of threads changes a tree: histograms are exact, and leaves are chosen
// by gain; of equal gains, the earliest leaf wins.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "histograms/histogram.hpp"
#include "histograms/sampling.hpp"
#include "threads/parallel_for.hpp"
#include "trees/category_order.hpp"
#include "trees/tree_shape.hpp"

namespace rankwright {

using RowList = std::span<std::uint32_t>;

// Buffers of one thread for dividing a leaf and searching its children.
struct GrowthScratch {
    std::vector<Packed> levels, codes;  // sums of single features
    std::vector<std::uint32_t> buffer;
};

// Memory that is reused from tree to tree; one tree may use it at a time.
struct GrowthWorkspace {
    Quantised quantised, all_quantised;  // of the sample, and of all rows
    WideRows wide;                       // several integers per row
    std::vector<std::uint32_t> sample, rest, leaf_of_row;
    std::vector<double> gradient, hessian, outputs;  // of a round; one per row
    std::vector<std::uint32_t> drawn;                // rows, and their weights, each with room for all
    std::vector<double> drawn_weights;
    SampleGains sample_gains;  // of the last tree
    HistogramPool histograms;
    OrderedCategories categories;
    std::vector<GrowthScratch> scratch;  // one per thread
};

struct Worker {
    GrowthScratch& scratch;
    int n_threads;
};

// With fewer rows, waking another thread costs more than it saves.
constexpr std::size_t kRowsPerThread = 50'000;

template <class S>
struct Leaf : ParentLink {
    RowList sample, rest;  // parts of the workspace's lists: rows that splits are chosen on, and the others
    Histogram histogram;   // of the sample
    typename S::Sums sums{};
    typename S::Inherited inherited{};  // what the splits above decide: bounds of its value, or its votes
    typename S::Split best{};
    std::vector<Leaf> children;  // left and right, once it is divided

    std::size_t n_rows() const { return sample.size() + rest.size(); }
};

// What a statistic provides. A split has a `gain`; `allows` says whether one is good enough.
template <class S>
concept Statistic =
    requires(const S& s, const Leaf<S>& leaf, Leaf<S>& child, RowList rows, std::int64_t* histogram,
             Worker& worker, typename S::Sums& sums, const typename S::Split& split) {
        { s.layout() } -> std::same_as<const HistogramLayout&>;
        { s.fill(rows, worker.n_threads, histogram) };
        { s.total(histogram) } -> std::same_as<typename S::Sums>;
        { s.subtract(sums, sums) };  // from the second
        { s.best_split(leaf, worker) } -> std::same_as<typename S::Split>;
        { s.allows(split) } -> std::same_as<bool>;
        { s.code_split(split) } -> std::convertible_to<CodeSplit>;
        { s.reported_gain(split) } -> std::same_as<double>;  // called once for each split of the tree
        { s.pass_down(leaf, child, child) };                 // sets what the children inherit
    };

template <Statistic S>
class Grower {
  public:
    Grower(const BinnedMatrix& binned, const S& statistic, std::int32_t max_leaves, int n_threads,
           GrowthWorkspace& space)
        : binned_(binned), statistic_(statistic), max_leaves_(max_leaves), n_threads_(n_threads), space_(space) {
        space_.scratch.resize(static_cast<std::size_t>(std::clamp(n_threads, 1, max_leaves)));
        space_.histograms.resize(statistic.layout().size());
    }

    // Returns the leaves of the tree, in the order of their numbers, without their histograms.
    std::vector<Leaf<S>> grow(std::span<const std::uint32_t> sample, typename S::Inherited inherited,
                              TreeShape& tree) {
        init_root(sample, std::move(inherited));
        while (splits_left() > 0) {
            Leaf<S>& best =
                *std::max_element(leaves_.begin(), leaves_.end(),
                                  [](const Leaf<S>& a, const Leaf<S>& b) { return a.best.gain < b.best.gain; });
            if (!statistic_.allows(best.best)) break;
            if (best.children.empty()) divide_ahead();
            split(best, tree);
        }
        for (Leaf<S>& leaf : leaves_) {
            release(leaf);
            add_leaf(leaf, static_cast<double>(leaf.n_rows()), tree);
        }
        return std::move(leaves_);
    }

  private:
    void init_root(std::span<const std::uint32_t> sample, typename S::Inherited inherited) {
        space_.sample.assign(sample.begin(), sample.end());
        leave_out(sample, binned_.n_rows, space_.rest);
        Leaf<S>& root = leaves_.emplace_back();
        root.sample = space_.sample;
        root.rest = space_.rest;
        root.inherited = std::move(inherited);
        if (max_leaves_ <= 1 || statistic_.layout().n_used.empty()) return;
        Worker worker{space_.scratch.front(), n_threads_};
        sum_rows(root, worker);
        search(root, worker);
    }

    std::int32_t splits_left() const { return max_leaves_ - static_cast<std::int32_t>(leaves_.size()); }

    // Divides the leaf with the best split and, in parallel, those with the next best splits, which are likely to
    // be split soon: threads on different leaves wait for each other less than threads on one leaf.
    void divide_ahead() {
        std::vector<Leaf<S>*> next;
        for (Leaf<S>& leaf : leaves_)
            if (leaf.children.empty() && statistic_.allows(leaf.best)) next.push_back(&leaf);
        std::stable_sort(next.begin(), next.end(),
                         [](const Leaf<S>* a, const Leaf<S>* b) { return a->best.gain > b->best.gain; });
        next.resize(std::min({next.size(), space_.scratch.size(), static_cast<std::size_t>(splits_left())}));
        if (next.size() == 1 || next[0]->n_rows() < kRowsPerThread) {
            divide_leaf(*next[0], {space_.scratch[0], n_threads_});
        } else {
            const int threads_per_leaf = std::max(1, n_threads_ / static_cast<int>(next.size()));
            parallel_for(next.size(), n_threads_,
                         [&](std::size_t i) { divide_leaf(*next[i], {space_.scratch[i], threads_per_leaf}); });
        }
    }

    // Finds the children of a leaf, and the best split of each.
    void divide_leaf(Leaf<S>& leaf, Worker worker) {
        std::vector<Leaf<S>> children(2);
        Leaf<S>&left = children[0], &right = children[1];
        left.is_left = true;
        const CodeSplit chosen = statistic_.code_split(leaf.best);
        divide_rows(leaf.sample, chosen, worker, left.sample, right.sample);
        divide_rows(leaf.rest, chosen, worker, left.rest, right.rest);
        statistic_.pass_down(leaf, left, right);
        if (splits_left() > 1) {  // otherwise neither child will be split
            sum_children(leaf, left, right, worker);
            for (Leaf<S>& child : children) search(child, worker);
        }
        leaf.children = std::move(children);
    }

    void divide_rows(RowList rows, const CodeSplit& chosen, Worker& worker, RowList& left, RowList& right) {
        worker.scratch.buffer.resize(std::max(worker.scratch.buffer.size(), rows.size()));
        const std::size_t n_left = divide(binned_, chosen, rows, worker.scratch.buffer);
        left = rows.first(n_left);
        right = rows.subspan(n_left);
    }

    // The only function that turns rows into sums. If rows were spread over several machines, each would fill a
    // histogram of its own rows, and the sum of all histograms would replace this one here; everything else uses
    // only sums and numbers of rows.
    void sum_rows(Leaf<S>& leaf, Worker& worker) {
        leaf.histogram = space_.histograms.take();
        statistic_.fill(leaf.sample, worker.n_threads, leaf.histogram.get());
        leaf.sums = statistic_.total(leaf.histogram.get());
    }

    // Sums the rows of the smaller child; the larger child is the parent minus the smaller one.
    void sum_children(Leaf<S>& parent, Leaf<S>& left, Leaf<S>& right, Worker& worker) {
        const bool left_is_smaller = left.sample.size() <= right.sample.size();
        Leaf<S>& smaller = left_is_smaller ? left : right;
        Leaf<S>& larger = left_is_smaller ? right : left;
        sum_rows(smaller, worker);
        larger.sums = std::move(parent.sums);
        statistic_.subtract(smaller.sums, larger.sums);
        larger.histogram = std::move(parent.histogram);
        statistic_.layout().subtract(smaller.histogram.get(), larger.histogram.get());
    }

    void search(Leaf<S>& leaf, Worker& worker) {
        leaf.best = statistic_.best_split(leaf, worker);
        if (statistic_.allows(leaf.best)) return;
        leaf.best = {};
        release(leaf);
    }

    // Gives the histogram of a leaf that will not be split back to the pool.
    void release(Leaf<S>& leaf) {
        for (Leaf<S>& child : leaf.children) release(child);
        leaf.children.clear();
        space_.histograms.release(std::move(leaf.histogram));
    }

    // Turns a divided leaf into a split and two leaves; the right one is new.
    void split(Leaf<S>& leaf, TreeShape& tree) {
        space_.histograms.release(std::move(leaf.histogram));
        const std::int32_t node =
            add_split(leaf, binned_, statistic_.code_split(leaf.best), statistic_.reported_gain(leaf.best), tree);
        std::vector<Leaf<S>> children = std::move(leaf.children);
        for (Leaf<S>& child : children) child.parent = node;
        leaf = std::move(children[0]);
        leaves_.push_back(std::move(children[1]));
    }

    const BinnedMatrix& binned_;
    const S& statistic_;
    const std::int32_t max_leaves_;
    const int n_threads_;
    GrowthWorkspace& space_;
    std::vector<Leaf<S>> leaves_;
};

// Overwrites leaf_of_row with the number of the leaf that holds each row.
template <class S>
void number_rows(std::span<const Leaf<S>> leaves, int n_threads, std::vector<std::uint32_t>& leaf_of_row) {
    parallel_for(leaves.size(), n_threads, [&](std::size_t leaf) {
        for (const RowList& rows : {leaves[leaf].sample, leaves[leaf].rest})
            for (const std::uint32_t row : rows) leaf_of_row[row] = static_cast<std::uint32_t>(leaf);
    });
}

}  // namespace rankwright
