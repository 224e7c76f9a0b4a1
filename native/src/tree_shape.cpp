#include "rankwright/tree_shape.hpp"

#include <algorithm>

namespace rankwright {

void link(const Twig& twig, std::int32_t child, TreeShape& tree) {
    if (twig.parent >= 0) (twig.is_left ? tree.left : tree.right)[static_cast<std::size_t>(twig.parent)] = child;
}

std::int32_t add_split(const Twig& twig, const BinnedMatrix& binned, const CodeSplit& split, double gain,
                       TreeShape& tree) {
    const auto node = static_cast<std::int32_t>(tree.feature.size());
    tree.feature.push_back(static_cast<std::int32_t>(split.feature));
    tree.threshold.push_back(binned.edges[split.feature][static_cast<std::size_t>(split.code)]);
    tree.missing_left.push_back(split.missing_left);
    tree.gain.push_back(gain);
    tree.left.push_back(0);
    tree.right.push_back(0);
    link(twig, node, tree);
    return node;
}

std::size_t divide(const BinnedMatrix& binned, const CodeSplit& split, std::span<std::uint32_t> rows,
                   std::span<std::uint32_t> buffer) {
    const std::uint8_t* codes = binned.column(split.feature);
    std::uint32_t* to_left = rows.data();
    std::uint32_t* to_right = buffer.data();
    for (const std::uint32_t row : rows) {  // both are written, one moves on: no branch to guess
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
