#include "trees/following.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kDocumentsTogether = 512;  // whose features fit in a fast cache
constexpr std::size_t kDocumentsPerRange = 1 << 14;

struct Range {
    std::size_t begin, end;
};

using Numbers = std::array<std::uint32_t, kDocumentsTogether>;

// Moves those documents of a range that go left to its front, without branches; returns the end of these.
template <class SendsLeft>
std::size_t divide(Numbers& documents, Range range, const SendsLeft& sends_left) {
    Numbers others;
    std::size_t end = range.begin, n_others = 0;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const std::uint32_t document = documents[i];
        const bool goes_left = sends_left(document);
        documents[end] = others[n_others] = document;
        end += goes_left;
        n_others += !goes_left;
    }
    std::copy_n(others.begin(), n_others, documents.begin() + static_cast<std::ptrdiff_t>(end));
    return end;
}

// Of n documents, the first of which has the features at `values`.
void find_block(const FollowingDocuments& following, const TreeShape& tree, const float* values, std::size_t n,
                std::vector<Range>& of_split, std::uint32_t* leaf_of_document) {
    Numbers documents;
    std::iota(documents.begin(), documents.begin() + static_cast<std::ptrdiff_t>(n), std::uint32_t{0});
    of_split[0] = {0, n};
    for (std::size_t split = 0; split < tree.feature.size(); ++split) {
        const float* column = values + following.sources[static_cast<std::size_t>(tree.feature[split])];
        const Range range = of_split[split];
        const float threshold = tree.threshold[split];
        const bool missing_left = tree.missing_left[split] != 0;
        const auto value_of = [&](std::uint32_t document) { return column[document * following.n_features]; };
        const std::size_t middle =
            tree.set_words.empty() || tree.set_size[split] == 0
                ? divide(documents, range,
                         [&](std::uint32_t document) {
                             const float value = value_of(document);
                             return (value <= threshold) | ((value != value) & missing_left);
                         })
                : divide(documents, range,
                         [&](std::uint32_t document) { return tree.sends_left(split, value_of(document)); });
        const auto hand_down = [&](std::int32_t child, Range part) {
            if (child >= 0) {
                of_split[static_cast<std::size_t>(child)] = part;
                return;
            }
            for (std::size_t i = part.begin; i < part.end; ++i)
                leaf_of_document[documents[i]] = static_cast<std::uint32_t>(-1 - child);
        };
        hand_down(tree.left[split], {range.begin, middle});
        hand_down(tree.right[split], {middle, range.end});
    }
}

}  // namespace

void FollowingDocuments::find_leaves(const TreeShape& tree, int n_threads,
                                     std::span<std::uint32_t> leaf_of_document) const {
    if (tree.feature.empty()) {
        std::ranges::fill(leaf_of_document, 0u);
        return;
    }
    parallel_ranges(size(), kDocumentsPerRange, n_threads, [&](std::size_t first, std::size_t last) {
        std::vector<Range> of_split(tree.feature.size());
        for (; first < last; first += kDocumentsTogether)
            find_block(*this, tree, values.data() + first * n_features, std::min(kDocumentsTogether, last - first),
                       of_split, leaf_of_document.data() + first);
    });
}

}  // namespace rankwright
