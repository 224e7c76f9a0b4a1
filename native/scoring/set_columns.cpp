#include "scoring/set_columns.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

namespace rankwright {
namespace {

// The index of a value in the table of a column: missing, a number of no level, between -1 and 0, then the levels.
constexpr std::uint32_t kMissingSlot = 0, kOtherSlot = 1, kFractionSlot = 2, kFirstLevel = 3;

// A set that would be contained in the next is looked for in so many columns, so that no tree takes long.
constexpr std::size_t kOpenChains = 4;

std::uint32_t slot_of(float value) {
    constexpr float kMostLevels = kMostSetWords * kWordBits;
    if (value != value) return kMissingSlot;
    if (!(value > kAboveMinusOne && value < kMostLevels)) return kOtherSlot;
    return value > kFromZero ? kFirstLevel + static_cast<std::uint32_t>(value) : kFractionSlot;
}

// Whether a split sends the numbers between -1 and 0 left.
bool has_fractions(const FlatTrees& trees, std::uint32_t split) {
    return trees.threshold[split] == kAboveMinusOne && (trees.sets[split][0] & 1);
}

// A split by a set; the missing values count as an element.
struct SetSplit {
    std::int32_t feature;
    std::size_t tree;
    std::size_t n_elements;
    std::uint32_t split;
    auto key() const { return std::tuple(feature, tree, n_elements, split); }
};

std::vector<SetSplit> sorted_sets(const FlatTrees& trees) {
    std::vector<SetSplit> sets;
    for (std::size_t tree = 0; tree + 1 < trees.splits.size(); ++tree)
        for (auto split = static_cast<std::uint32_t>(trees.splits[tree]); split < trees.splits[tree + 1];
             ++split) {
            if (trees.sets[split].empty()) continue;
            std::size_t n_elements = trees.missing_left[split];
            for (const std::uint32_t word : trees.sets[split])
                n_elements += static_cast<std::size_t>(std::popcount(word));
            sets.push_back({trees.feature[split], tree, n_elements, split});
        }
    std::ranges::sort(sets, {}, &SetSplit::key);
    return sets;
}

bool is_contained(const FlatTrees& trees, std::uint32_t inner, std::uint32_t outer) {
    const LevelSet own = trees.sets[inner], other = trees.sets[outer];
    if (trees.missing_left[inner] > trees.missing_left[outer]) return false;
    if (has_fractions(trees, inner) > has_fractions(trees, outer)) return false;
    for (std::size_t word = 0; word < own.size(); ++word)
        if (own[word] & ~(word < other.size() ? other[word] : 0)) return false;
    return true;
}

using Chain = std::vector<std::uint32_t>;  // splits whose sets are each contained in the next

// Sets of one feature in one tree form few chains: its splits divide one order of the levels.
std::vector<Chain> find_chains(const FlatTrees& trees) {
    std::vector<Chain> chains;
    std::size_t first_open = 0;
    const SetSplit* last = nullptr;
    const std::vector<SetSplit> sets = sorted_sets(trees);
    for (const SetSplit& set : sets) {
        if (last != nullptr && (last->feature != set.feature || last->tree != set.tree))
            first_open = chains.size();
        if (chains.size() > kOpenChains) first_open = std::max(first_open, chains.size() - kOpenChains);
        const auto open = std::find_if(
            chains.begin() + static_cast<std::ptrdiff_t>(first_open), chains.end(), [&](const Chain& chain) {
                return chain.size() < kMaxThresholds && is_contained(trees, chain.back(), set.split);
            });
        (open == chains.end() ? chains.emplace_back() : *open).push_back(set.split);
        last = &set;
    }
    return chains;
}

}  // namespace

SetColumns::SetColumns(const FlatTrees& trees, std::size_t first_column, std::span<CodedSplit> splits) {
    for (const Chain& chain : find_chains(trees)) add_column(trees, chain, first_column + size(), splits);
}

void SetColumns::add_column(const FlatTrees& trees, std::span<const std::uint32_t> chain, std::size_t number,
                            std::span<CodedSplit> splits) {
    std::size_t n_words = 0;
    for (const std::uint32_t split : chain) n_words = std::max(n_words, trees.sets[split].size());
    const SetColumn column{codes_.size(), kFirstLevel + n_words * kWordBits};
    codes_.resize(column.first + column.size, static_cast<std::int8_t>(chain.size() - 128));
    std::int8_t* const codes = codes_.data() + column.first;
    for (std::size_t rank = chain.size(); rank-- > 0;) {  // the smallest set that has a level is written last
        const std::uint32_t split = chain[rank];
        const auto code = static_cast<std::int8_t>(rank - 128);
        if (trees.missing_left[split]) codes[kMissingSlot] = code;
        if (has_fractions(trees, split)) codes[kFractionSlot] = code;
        const LevelSet set = trees.sets[split];
        for (std::size_t level = 0; level < set.size() * kWordBits; ++level)
            if (set[level / kWordBits] >> level % kWordBits & 1) codes[kFirstLevel + level] = code;
        splits[split].codes = static_cast<std::uint32_t>(number * sizeof(BlockBytes) / kCodesStep);
        splits[split].rank = four_times(static_cast<std::uint32_t>(rank - 128));
    }
    columns_.push_back(column);
    features_.push_back(trees.feature[chain.front()]);
}

std::int8_t SetColumns::code_of_slot(const SetColumn& column, std::uint32_t slot) const {
    return codes_[column.first + (slot < column.size ? slot : kOtherSlot)];
}

std::int8_t SetColumns::code(std::size_t column, float value) const {
    return code_of_slot(columns_[column], slot_of(value));
}

template <class T>
void SetColumns::encode(const T* block, std::ptrdiff_t row_stride, std::ptrdiff_t feature_stride, std::size_t n,
                        BlockBytes* codes) const {
    std::array<std::uint32_t, kBlock> slots;
    for (std::size_t number = 0; number < size(); ++number) {
        if (number == 0 || features_[number] != features_[number - 1]) {
            const T* values = block + features_[number] * feature_stride;
            for (std::size_t row = 0; row < n; ++row)
                slots[row] = slot_of(static_cast<float>(values[static_cast<std::ptrdiff_t>(row) * row_stride]));
        }
        for (std::size_t row = 0; row < n; ++row)
            codes[number].documents[row] = code_of_slot(columns_[number], slots[row]);
    }
}

template void SetColumns::encode(const float*, std::ptrdiff_t, std::ptrdiff_t, std::size_t, BlockBytes*) const;
template void SetColumns::encode(const double*, std::ptrdiff_t, std::ptrdiff_t, std::size_t, BlockBytes*) const;

}  // namespace rankwright
