#include "rankwright/scoring.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>

#include "rankwright/threads.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kLeaves = std::size(LeafValues{}.values);
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What several blocks of documents share before the next splits are fetched: about the nearest cache.
constexpr std::int64_t kSplitsATurn = 2048;
constexpr std::size_t kMostBlocksAChunk = 4;
constexpr std::size_t kMostCodesAChunk = 1 << 20;

std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

std::uint32_t four_times(std::uint32_t byte) { return (byte & 0xff) * 0x01010101u; }

// Splits by feature, by the side of missing values, by threshold.
std::vector<std::uint32_t> sorted_splits(const FlatTrees& trees) {
    std::vector<std::uint32_t> order(trees.feature.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [&](std::uint32_t split) {
        return std::tuple(trees.feature[split], trees.missing_left[split], trees.threshold[split], split);
    };
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
    return order;
}

template <class T>
InspectKernel<T> inspect_kernel(const TreeKernels& kernels) {
    if constexpr (std::is_same_v<T, float>)
        return kernels.inspect_floats;
    else
        return kernels.inspect_doubles;
}

template <class T>
EncodeKernel<T> encode_kernel(const TreeKernels& kernels) {
    if constexpr (std::is_same_v<T, float>)
        return kernels.encode_floats;
    else
        return kernels.encode_doubles;
}

template <class T>
Specials inspect_block(const DenseRows<T>& matrix, const T* block, std::size_t n, const TreeKernels& kernels) {
    const InspectKernel<T> inspect = inspect_kernel<T>(kernels);
    const auto width = static_cast<std::ptrdiff_t>(matrix.n_features);
    if (matrix.feature_stride == 1 && matrix.row_stride == width) return inspect(block, 1, n * matrix.n_features);
    const bool by_row = matrix.feature_stride == 1;
    const std::size_t n_runs = by_row ? n : matrix.n_features;
    Specials found{};
    for (std::size_t run = 0; run < n_runs; ++run) {
        const T* values =
            block + static_cast<std::ptrdiff_t>(run) * (by_row ? matrix.row_stride : matrix.feature_stride);
        const Specials one =
            by_row ? inspect(values, 1, matrix.n_features) : inspect(values, matrix.row_stride, n);
        found = {found.missing || one.missing, found.infinite || one.infinite};
    }
    return found;
}

// A small tree: numbers its leaves from left to right, fills its splits' leaps and sorts its values.
void lay_leaps(std::span<const std::int32_t> left, std::span<const std::int32_t> right, Doubles values, CodedSplit* splits, double* leaves) {
    std::vector<std::uint32_t> size(left.size()), first(left.size() + 1);  // of each split's leaves; the last 0
    for (std::size_t split = left.size(); split-- > 0;) {
        const auto of = [&](std::int32_t child) { return child < 0 ? 1 : size[static_cast<std::size_t>(child)]; };
        size[split] = of(left[split]) + of(right[split]);
        splits[split].leap.skipped = of(left[split]);
    }
    const auto begin = [&](std::int32_t child, std::uint32_t leaf) {
        if (child < 0)
            leaves[leaf] = values[static_cast<std::size_t>(-1 - child)];
        else
            first[static_cast<std::size_t>(child)] = leaf;
    };
    begin(left.empty() ? -1 : 0, 0);
    for (std::size_t split = 0; split < left.size(); ++split) {
        begin(left[split], first[split]);
        begin(right[split], first[split] + splits[split].leap.skipped);
    }
    for (std::size_t split = 0; split < left.size(); ++split) {
        splits[split].leap.step = four_times(first[split] - first[split + 1]);
        splits[split].leap.skipped = four_times(splits[split].leap.skipped);
    }
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
    lay_trees(trees);
}

// Fills the columns, and each split's column and rank. A feature has a column for each side where its missing
// values go, and a further one for each further 255 thresholds.
void TreeScorer::code_splits(const FlatTrees& trees) {
    splits_.resize(trees.feature.size());
    std::vector<float> thresholds;  // of the last column
    std::uint32_t last = 0;
    for (std::uint32_t split : sorted_splits(trees)) {
        const bool same_side = !thresholds.empty() && trees.feature[split] == trees.feature[last] &&
                               trees.missing_left[split] == trees.missing_left[last];
        const bool known = same_side && trees.threshold[split] == thresholds.back();
        if (!known && (!same_side || thresholds.size() == kMaxThresholds)) {
            close_column(thresholds);
            features_.push_back(trees.feature[split]);
            columns_.push_back({.missing = trees.missing_left[split] ? -kInfinity : kInfinity});
        }
        if (!known) thresholds.push_back(trees.threshold[split]);
        splits_[split].codes = static_cast<std::uint32_t>((columns_.size() - 1) * sizeof(BlockBytes));
        splits_[split].rank = four_times(static_cast<std::uint32_t>(thresholds.size() - 1 - 128));
        last = split;
    }
    close_column(thresholds);
    place_columns();
}

// Packs the last column's thresholds into chunks, with an infinity behind them, and empties them.
void TreeScorer::close_column(std::vector<float>& thresholds) {
    if (columns_.empty()) return;
    thresholds.resize(round_up(thresholds.size() + 1, kChunk), kInfinity);
    Column& column = columns_.back();
    column.n_chunks = thresholds.size() / kChunk;
    std::fill_n(column.ends.thresholds, kChunk, kInfinity);
    for (std::size_t chunk = 0; chunk < column.n_chunks; ++chunk) {
        const float* begin = &thresholds[chunk * kChunk];
        std::copy_n(begin, kChunk, chunks_.emplace_back().thresholds);
        column.ends.thresholds[chunk] = begin[kChunk - 1];
    }
    thresholds.clear();
}

// The chunks no longer move: points the columns to them.
void TreeScorer::place_columns() {
    const Chunk* next = chunks_.data();
    for (Column& column : columns_) {
        column.chunks = next;
        next += column.n_chunks;
        const float zero = 0;
        portable::tree_kernels.encode_floats(column, &zero, 0, 1, false, &code_of_zero_.emplace_back());
    }
}

void TreeScorer::lay_trees(const FlatTrees& trees) {
    const std::size_t n_trees = trees.splits.size() - 1;
    std::vector<std::size_t> first_leaves(n_trees);
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        const auto begin = static_cast<std::size_t>(trees.splits[tree]);
        const auto n_splits = static_cast<std::size_t>(trees.splits[tree + 1]) - begin;
        const Doubles values = trees.leaf_value.subspan(begin + tree, n_splits + 1);
        first_leaves[tree] = leaves_.size();
        leaves_.resize(leaves_.size() + round_up(n_splits + 1, kLeaves) / kLeaves);
        double* leaves = leaves_[first_leaves[tree]].values;
        if (n_splits < kSmallTree)
            lay_leaps(trees.left.subspan(begin, n_splits), trees.right.subspan(begin, n_splits), values,
                      &splits_[begin], leaves);
        else {
            for (std::size_t split = begin; split < begin + n_splits; ++split)
                splits_[split].child = {trees.left[split], trees.right[split]};
            std::copy(values.begin(), values.end(), leaves);
        }
    }
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        const auto n_splits = static_cast<std::int32_t>(trees.splits[tree + 1] - trees.splits[tree]);
        trees_.push_back({splits_.data() + trees.splits[tree], leaves_.data() + first_leaves[tree], n_splits});
    }
}

// Few enough that their codes stay in the cache, enough that the trees are fetched for several blocks at a time
// and that a thread has something to do.
std::size_t TreeScorer::rows_a_chunk() const {
    const std::size_t fitting = kMostCodesAChunk / (kBlock * std::max<std::size_t>(columns_.size(), 1));
    return kBlock * std::clamp<std::size_t>(fitting, 1, kMostBlocksAChunk);
}

template <class Matrix>
bool TreeScorer::score(const Matrix& matrix, int n_threads, VectorPath path, std::span<double> scores) const {
    const TreeKernels& kernels = tree_kernels(path);
    std::atomic<bool> finite{true};
    parallel_ranges(row_count(matrix), rows_a_chunk(), n_threads, [&](std::size_t first, std::size_t last) {
        if (!score_chunk(matrix, first, kernels, scores.subspan(first, last - first))) finite = false;
    });
    return finite;
}

template <class Matrix>
bool TreeScorer::score_chunk(const Matrix& matrix, std::size_t first, const TreeKernels& kernels,
                             std::span<double> scores) const {
    const std::size_t n_blocks = (scores.size() + kBlock - 1) / kBlock, n_columns = columns_.size();
    const auto codes = std::make_unique<BlockBytes[]>(n_blocks * n_columns);
    const auto sums = std::make_unique<BlockScores[]>(n_blocks);
    for (std::size_t block = 0; block < n_blocks; ++block) {
        const std::size_t begin = block * kBlock, n = std::min(kBlock, scores.size() - begin);
        if (!encode_block(matrix, first + begin, n, kernels, codes.get() + block * n_columns)) return false;
    }
    add_all_trees(codes.get(), scores.size(), kernels, sums.get());
    for (std::size_t row = 0; row < scores.size(); ++row) scores[row] = sums[row / kBlock].documents[row % kBlock];
    return true;
}

void TreeScorer::add_all_trees(const BlockBytes* codes, std::size_t n_rows, const TreeKernels& kernels,
                               BlockScores* scores) const {
    for (std::size_t tree = 0; tree < trees_.size();) {
        const std::size_t first = tree;
        for (std::int64_t n_splits = 0; tree < trees_.size() && n_splits < kSplitsATurn; ++tree)
            n_splits += trees_[tree].n_splits + 1;
        for (std::size_t block = 0; block * kBlock < n_rows; ++block)
            kernels.add_trees(&trees_[first], tree - first, codes + block * columns_.size(),
                              n_rows - block * kBlock <= kHalfBlock, scores[block]);
    }
}

template <class T>
bool TreeScorer::encode_block(const DenseRows<T>& matrix, std::size_t first, std::size_t n,
                              const TreeKernels& kernels, BlockBytes* codes) const {
    const T* block = matrix.data + static_cast<std::ptrdiff_t>(first) * matrix.row_stride;
    const Specials found = inspect_block(matrix, block, n, kernels);
    for (std::size_t number = 0; number < columns_.size(); ++number)
        encode_kernel<T>(kernels)(columns_[number], block + features_[number] * matrix.feature_stride,
                                  matrix.row_stride, n, found.missing, codes[number].documents);
    return !found.infinite;
}

template <class T, class Index>
bool TreeScorer::encode_block(const SparseRows<T, Index>& matrix, std::size_t first, std::size_t n,
                              const TreeKernels& kernels, BlockBytes* codes) const {
    for (std::size_t number = 0; number < columns_.size(); ++number)
        std::memset(codes[number].documents, code_of_zero_[number], kBlock);
    const auto begin = static_cast<std::size_t>(matrix.offsets[first]);
    const auto end = static_cast<std::size_t>(matrix.offsets[first + n]);
    const Specials found = inspect_kernel<T>(kernels)(matrix.values.data() + begin, 1, end - begin);
    for (std::size_t row = 0, entry = begin; row < n; ++row) {
        for (; entry < static_cast<std::size_t>(matrix.offsets[first + row + 1]); ++entry) {
            const auto columns = std::equal_range(features_.begin(), features_.end(), matrix.features[entry]);
            for (auto at = columns.first; at != columns.second; ++at) {
                const auto number = static_cast<std::size_t>(at - features_.begin());
                encode_kernel<T>(kernels)(columns_[number], &matrix.values[entry], 0, 1, found.missing,
                                          codes[number].documents + row);
            }
        }
    }
    return !found.infinite;
}

template bool TreeScorer::score(const DenseRows<float>&, int, VectorPath, std::span<double>) const;
template bool TreeScorer::score(const DenseRows<double>&, int, VectorPath, std::span<double>) const;
template bool TreeScorer::score(const SparseRows<float, std::int32_t>&, int, VectorPath, std::span<double>) const;
template bool TreeScorer::score(const SparseRows<float, std::int64_t>&, int, VectorPath, std::span<double>) const;
template bool TreeScorer::score(const SparseRows<double, std::int32_t>&, int, VectorPath, std::span<double>) const;
template bool TreeScorer::score(const SparseRows<double, std::int64_t>&, int, VectorPath, std::span<double>) const;

#if defined(__x86_64__)
const TreeKernels& tree_kernels(VectorPath path) {
    switch (path) {
        case VectorPath::avx512:
            return avx512::tree_kernels;
        case VectorPath::avx2:
            return avx2::tree_kernels;
        case VectorPath::portable:
            break;
    }
    return portable::tree_kernels;
}
#else
const TreeKernels& tree_kernels(VectorPath) { return portable::tree_kernels; }
#endif

}  // namespace rankwright
