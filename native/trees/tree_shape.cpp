#include "trees/tree_shape.hpp"

#include <algorithm>

namespace rankwright {

void link(const ParentLink& position, std::int32_t child, TreeShape& tree) {
    if (position.parent >= 0)
        (position.is_left ? tree.left : tree.right)[static_cast<std::size_t>(position.parent)] = child;
}

std::int32_t add_split(const ParentLink& position, const BinnedMatrix& binned, const CodeSplit& split, double gain,
                       TreeShape& tree) {
    const auto node = static_cast<std::int32_t>(tree.feature.size());
    tree.feature.push_back(static_cast<std::int32_t>(split.feature));
    tree.threshold.push_back(binned.edges[split.feature][static_cast<std::size_t>(split.code)]);
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
