#include "trees/tree_shape.hpp"

#include <algorithm>

namespace rankwright {
namespace {

// Levels that no row has take the side of missing values.
void add_set(const Category& category, const CodeSplit& split, TreeShape& tree) {
    const std::size_t n_levels = category.code_of_level.size(), first = tree.set_words.size();
    tree.set_size.push_back(static_cast<std::uint32_t>((n_levels + kWordBits - 1) / kWordBits));
    tree.set_words.resize(first + tree.set_size.back());
    for (std::size_t level = 0; level < n_levels; ++level)
        if (split.sends_left(category.code_of_level[level]))
            tree.set_words[first + level / kWordBits] |= std::uint32_t{1} << level % kWordBits;
}

}  // namespace

void link(const ParentLink& position, std::int32_t child, TreeShape& tree) {
    if (position.parent >= 0)
        (position.is_left ? tree.left : tree.right)[static_cast<std::size_t>(position.parent)] = child;
}

std::int32_t add_split(const ParentLink& position, const BinnedMatrix& binned, const CodeSplit& split, double gain,
                       TreeShape& tree) {
    const auto node = static_cast<std::int32_t>(tree.feature.size());
    tree.feature.push_back(static_cast<std::int32_t>(split.feature));
    tree.set_begin.push_back(tree.set_words.size());
    if (binned.is_category(split.feature)) {
        tree.threshold.push_back(kAboveMinusOne);
        add_set(binned.categories[split.feature], split, tree);
    } else {
        tree.threshold.push_back(binned.edges[split.feature][static_cast<std::size_t>(split.code)]);
        tree.set_size.push_back(0);
    }
    tree.missing_left.push_back(split.missing_left);
    tree.gain.push_back(gain);
    tree.left.push_back(0);
    tree.right.push_back(0);
    link(position, node, tree);
    return node;
}

void add_leaf(const ParentLink& position, double cover, TreeShape& tree) {
    link(position, -1 - static_cast<std::int32_t>(tree.cover.size()), tree);
    tree.cover.push_back(cover);
}

std::size_t divide(const BinnedMatrix& binned, const CodeSplit& split, std::span<std::uint32_t> rows,
                   std::span<std::uint32_t> buffer) {
    const std::uint8_t* codes = binned.column(split.feature);
    std::uint32_t* to_left = rows.data();
    std::uint32_t* to_right = buffer.data();
    for (const std::uint32_t row : rows) {  // writes to both sides and advances one: no branch to mispredict
        const bool goes_left = split.sends_left(codes[row]);
        *to_left = row;
        *to_right = row;
        to_left += goes_left;
        to_right += !goes_left;
    }
    std::copy(buffer.data(), to_right, to_left);
    return static_cast<std::size_t>(to_left - rows.data());
}

}  // namespace rankwright
