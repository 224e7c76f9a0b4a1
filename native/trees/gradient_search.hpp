// The best split of a leaf over all features, from its histogram of gradients and hessians.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "trees/gradient_scan.hpp"
#include "trees/gradient_tree.hpp"
#include "trees/grower.hpp"

namespace rankwright {

struct GradientLeaf {
    const LeafRows& rows;
    const Packed* histogram;
    Packed sum;
    ValueBounds bounds;
};

class GradientSearch {
  public:
    GradientSearch(const BinnedMatrix& binned, const GrowthTask& task, const GrowthLimits& limits,
                   const Quantised& quantised, const Quantised& all_quantised);

    const HistogramLayout& layout() const { return layout_; }
    std::span<const std::uint32_t> bytes() const { return bytes_; }  // of a row: one slot of the histogram each
    std::size_t feature(std::size_t slot) const { return features_[slot]; }
    // The sums that workers send: by level in the coarse layout, which are fewer than those by byte.
    HistogramLayout sent_layout() const;
    void write_sent(const Packed* histogram, Packed* sent) const;
    // From now on histograms are such sums.
    void read_sent();

    int direction(std::size_t slot) const { return task_.monotone.empty() ? 0 : task_.monotone[features_[slot]]; }

    // Whether the left side of a leaf's split has less hessian, as far as levels tell: a guess at the smaller one.
    bool left_is_lighter(const Packed* histogram, Packed sum, const GradientSplit& split) const;

    // The best split of each leaf.
    std::vector<GradientSplit> best_splits(std::span<const GradientLeaf> leaves, RowStore& store,
                                           Worker& worker) const;

    // The split with the highest gain over all these leaves, for each of them with its own gain, -infinity where
    // it divides nothing; `total` is the sum of gains.
    struct SharedSplit {
        std::vector<GradientSplit> of_leaf;
        double total;
    };
    SharedSplit shared_split(std::span<const GradientLeaf> leaves, int n_threads) const;

  private:
    struct Candidate {
        FeatureSums feature;
        GradientSplit best;  // or only a bound of its gain
        bool is_bound = false;
        bool operator<(const Candidate& other) const { return best < other.best; }
    };

    // The search of one leaf: its candidates, of which those from `first` on are searched at full resolution.
    struct Search {
        JudgedRows judged;
        std::vector<Candidate> candidates;
        std::size_t first = 0;
        CodeRequest request;
    };

    void list_bytes();
    std::int64_t n_judged(const GradientLeaf& leaf) const;
    Search screened(const GradientLeaf& leaf, LeafScratch& scratch, const Worker& worker) const;
    std::vector<Candidate> screen(const GradientLeaf& leaf, const JudgedRows& judged, LeafScratch& scratch,
                                  const Worker& worker) const;
    double optimism(const JudgedRows& judged, std::size_t slot) const;
    GradientSplit best_of(const GradientScan& scan, const JudgedRows& judged, std::size_t slot,
                          const FeatureSums& sums, const CodeCounts& counts) const;
    GradientSplit best_shared(std::span<const GradientLeaf> leaves, std::size_t slot) const;
    JudgedRows judged_rows(const GradientLeaf& leaf) const;
    FeatureSums level_sums(const Packed* histogram, std::size_t slot, Packed* sums) const;
    void select(Search& search, LeafScratch& scratch) const;
    void search_at_full_resolution(const GradientLeaf& leaf, Search& search) const;
    GradientSplit best_with_enough_documents(const GradientLeaf& leaf, Search& search, RowStore& store) const;
    bool leaves_enough(const GradientLeaf& leaf, const FeatureSums& feature, const GradientSplit& split,
                       RowStore& store) const;

    const BinnedMatrix& binned_;
    const GrowthTask& task_;
    const GrowthLimits& limits_;
    const Quantised &quantised_, &all_quantised_;
    std::vector<std::uint32_t> features_;  // that have different values
    std::vector<std::uint32_t> bytes_;
    std::vector<std::size_t> starts_;  // where the sums of each feature's byte begin
    HistogramLayout layout_;
};

}  // namespace rankwright
