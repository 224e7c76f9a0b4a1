#include "trees/tree_shape.hpp"

#include <algorithm>
#include <cstring>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kRowsPerRun = 1 << 15;

// Levels that no row has take the side of missing values.
void add_set(const Category& category, const CodeSplit& split, TreeShape& tree) {
    const std::size_t n_levels = category.code_of_level.size(), first = tree.set_words.size();
    tree.set_size.push_back(static_cast<std::uint32_t>((n_levels + kWordBits - 1) / kWordBits));
    tree.set_words.resize(first + tree.set_size.back());
    for (std::size_t level = 0; level < n_levels; ++level)
        if (split.sends_left(category.code_of_level[level]))
            tree.set_words[first + level / kWordBits] |= std::uint32_t{1} << level % kWordBits;
}

// Leaves the rows that go left at the front, and writes the others to the buffer; returns how many go left.
std::size_t divide_run(const std::uint8_t* codes, const CodeSplit& split, std::span<std::uint32_t> rows,
                       std::uint32_t* buffer) {
    std::uint32_t* to_left = rows.data();
    for (const std::uint32_t row : rows) {  // writes to both sides and advances one: no branch to mispredict
        const bool goes_left = split.sends_left(codes[row]);
        *to_left = row;
        *buffer = row;
        to_left += goes_left;
        buffer += !goes_left;
    }
    return static_cast<std::size_t>(to_left - rows.data());
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
                   int n_threads, std::span<std::uint32_t> buffer) {
    const std::uint8_t* codes = binned.column(split.feature);
    if (rows.size() <= kRowsPerRun) {
        const std::size_t n_first = divide_run(codes, split, rows, buffer.data());
        std::copy_n(buffer.data(), rows.size() - n_first, rows.data() + n_first);
        return n_first;
    }
    std::vector<std::size_t> n_left((rows.size() + kRowsPerRun - 1) / kRowsPerRun);
    parallel_ranges(rows.size(), kRowsPerRun, n_threads, [&](std::size_t first, std::size_t last) {
        n_left[first / kRowsPerRun] =
            divide_run(codes, split, rows.subspan(first, last - first), buffer.data() + first);
    });
    const auto move_runs = [&](std::uint32_t* to, const std::uint32_t* from, bool left) {
        for (std::size_t run = 0; run < n_left.size(); ++run) {
            const std::size_t size = std::min(kRowsPerRun, rows.size() - run * kRowsPerRun);
            const std::size_t n_moved = left ? n_left[run] : size - n_left[run];
            std::memmove(to, from + run * kRowsPerRun, n_moved * sizeof(*to));
            to += n_moved;
        }
        return to;
    };
    std::uint32_t* const middle = move_runs(rows.data(), rows.data(), true);
    move_runs(middle, buffer.data(), false);
    return static_cast<std::size_t>(middle - rows.data());
}

}  // namespace rankwright
