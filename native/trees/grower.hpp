// Grows one tree, the leaf with the best split first, or level by level: what all statistics share.
//
// Data flow through these stages, one file each:
//
// clang-format off
//   binning      features become codes of 8 bits                        histograms/binning.hpp
//   quantising   gradients of rows become integers                      histograms/quantise.hpp
//   ordering     levels of categories get codes by their gradients      category_order.hpp
//   histogram    integers of a leaf's rows are summed by code           histograms/histogram.hpp
//   splitting    a leaf's best split is found from its histogram        gradient_search, class_search, stumps
//   rows         leaves' rows are divided, summed and counted           row_store.hpp
//   growth       leaves are split, histograms subtracted                this file
//   leaf values  leaves get values or votes, rows their outputs         gradient_tree, class_tree, hamming_tree
// clang-format on
//
// Neither the order of rows nor the number of threads changes a tree, nor how many leaves are divided at once:
// histograms are exact, and leaves are chosen by gain; of equal gains, the earliest leaf wins.
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "histograms/histogram.hpp"
#include "threads/parallel_for.hpp"
#include "trees/row_store.hpp"
#include "trees/tree_shape.hpp"

namespace rankwright {

template <class S>
struct Leaf : ParentLink {
    LeafRows rows;
    Histogram histogram;  // of the sample
    typename S::Sums sums{};
    typename S::Inherited inherited{};  // what the splits above decide: bounds of its value, or its votes
    typename S::Split best{};
    std::vector<Leaf> children;  // left and right, once it is divided
};

// What a statistic provides. A split has a `gain`; `allows` says whether one is good enough.
template <class S>
concept Statistic =
    requires(const S& s, const Leaf<S>& leaf, Leaf<S>& child, std::span<Leaf<S>* const> leaves, RowStore& store,
             std::int64_t* histogram, Worker& worker, typename S::Sums& sums, const typename S::Split& split) {
        { s.layout() } -> std::same_as<const HistogramLayout&>;
        { s.total(histogram) } -> std::same_as<typename S::Sums>;
        { s.subtract(sums, sums) };           // from the second
        { s.search(leaves, store, worker) };  // sets the best split of each
        { s.allows(split) } -> std::same_as<bool>;
        { s.code_split(split) } -> std::convertible_to<CodeSplit>;
        { s.left_is_lighter(leaf) } -> std::same_as<bool>;   // after its best split
        { s.reported_gain(split) } -> std::same_as<double>;  // called once for each split of the tree
        { s.pass_down(leaf, child, child) };                 // sets what the children inherit
    };

template <Statistic S>
class Grower {
  public:
    Grower(const BinnedMatrix& binned, const S& statistic, RowStore& store, std::int32_t max_leaves, int n_threads,
           GrowthWorkspace& space)
        : binned_(binned),
          statistic_(statistic),
          store_(store),
          max_leaves_(max_leaves),
          n_threads_(n_threads),
          space_(space) {
        space_.scratch.resize(static_cast<std::size_t>(std::clamp(n_threads, 1, max_leaves)));
        space_.histograms.resize(statistic.layout().size());
    }

    // Returns the leaves of the tree, in the order of their numbers, without their histograms.
    std::vector<Leaf<S>> grow(typename S::Inherited inherited, TreeShape& tree) {
        init_root(std::move(inherited));
        while (splits_left() > 0) {
            Leaf<S>& best =
                *std::max_element(leaves_.begin(), leaves_.end(),
                                  [](const Leaf<S>& a, const Leaf<S>& b) { return a.best.gain < b.best.gain; });
            if (!statistic_.allows(best.best)) break;
            if (best.children.empty()) divide_ahead();
            split(best, tree);
        }
        return finished(tree);
    }

    // The same, where all leaves of a level share the split that gains most over all of them. A leaf that it does
    // not divide stays as it is.
    std::vector<Leaf<S>> grow_by_level(typename S::Inherited inherited, TreeShape& tree) {
        init_root(std::move(inherited));
        Worker worker{space_.scratch.front(), n_threads_};
        if (!statistic_.allows(leaves_.front().best)) return finished(tree);
        for (std::int32_t left = max_leaves_ / 2; left > 0; left /= 2) {  // each level doubles the leaves
            std::vector<Leaf<S>*> level;
            for (Leaf<S>& leaf : leaves_) level.push_back(&leaf);
            if (!statistic_.share_split(level, n_threads_)) break;
            std::erase_if(level, [](const Leaf<S>* leaf) { return !leaf->best.divides(); });
            add_children(level);
            divide(level, left == 1, worker);
            const std::size_t n_leaves = leaves_.size();
            for (std::size_t leaf = 0; leaf < n_leaves; ++leaf)
                if (!leaves_[leaf].children.empty()) split(leaves_[leaf], tree);
        }
        return finished(tree);
    }

  private:
    std::vector<Leaf<S>> finished(TreeShape& tree) {
        for (Leaf<S>& leaf : leaves_) {
            release(leaf);
            add_leaf(leaf, static_cast<double>(leaf.rows.size()), tree);
        }
        return std::move(leaves_);
    }

    void init_root(typename S::Inherited inherited) {
        Leaf<S>& root = leaves_.emplace_back();
        root.inherited = std::move(inherited);
        Worker worker{space_.scratch.front(), n_threads_};
        const bool may_split = max_leaves_ > 1 && !statistic_.layout().n_used.empty();
        if (may_split) root.histogram = space_.histograms.take();
        root.rows = store_.root(root.histogram.get(), worker);
        if (!may_split) return;
        root.sums = statistic_.total(root.histogram.get());
        Leaf<S>* const searched = &root;
        search({&searched, 1}, worker);
    }

    std::int32_t splits_left() const { return max_leaves_ - static_cast<std::int32_t>(leaves_.size()); }

    // Divides the leaf with the best split and those with the next best splits, which are likely to be split soon:
    // in parallel, since threads on different leaves wait for each other less than threads on one leaf, or in one
    // batch, where the store prefers that.
    void divide_ahead() {
        std::vector<Leaf<S>*> next;
        for (Leaf<S>& leaf : leaves_)
            if (leaf.children.empty() && statistic_.allows(leaf.best)) next.push_back(&leaf);
        std::stable_sort(next.begin(), next.end(),
                         [](const Leaf<S>* a, const Leaf<S>* b) { return a->best.gain > b->best.gain; });
        const auto left = static_cast<std::size_t>(splits_left());
        std::size_t most = next[0]->rows.size() < kRowsToDivideAhead ? 1 : std::min(space_.scratch.size(), left);
        // A third of the splits left: those with lower gains often lose to later children.
        if (store_.takes_batches()) most = (left + 2) / 3;
        next.resize(std::min(next.size(), most));
        add_children(next);
        if (store_.takes_batches() || next.size() == 1)
            return divide_and_search(next, {space_.scratch[0], n_threads_});
        // A thread whose leaf is done helps with those that are not.
        parallel_for(next.size(), n_threads_,
                     [&](std::size_t i) { divide_and_search({&next[i], 1}, {space_.scratch[i], n_threads_}); });
    }

    void add_children(std::span<Leaf<S>* const> parents) {
        for (Leaf<S>* leaf : parents) {
            leaf->children.resize(2);
            leaf->children[0].is_left = true;
            for (Leaf<S>& child : leaf->children) child.rows.id = ++last_id_;
        }
    }

    void divide_and_search(std::span<Leaf<S>* const> parents, Worker worker) {
        const bool is_last = splits_left() <= 1;  // no child will be split
        divide(parents, is_last, worker);
        if (is_last) return;
        std::vector<Leaf<S>*> searched;
        for (Leaf<S>* leaf : parents)
            for (Leaf<S>& child : leaf->children) searched.push_back(&child);
        search(searched, worker);
    }

    // Finds the rows of the children of each leaf and, unless these are the last, their sums.
    void divide(std::span<Leaf<S>* const> parents, bool is_last, Worker& worker) {
        std::vector<Histogram> histograms;
        std::vector<Division> divisions;
        for (const Leaf<S>* leaf : parents) {
            histograms.push_back(is_last ? Histogram() : space_.histograms.take());
            divisions.push_back({&leaf->rows, statistic_.code_split(leaf->best), statistic_.left_is_lighter(*leaf),
                                 histograms.back().get()});
            divisions.back().left.id = leaf->children[0].rows.id;
            divisions.back().right.id = leaf->children[1].rows.id;
        }
        store_.divide(divisions, worker);
        for (std::size_t i = 0; i < parents.size(); ++i) {
            Leaf<S>&parent = *parents[i], &left = parent.children[0], &right = parent.children[1];
            left.rows = divisions[i].left;
            right.rows = divisions[i].right;
            statistic_.pass_down(parent, left, right);
            if (is_last) continue;
            const bool left_is_summed = divisions[i].left_is_summed;
            (left_is_summed ? left : right).histogram = std::move(histograms[i]);
            subtract(parent, left_is_summed ? left : right, left_is_summed ? right : left);
        }
    }

    // The sums of the other child are those of the parent minus those of the child that was summed.
    void subtract(Leaf<S>& parent, Leaf<S>& summed, Leaf<S>& other) {
        summed.sums = statistic_.total(summed.histogram.get());
        other.sums = std::move(parent.sums);
        statistic_.subtract(summed.sums, other.sums);
        other.histogram = std::move(parent.histogram);
        statistic_.layout().subtract(summed.histogram.get(), other.histogram.get());
    }

    void search(std::span<Leaf<S>* const> leaves, Worker& worker) {
        statistic_.search(leaves, store_, worker);
        for (Leaf<S>* leaf : leaves) {
            if (statistic_.allows(leaf->best)) continue;
            leaf->best = {};
            release(*leaf);
        }
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
    RowStore& store_;
    const std::int32_t max_leaves_;
    const int n_threads_;
    const FrequentLoops frequent_{n_threads_};
    GrowthWorkspace& space_;
    std::vector<Leaf<S>> leaves_;
    std::uint32_t last_id_ = 0;
};

// Overwrites leaf_of_row with the number of the leaf that holds each row.
template <class S>
void number_rows(std::span<const Leaf<S>> leaves, int n_threads, std::vector<std::uint32_t>& leaf_of_row) {
    parallel_for(leaves.size(), n_threads, [&](std::size_t leaf) {
        for (const RowList& rows : {leaves[leaf].rows.sample, leaves[leaf].rows.rest})
            for (const std::uint32_t row : rows) leaf_of_row[row] = static_cast<std::uint32_t>(leaf);
    });
}

template <class S>
std::vector<std::uint32_t> leaf_ids(std::span<const Leaf<S>> leaves) {
    std::vector<std::uint32_t> ids;
    for (const Leaf<S>& leaf : leaves) ids.push_back(leaf.rows.id);
    return ids;
}

}  // namespace rankwright
