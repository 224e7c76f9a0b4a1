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
    RowList sample, rest;
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
    int direction(std::size_t slot) const { return task_.monotone.empty() ? 0 : task_.monotone[features_[slot]]; }

    GradientSplit best_split(const GradientLeaf& leaf, const Worker& worker) const;

  private:
    struct Candidate {
        FeatureSums feature;
        GradientSplit best;  // or only a bound of its gain
        bool is_bound = false;
        bool operator<(const Candidate& other) const { return best < other.best; }
    };

    void list_bytes();
    bool all_rows_decide() const;
    std::int64_t n_judged(const GradientLeaf& leaf) const;
    std::vector<Candidate> screen(const GradientLeaf& leaf, const JudgedRows& judged, const Worker& worker) const;
    double optimism(const JudgedRows& judged, std::size_t slot) const;
    GradientSplit best_of(const GradientScan& scan, const JudgedRows& judged, std::size_t slot,
                          const FeatureSums& sums, const CodeCounts& counts) const;
    FeatureSums level_sums(const GradientLeaf& leaf, std::size_t slot, GrowthScratch& scratch) const;
    JudgedRows search_at_full_resolution(const GradientLeaf& leaf, const JudgedRows& screened,
                                         std::vector<Candidate>& candidates, const Worker& worker) const;
    JudgedRows sum_codes(const GradientLeaf& leaf, const JudgedRows& screened,
                         std::span<const std::uint32_t> features, const Worker& worker) const;
    GradientSplit best_with_enough_documents(const GradientLeaf& leaf, const JudgedRows& judged,
                                             std::vector<Candidate>& candidates) const;
    bool leaves_enough(const GradientLeaf& leaf, const FeatureSums& feature, const GradientSplit& split) const;
    bool any_missing(const GradientLeaf& leaf, const std::uint8_t* codes) const;
    CodeCounts count_documents(const GradientLeaf& leaf, std::size_t slot) const;

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
