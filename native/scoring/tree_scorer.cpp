#include "scoring/tree_scorer.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <tuple>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kLeaves = std::size(LeafValues{}.values);
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kHighest = std::numeric_limits<float>::max();

// Number of leaves whose trees are used for several blocks of documents before the next ones are fetched: about as
// many as fit the first-level cache.
constexpr std::int64_t kLeavesPerTurn = 2048;
constexpr std::size_t kMostBlocksPerChunk = 2;
constexpr std::size_t kMostCodesPerChunk = 1 << 20;

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

// The splits by a threshold, sorted by feature, side of missing values and threshold.
std::vector<std::uint32_t> sorted_splits(const FlatTrees& trees) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t split = 0; split < trees.feature.size(); ++split)
        if (trees.sets[split].empty()) order.push_back(split);
    const auto key = [&](std::uint32_t split) {
        return std::tuple(trees.feature[split], trees.missing_left[split], trees.threshold[split], split);
    };
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
    return order;
}

template <class T>
CopyKernel<T> copy_kernel(const ValueKernels& kernels) {
    if constexpr (std::is_same_v<T, float>)
        return kernels.copy_floats;
    else
        return kernels.copy_doubles;
}

// A float is never too large.
bool any_too_large(const DenseRows<float>&, const float*, std::size_t, const ValueKernels&) { return false; }

bool any_too_large(const DenseRows<double>& matrix, const double* block, std::size_t n,
                   const ValueKernels& kernels) {
    const TooLargeKernel too_large = kernels.too_large;
    const auto width = static_cast<std::ptrdiff_t>(matrix.n_features);
    if (matrix.feature_stride == 1 && matrix.row_stride == width)
        return too_large(block, 1, n * matrix.n_features);
    const bool by_row = matrix.feature_stride == 1;
    const std::size_t n_runs = by_row ? n : matrix.n_features;
    bool exceeds = false;
    for (std::size_t run = 0; run < n_runs; ++run) {
        const double* values =
            block + static_cast<std::ptrdiff_t>(run) * (by_row ? matrix.row_stride : matrix.feature_stride);
        exceeds |= by_row ? too_large(values, 1, matrix.n_features) : too_large(values, matrix.row_stride, n);
    }
    return exceeds;
}

bool any_too_large(std::span<const float>, const ValueKernels&) { return false; }

bool any_too_large(std::span<const double> values, const ValueKernels& kernels) {
    return kernels.too_large(values.data(), 1, values.size());
}

std::size_t table_size(const Column& column) { return std::max(std::size_t{1} << column.depth, 2 * kChunk); }

// Whether a split sends missing values right and all others left, infinity too.
bool separates_missing(const FlatTrees& trees, std::uint32_t split) {
    return trees.missing_left[split] == 0 && trees.threshold[split] == kInfinity;
}

// The code of one value.
std::int8_t encode(const Column& column, float value) {
    if (column.missing_right) value = value == value ? std::min(value, column.highest) : kInfinity;
    std::size_t node = 1;
    for (int level = 0; level < column.depth; ++level) node += node + (column.search[node] < value);
    return static_cast<std::int8_t>(node - (std::size_t{1} << column.depth) - 128);
}

// Numbers the leaves of a small tree from left to right; fills the offsets of its splits, and its values in this
// order.
void lay_out_small_tree(std::span<const std::int32_t> left, std::span<const std::int32_t> right, Doubles values,
                        CodedSplit* splits, double* leaves) {
    const std::size_t n_splits = left.size();
    std::vector<std::uint32_t> size(n_splits), first(n_splits + 1);  // number of leaves and first leaf per split
    const auto size_of = [&](std::int32_t child) { return child < 0 ? 1 : size[static_cast<std::size_t>(child)]; };
    for (std::size_t split = n_splits; split-- > 0;) size[split] = size_of(left[split]) + size_of(right[split]);
    const auto lay_out = [&](std::int32_t child, std::uint32_t leaf) {
        if (child < 0)
            leaves[leaf] = values[static_cast<std::size_t>(-1 - child)];
        else
            first[static_cast<std::size_t>(child)] = leaf;
    };
    lay_out(n_splits == 0 ? -1 : 0, 0);
    for (std::size_t split = 0; split < n_splits; ++split) {
        lay_out(left[split], first[split]);
        lay_out(right[split], first[split] + size_of(left[split]));
    }
    for (std::size_t split = 0; split < n_splits; ++split)
        splits[split].offset = {four_times(size_of(left[split])), four_times(first[split] - first[split + 1])};
}

// Turns the splits of an oblivious tree into one per level, and fills its leaf values from left to right. Returns
// the number of levels, or 0 and nothing changed if the tree is not oblivious or has fewer than two levels.
std::int32_t lay_out_oblivious_tree(std::span<const std::int32_t> left, std::span<const std::int32_t> right,
                                    Doubles values, CodedSplit* splits, double* leaves) {
    const auto n_levels = static_cast<std::int32_t>(std::bit_width(left.size()));
    if (!std::has_single_bit(values.size()) || n_levels < 2 || n_levels > kMaxLevels) return 0;
    std::vector<CodedSplit> levels;
    std::vector<std::int32_t> nodes{0}, below;  // of one level, and of the next
    for (std::int32_t level = 0; level < n_levels; ++level, nodes.swap(below)) {
        below.clear();
        const CodedSplit& first = levels.emplace_back(splits[std::max(nodes[0], 0)]);
        for (std::int32_t node : nodes) {
            if (node < 0 || splits[node].codes != first.codes || splits[node].rank != first.rank) return 0;
            below.push_back(left[static_cast<std::size_t>(node)]);
            below.push_back(right[static_cast<std::size_t>(node)]);
        }
    }
    std::copy(levels.begin(), levels.end(), splits);
    for (std::size_t leaf = 0; leaf < nodes.size(); ++leaf)
        leaves[leaf] = values[static_cast<std::size_t>(-1 - nodes[leaf])];
    return n_levels;
}

template <class T>
std::size_t row_count(const DenseRows<T>& matrix) {
    return matrix.n_rows;
}
template <class T, class Index>
std::size_t row_count(const SparseRows<T, Index>& matrix) {
    return matrix.offsets.size() - 1;
}

}  // namespace

TreeScorer::TreeScorer(const FlatTrees& trees) {
    code_splits(trees);
    sets_ = SetColumns(trees, columns_.size(), splits_);
    for (std::size_t number = 0; number < sets_.size(); ++number) code_of_zero_.push_back(sets_.code(number, 0));
    lay_out_trees(trees);
}

// Fills the columns, and the column and rank of each split. A feature has one column for each side that its
// missing values go to, one if a split separates them, and another one for every further 255 thresholds.
void TreeScorer::code_splits(const FlatTrees& trees) {
    splits_.resize(trees.feature.size());
    std::vector<float> thresholds;  // those of the last column
    std::uint32_t last = 0;
    for (std::uint32_t split : sorted_splits(trees)) {
        const bool same_side = !thresholds.empty() && trees.feature[split] == trees.feature[last] &&
                               trees.missing_left[split] == trees.missing_left[last] &&
                               separates_missing(trees, split) == separates_missing(trees, last);
        const bool apart = separates_missing(trees, split);
        const float threshold = apart ? kHighest : trees.threshold[split];
        const bool known = same_side && threshold == thresholds.back();
        if (!known && (!same_side || thresholds.size() == kMaxThresholds)) {
            close_column(thresholds);
            features_.push_back(trees.feature[split]);
            columns_.push_back({.search = nullptr,
                                .sorted = nullptr,
                                .depth = 0,
                                .missing_right = trees.missing_left[split] == 0,
                                .highest = apart ? kHighest : kInfinity});
        }
        if (!known) thresholds.push_back(threshold);
        splits_[split].codes = static_cast<std::uint32_t>((columns_.size() - 1) * sizeof(BlockBytes) / kCodesStep);
        splits_[split].rank = four_times(static_cast<std::uint32_t>(thresholds.size() - 1 - 128));
        last = split;
    }
    close_column(thresholds);
    set_column_pointers();
}

// Stores the thresholds of the last column, in the order of a binary search and in ascending order, and clears
// them.
void TreeScorer::close_column(std::vector<float>& thresholds) {
    if (columns_.empty()) return;
    Column& column = columns_.back();
    column.depth = static_cast<int>(std::bit_width(thresholds.size()));
    const std::size_t n_ranks = std::size_t{1} << column.depth;
    thresholds.resize(n_ranks, kInfinity);
    std::vector<float> both(2 * table_size(column) + kChunk, kInfinity);
    std::size_t next = 1;
    for (std::size_t apart = n_ranks; apart > 1; apart /= 2)
        for (std::size_t rank = apart / 2 - 1; rank < n_ranks; rank += apart) both[next++] = thresholds[rank];
    std::copy_n(thresholds.data(), n_ranks, &both[table_size(column)]);
    for (std::size_t start = 0; start < both.size(); start += kChunk)
        std::copy_n(&both[start], kChunk, chunks_.emplace_back().thresholds);
    thresholds.clear();
}

// Sets the pointers of the columns, once the chunks no longer move.
void TreeScorer::set_column_pointers() {
    const Chunk* next = chunks_.data();
    for (Column& column : columns_) {
        column.search = next->thresholds;
        next += table_size(column) / kChunk;
        column.sorted = next->thresholds;
        next += table_size(column) / kChunk + 1;
        code_of_zero_.push_back(encode(column, 0));
    }
}

void TreeScorer::lay_out_trees(const FlatTrees& trees) {
    const std::size_t n_trees = trees.splits.size() - 1;
    std::vector<std::size_t> first_leaf(n_trees);
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        const auto begin = static_cast<std::size_t>(trees.splits[tree]);
        const auto n_splits = static_cast<std::size_t>(trees.splits[tree + 1]) - begin;
        const Doubles values = trees.leaf_value.subspan(begin + tree, n_splits + 1);
        first_leaf[tree] = leaves_.size();
        leaves_.resize(leaves_.size() + round_up(n_splits + 1, kLeaves) / kLeaves);
        double* leaves = leaves_[first_leaf[tree]].values;
        const auto left = trees.left.subspan(begin, n_splits), right = trees.right.subspan(begin, n_splits);
        CodedSplit* const splits = splits_.data() + begin;
        const std::int32_t n_levels = lay_out_oblivious_tree(left, right, values, splits, leaves);
        if (n_levels == 0 && n_splits < kSmallTree) {
            lay_out_small_tree(left, right, values, splits, leaves);
        } else if (n_levels == 0) {
            for (std::size_t split = 0; split < n_splits; ++split)
                splits[split].child = {left[split], right[split]};
            std::copy(values.begin(), values.end(), leaves);
        }
        const auto n_coded = n_levels == 0 ? static_cast<std::int32_t>(n_splits) : n_levels;
        trees_.push_back({splits, nullptr, n_coded, static_cast<std::int32_t>(n_splits + 1), n_levels > 0});
    }
    for (std::size_t tree = 0; tree < n_trees; ++tree) trees_[tree].leaves = leaves_.data() + first_leaf[tree];
}

// Few enough rows that their codes stay in the cache, but enough that trees are fetched for several blocks at a
// time and that a thread has enough work.
std::size_t TreeScorer::rows_per_chunk() const {
    const std::size_t fitting = kMostCodesPerChunk / (kBlock * std::max<std::size_t>(n_columns(), 1));
    return kBlock * std::clamp<std::size_t>(fitting, 1, kMostBlocksPerChunk);
}

template <class Matrix>
bool TreeScorer::score(const Matrix& matrix, int n_threads, SimdPath path, std::span<double> scores) const {
    std::atomic<bool> fits{true};
    parallel_ranges(row_count(matrix), rows_per_chunk(), n_threads, [&](std::size_t first, std::size_t last) {
        if (!score_chunk(matrix, first, path, scores.subspan(first, last - first))) fits = false;
    });
    return fits;
}

template <class Matrix>
bool TreeScorer::score_chunk(const Matrix& matrix, std::size_t first, SimdPath path,
                             std::span<double> scores) const {
    const std::size_t n_blocks = (scores.size() + kBlock - 1) / kBlock, n_columns = this->n_columns();
    const auto codes = std::make_unique<BlockBytes[]>(n_blocks * n_columns);
    const auto sums = std::make_unique<BlockScores[]>(n_blocks);
    for (std::size_t block = 0; block < n_blocks; ++block) {
        const std::size_t begin = block * kBlock, n = std::min(kBlock, scores.size() - begin);
        if (!encode_block(matrix, first + begin, n, value_kernels(path), codes.get() + block * n_columns))
            return false;
    }
    add_all_trees(codes.get(), scores.size(), add_trees_on(path), sums.get());
    for (std::size_t row = 0; row < scores.size(); ++row) scores[row] = sums[row / kBlock].documents[row % kBlock];
    return true;
}

void TreeScorer::add_all_trees(const BlockBytes* codes, std::size_t n_rows, AddTrees& add_trees,
                               BlockScores* scores) const {
    for (std::size_t tree = 0; tree < trees_.size();) {
        const std::size_t first = tree;
        for (std::int64_t n_leaves = 0; tree < trees_.size() && n_leaves < kLeavesPerTurn; ++tree)
            n_leaves += trees_[tree].n_leaves;
        for (std::size_t block = 0; block * kBlock < n_rows; ++block)
            add_trees(&trees_[first], tree - first, codes + block * n_columns(),
                      std::min(kBlock, n_rows - block * kBlock), scores[block]);
    }
}

template <class T>
bool TreeScorer::encode_block(const DenseRows<T>& matrix, std::size_t first, std::size_t n,
                              const ValueKernels& kernels, BlockBytes* codes) const {
    const T* block = matrix.data + static_cast<std::ptrdiff_t>(first) * matrix.row_stride;
    if (any_too_large(matrix, block, n, kernels)) return false;
    BlockValues copies[kFeaturesTogether] = {};
    std::size_t begin = 0, end = 0;  // the features of the copies
    for (std::size_t number = 0; number < columns_.size(); ++number) {
        const auto feature = static_cast<std::size_t>(features_[number]);
        if (feature >= end) {
            begin = feature;
            end = std::min(begin + kFeaturesTogether, matrix.n_features);
            copy_kernel<T>(kernels)(block + static_cast<std::ptrdiff_t>(begin) * matrix.feature_stride,
                                    matrix.row_stride, matrix.feature_stride, n, end - begin, copies);
        }
        kernels.encode(columns_[number], copies[feature - begin], n, codes[number]);
    }
    sets_.encode(block, matrix.row_stride, matrix.feature_stride, n, codes + columns_.size());
    return true;
}

template <class T, class Index>
bool TreeScorer::encode_block(const SparseRows<T, Index>& matrix, std::size_t first, std::size_t n,
                              const ValueKernels& kernels, BlockBytes* codes) const {
    for (std::size_t number = 0; number < n_columns(); ++number)
        std::memset(codes[number].documents, code_of_zero_[number], kBlock);
    BlockBytes* const set_codes = codes + columns_.size();
    const auto begin = static_cast<std::size_t>(matrix.offsets[first]);
    const auto end = static_cast<std::size_t>(matrix.offsets[first + n]);
    if (any_too_large(matrix.values.subspan(begin, end - begin), kernels)) return false;
    for (std::size_t row = 0, entry = begin; row < n; ++row) {
        for (; entry < static_cast<std::size_t>(matrix.offsets[first + row + 1]); ++entry) {
            const auto columns = std::equal_range(features_.begin(), features_.end(), matrix.features[entry]);
            for (auto at = columns.first; at != columns.second; ++at) {
                const auto number = static_cast<std::size_t>(at - features_.begin());
                codes[number].documents[row] = encode(columns_[number], static_cast<float>(matrix.values[entry]));
            }
            const auto sets = std::ranges::equal_range(sets_.features(), matrix.features[entry]);
            for (auto at = sets.begin(); at != sets.end(); ++at) {
                const auto number = static_cast<std::size_t>(at - sets_.features().begin());
                set_codes[number].documents[row] = sets_.code(number, static_cast<float>(matrix.values[entry]));
            }
        }
    }
    return true;
}

template bool TreeScorer::score(const DenseRows<float>&, int, SimdPath, std::span<double>) const;
template bool TreeScorer::score(const DenseRows<double>&, int, SimdPath, std::span<double>) const;
template bool TreeScorer::score(const SparseRows<float, std::int32_t>&, int, SimdPath, std::span<double>) const;
template bool TreeScorer::score(const SparseRows<float, std::int64_t>&, int, SimdPath, std::span<double>) const;
template bool TreeScorer::score(const SparseRows<double, std::int32_t>&, int, SimdPath, std::span<double>) const;
template bool TreeScorer::score(const SparseRows<double, std::int64_t>&, int, SimdPath, std::span<double>) const;

}  // namespace rankwright
