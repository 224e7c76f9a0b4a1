#include "scoring/tree_scorer.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <tuple>

#include "scoring/next_values.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kLeaves = std::size(LeafValues{}.values);
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kHighest = std::numeric_limits<float>::max();

constexpr std::size_t kRangesPerThread = 8;  // of rows; memory is allocated once per range

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
bool any_too_large(const DenseRows<float>&, const float*, std::size_t, std::size_t, std::size_t,
                   const ValueKernels&) {
    return false;
}

// Whether a value of n rows, in the features from begin to end, is too large.
bool any_too_large(const DenseRows<double>& matrix, const double* block, std::size_t n, std::size_t begin,
                   std::size_t end, const ValueKernels& kernels) {
    const bool by_row = matrix.feature_stride == 1;
    const std::size_t n_features = end - begin, n_runs = by_row ? n : n_features;
    const std::ptrdiff_t stride = by_row ? matrix.feature_stride : matrix.row_stride,
                         run_stride = by_row ? matrix.row_stride : matrix.feature_stride;
    const double* const first = block + static_cast<std::ptrdiff_t>(begin) * matrix.feature_stride;
    bool exceeds = false;
    for (std::size_t run = 0; run < n_runs; ++run)
        exceeds |= kernels.too_large(first + static_cast<std::ptrdiff_t>(run) * run_stride, stride,
                                     by_row ? n_features : n);
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

// The bits of a number below a power of two in reverse order.
std::size_t reversed(std::size_t number, std::size_t power) {
    std::size_t bits = 0;
    for (; power > 1; power /= 2, number /= 2) bits = 2 * bits + number % 2;
    return bits;
}

// The code of one value.
std::int8_t encode(const Column& column, float value) {
    if (column.missing_right) value = value == value ? std::min(value, column.highest) : kInfinity;
    const auto n_below =
        std::lower_bound(column.sorted, column.sorted + (1 << column.depth) - 1, value) - column.sorted;
    return static_cast<std::int8_t>(n_below - 128);
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

bool same_test(const CodedSplit& a, const CodedSplit& b) { return a.codes == b.codes && a.rank == b.rank; }

// The tests of a tree's splits, each once, if the results of all of them give the leaf faster than its splits: in
// a symmetric tree, there is one per level. Otherwise nothing.
std::vector<CodedSplit> few_tests(std::span<const CodedSplit> splits) {
    std::vector<CodedSplit> tests;
    for (const CodedSplit& split : splits) {
        if (std::ranges::any_of(tests, [&](const CodedSplit& test) { return same_test(test, split); })) continue;
        if (tests.size() == kMaxTests) return {};
        tests.push_back(split);
    }
    const std::size_t n_values = std::size_t{1} << tests.size();
    const bool faster = tests.size() < splits.size() && n_values <= std::max(kLeaves, 4 * splits.size());
    return faster ? tests : std::vector<CodedSplit>{};
}

// Fills the value of the leaf for every combination of the results of the tests: the number of a combination has
// one bit per test, the highest for the first.
void fill_values_by_tests(std::span<const std::int32_t> left, std::span<const std::int32_t> right, Doubles values,
                          std::span<const CodedSplit> splits, std::span<const CodedSplit> tests,
                          double* by_result) {
    struct Visit {
        std::int32_t node;
        std::uint32_t known, results;  // bits of tests above the node
    };
    std::vector<Visit> visits{{0, 0, 0}};
    while (!visits.empty()) {
        const auto [node, known, results] = visits.back();
        visits.pop_back();
        if (node < 0) {
            const std::uint32_t free = ((1u << tests.size()) - 1) & ~known;
            for (std::uint32_t others = free;; others = (others - 1) & free) {
                by_result[results | others] = values[static_cast<std::size_t>(-1 - node)];
                if (others == 0) break;
            }
            continue;
        }
        const auto number = static_cast<std::size_t>(node);
        const auto test = std::ranges::find_if(
            tests, [&](const CodedSplit& candidate) { return same_test(candidate, splits[number]); });
        const std::uint32_t bit = 1u << (tests.end() - test - 1);
        if (!(known & bit) || !(results & bit)) visits.push_back({left[number], known | bit, results});
        if (!(known & bit) || (results & bit)) visits.push_back({right[number], known | bit, results | bit});
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

// The end of the features from that of a column on that are copied together: where a chunk of them is unused, or
// the limit.
std::size_t end_of_run(std::span<const std::int32_t> features, std::size_t column, std::size_t limit) {
    std::size_t end = static_cast<std::size_t>(features[column]) + 1;
    for (; column < features.size(); ++column) {
        const auto feature = static_cast<std::size_t>(features[column]);
        if (feature >= std::min(end + kChunk, limit)) break;
        end = feature + 1;
    }
    return end;
}

// The values of a feature in a block of n rows, if kernels can read them without a copy; otherwise nullptr.
const float* in_place(const DenseRows<float>& matrix, std::size_t first, std::size_t n, std::size_t feature) {
    if (matrix.row_stride != 1 || n < kBlock) return nullptr;
    return matrix.data + first + static_cast<std::ptrdiff_t>(feature) * matrix.feature_stride;
}

const float* in_place(const DenseRows<double>&, std::size_t, std::size_t, std::size_t) { return nullptr; }

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
    std::ranges::unique_copy(features_, std::back_inserter(tested_));
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
    for (std::size_t level = 1; level < n_ranks; level *= 2)
        for (std::size_t rank = n_ranks / level / 2 - 1, number = 0; number < level;
             rank += n_ranks / level, ++number)
            both[level + reversed(number, level)] = thresholds[rank];
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
        const auto left = trees.left.subspan(begin, n_splits), right = trees.right.subspan(begin, n_splits);
        const std::span<CodedSplit> splits(splits_.data() + begin, n_splits);
        const std::vector<CodedSplit> tests = few_tests(splits);
        const std::size_t n_leaves = tests.empty() ? n_splits + 1 : std::size_t{1} << tests.size();
        first_leaf[tree] = leaves_.size();
        leaves_.resize(leaves_.size() + round_up(n_leaves, kLeaves) / kLeaves);
        double* leaves = leaves_[first_leaf[tree]].values;
        if (!tests.empty()) {
            fill_values_by_tests(left, right, values, splits, tests, leaves);
            std::ranges::copy(tests, splits.begin());
        } else if (n_splits < kSmallTree) {
            lay_out_small_tree(left, right, values, splits.data(), leaves);
        } else {
            for (std::size_t split = 0; split < n_splits; ++split)
                splits[split].child = {left[split], right[split]};
            std::copy(values.begin(), values.end(), leaves);
        }
        const std::size_t n_coded = tests.empty() ? n_splits : tests.size();
        trees_.push_back({splits.data(), nullptr, static_cast<std::int32_t>(n_coded),
                          static_cast<std::int32_t>(n_leaves), !tests.empty()});
    }
    for (std::size_t tree = 0; tree < n_trees; ++tree) trees_[tree].leaves = leaves_.data() + first_leaf[tree];
}

template <class Matrix>
bool TreeScorer::score(const Matrix& matrix, int n_threads, SimdPath path, std::span<double> scores) const {
    std::atomic<bool> fits{true};
    const std::size_t n_rows = row_count(matrix);
    const std::size_t n_ranges = kRangesPerThread * static_cast<std::size_t>(std::max(n_threads, 1));
    parallel_ranges(n_rows, round_up(n_rows / n_ranges + 1, kBlock), n_threads,
                    [&](std::size_t first, std::size_t last) {
                        if (!score_rows(matrix, first, path, scores.subspan(first, last - first))) fits = false;
                    });
    return fits;
}

template <class Matrix>
bool TreeScorer::score_rows(const Matrix& matrix, std::size_t first, SimdPath path,
                            std::span<double> scores) const {
    // Documents beyond the last have undefined codes: any lead to a leaf of the tree, whose value nobody reads.
    const auto codes = std::make_unique_for_overwrite<BlockBytes[]>(n_columns());
    const auto copies =
        std::make_unique_for_overwrite<BlockValues[]>(scores.size() < kBlock ? kChunk : kFeaturesTogether);
    for (std::size_t begin = 0; begin < scores.size(); begin += kBlock) {
        const std::size_t n = std::min(kBlock, scores.size() - begin);
        NextValues next = next_values(matrix, first + begin + n, tested_);
        next.n_steps = n_columns() + trees_.size();
        if (!encode_block(matrix, first + begin, n, value_kernels(path), next, copies.get(), codes.get()))
            return false;
        BlockScores sums{};
        add_trees_on(path)(trees_.data(), trees_.size(), codes.get(), n, next, sums);
        std::copy_n(sums.documents, n, &scores[begin]);
    }
    return true;
}

template <class T>
bool TreeScorer::encode_block(const DenseRows<T>& matrix, std::size_t first, std::size_t n,
                              const ValueKernels& kernels, NextValues& next, BlockValues* copies,
                              BlockBytes* codes) const {
    const T* block = matrix.data + static_cast<std::ptrdiff_t>(first) * matrix.row_stride;
    const auto too_large = [&](std::size_t begin, std::size_t end) {
        return begin < end && any_too_large(matrix, block, n, begin, end, kernels);
    };
    // Long runs of rows come from memory faster, but the copies of few documents can stay in the first-level
    // cache.
    const std::size_t most = matrix.feature_stride == 1 && n == kBlock ? kFeaturesTogether : kChunk;
    std::size_t begin = 0, end = 0;  // the features of the copies
    for (std::size_t number = 0; number < columns_.size(); ++number) {
        const auto feature = static_cast<std::size_t>(features_[number]);
        const float* values = in_place(matrix, first, n, feature);
        if (values == nullptr && feature >= end) {
            if (too_large(end, feature)) return false;
            begin = feature;
            end = end_of_run(features_, number, begin + most);
            const bool infinite =
                copy_kernel<T>(kernels)(block + static_cast<std::ptrdiff_t>(begin) * matrix.feature_stride,
                                        matrix.row_stride, matrix.feature_stride, n, end - begin, copies);
            if (infinite && too_large(begin, end)) return false;
        }
        if (next.n_runs > 0) fetch_share(next, 1);
        if (values == nullptr) values = copies[feature - begin].documents;
        kernels.encode(columns_[number], values, n, codes[number]);
    }
    if (too_large(end, matrix.n_features)) return false;
    sets_.encode(block, matrix.row_stride, matrix.feature_stride, n, codes + columns_.size());
    return true;
}

template <class T, class Index>
bool TreeScorer::encode_block(const SparseRows<T, Index>& matrix, std::size_t first, std::size_t n,
                              const ValueKernels& kernels, NextValues&, BlockValues*, BlockBytes* codes) const {
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
