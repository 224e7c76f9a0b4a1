// Converts trees to and from numpy arrays, named as in TreeEnsemble.
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "bindings/arguments/arrays.hpp"
#include "scoring/flat_trees.hpp"
#include "trees/tree_shape.hpp"

namespace rankwright::bindings {

inline nb::dict shape_arrays(const TreeShape& tree) {
    nb::dict arrays;
    arrays["feature"] = to_numpy(tree.feature);
    arrays["threshold"] = to_numpy(tree.threshold);
    arrays["missing_left"] = to_numpy(tree.missing_left);
    arrays["set_size"] = to_numpy(tree.set_size);
    arrays["set_words"] = to_numpy(tree.set_words);
    arrays["left"] = to_numpy(tree.left);
    arrays["right"] = to_numpy(tree.right);
    arrays["gain"] = to_numpy(tree.gain);
    arrays["cover"] = to_numpy(tree.cover);
    return arrays;
}

inline constexpr std::size_t kMostLeaves = std::size_t{1} << 25;  // a scorer takes no larger tree

inline std::span<const std::uint32_t> checked_leaves(const Array<std::uint32_t>& leaf_of_row,
                                                     std::size_t n_leaves) {
    const auto leaves = view(leaf_of_row);
    require(n_leaves <= kMostLeaves, "there are too many leaves");
    require(leaves.empty() || std::ranges::max(leaves) < n_leaves, "a leaf is out of range");
    return leaves;
}

inline void require_numbers(const BinnedMatrix& binned) {
    require(binned.categories.empty(), "only trees of one gradient split categories");
}

// A child must be a later split or a leaf of the same tree, and have one parent: then every descent stays in the
// tree and ends, and n splits have n + 1 leaves.
inline void require_trees(const FlatTrees& trees) {
    std::vector<bool> has_parent;
    for (std::size_t tree = 1; tree < trees.splits.size(); ++tree) {
        const std::int64_t begin = trees.splits[tree - 1], size = trees.splits[tree] - begin;
        has_parent.assign(static_cast<std::size_t>(2 * size + 1), false);
        for (std::int64_t index = 0; index < size; ++index) {
            const auto split = static_cast<std::size_t>(begin + index);
            for (const std::int64_t child : {trees.left[split], trees.right[split]}) {
                require(child < 0 ? -1 - child <= size : index < child && child < size, "a child is out of range");
                const auto named = static_cast<std::size_t>(child < 0 ? size - 1 - child : child);
                require(!has_parent[named], "a child has two parents");
                has_parent[named] = true;
            }
        }
    }
}

inline void require_splits(const FlatTrees& trees, std::int64_t n_features) {
    for (std::size_t split = 0; split < trees.feature.size(); ++split) {
        require(0 <= trees.feature[split] && trees.feature[split] < n_features, "a feature is out of range");
        require(trees.threshold[split] == trees.threshold[split], "a threshold is not a number");
        require(trees.missing_left[split] <= 1, "missing_left must be 0 or 1");
        require(trees.sets[split].empty() || trees.threshold[split] == kAboveMinusOne ||
                    trees.threshold[split] == kFromZero,
                "the levels of a set must begin above -1 or at 0");
    }
}

inline std::vector<LevelSet> checked_sets(const Array<std::uint32_t>& sizes, const Array<std::uint32_t>& words) {
    std::size_t n_words = 0;
    for (const std::uint32_t size : view(sizes)) {
        require(size <= kMostSetWords, "a set has too many levels");
        n_words += size;
    }
    require(n_words == words.size(), "set_size must announce all words of sets");
    return level_sets(view(sizes), view(words));
}

inline FlatTrees checked_trees(const Array<std::int64_t>& splits, const Array<std::int32_t>& feature,
                               const Array<float>& threshold, const Array<std::uint8_t>& missing_left,
                               const Array<std::int32_t>& left, const Array<std::int32_t>& right,
                               const Array<std::uint32_t>& set_size, const Array<std::uint32_t>& set_words,
                               const Array<double>& leaf_value, std::int64_t n_features) {
    const std::size_t n = feature.size();
    const FlatTrees trees{checked_offsets(splits, n),
                          view(feature),
                          view(threshold),
                          view(missing_left),
                          view(left),
                          view(right),
                          checked_sets(set_size, set_words),
                          view(leaf_value)};
    require(threshold.size() == n && missing_left.size() == n && left.size() == n && right.size() == n &&
                set_size.size() == n,
            "there must be one value per split");
    require(leaf_value.size() == n + splits.size() - 1, "there must be one value per leaf");
    require_splits(trees, n_features);
    require_trees(trees);
    return trees;
}

}  // namespace rankwright::bindings
