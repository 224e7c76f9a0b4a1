// The rows of one part of the training documents, while a tree grows on all parts: a worker's side of growth.
//
// Every part gets the same requests, in the same order, and answers with sums over its own rows. All sums are
// integers, so the sum over parts is that of all rows, however they are divided.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trees/class_search.hpp"
#include "trees/gradient_search.hpp"
#include "trees/leaf_sums.hpp"

namespace rankwright {

// Gradients and hessians are n_classes x n_rows, and stay with the caller while the tree grows.
struct PartTask {
    std::span<const double> gradient, hessian;
    std::span<const std::uint32_t> sample;    // ascending
    std::span<const double> sample_weights;   // one per row of the sample; empty: all 1
    std::span<const std::uint32_t> features;  // ascending
    std::vector<NumberSizes> steps;           // of each class, for the rows of all samples
    std::optional<NumberSizes> all_steps;     // for all rows, where these judge splits
    bool shared;                              // whether one tree with a value per class grows
};

// A leaf to be divided: the numbers of the leaf and its children, and which child is to be summed.
struct PartDivision {
    std::uint32_t parent, left, right;
    CodeSplit split;
    bool is_summed, left_is_summed;
};

class PartitionRows {
  public:
    PartitionRows(const BinnedMatrix& binned, int n_threads) : binned_(binned), n_threads_(n_threads) {}

    // Starts a tree; n_leaves is the most leaves, including those that are divided in vain, that it may have.
    void begin(const PartTask& task, std::size_t n_leaves);
    std::size_t histogram_size() const { return search_ ? search_->sent_layout().size() : layout().size(); }
    std::size_t n_leaves() const { return leaves_.size(); }
    const BinnedMatrix& binned() const { return binned_; }

    void root(std::int64_t* histogram);
    // Overwrites sizes with the rows of each left child, in the sample and in the rest; histograms, one after the
    // other, with the sums of those children that are asked for.
    void divide(std::span<const PartDivision> divisions, std::span<std::int64_t> sizes, std::int64_t* histograms);
    // Overwrites 256 sums and 256 numbers of documents for each pair of a leaf and a feature. If the feature has
    // no missing values, at most n_counted documents of the sample and as many of the rest are counted.
    void sum_codes(std::span<const std::uint32_t> leaves, std::span<const std::uint32_t> features,
                   std::size_t n_counted, Packed* sums, std::int64_t* counts);
    // Overwrites leaf_of_row with the position of each row's leaf among those listed, which hold all rows.
    void number_rows(std::span<const std::uint32_t> leaves, std::span<std::uint32_t> leaf_of_row) const;

  private:
    const HistogramLayout& layout() const { return class_search_ ? class_search_->layout() : search_->layout(); }
    void quantise(const PartTask& task);
    void divide_together(std::span<const PartDivision> divisions, std::span<std::int64_t> sizes,
                         std::int64_t*& histograms);
    Histogram empty_histogram();
    std::int64_t* send(Histogram histogram, std::int64_t* to);  // returns the end of what it wrote

    const BinnedMatrix& binned_;
    const int n_threads_;
    GrowthWorkspace space_;
    GrowthTask task_;
    GrowthLimits limits_{};
    std::vector<LeafRows> leaves_;
    std::unique_ptr<GradientSearch> search_;
    std::unique_ptr<ClassSearch> class_search_;
    std::unique_ptr<LocalRows> rows_;
};

// The splits of a finished tree: features and thresholds as in TreeShape; every threshold is an edge.
struct SplitArrays {
    std::span<const std::int32_t> feature, left, right;
    std::span<const float> threshold;
    std::span<const std::uint8_t> missing_left;
};

// Overwrites leaf_of_row with the leaf of each row.
void find_leaves(const BinnedMatrix& binned, const SplitArrays& splits, std::span<std::uint32_t> leaf_of_row);

}  // namespace rankwright
