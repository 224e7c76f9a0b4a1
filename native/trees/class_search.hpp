// The best split of a leaf over all features, from sums of several classes' gradients and hessians.
#pragma once
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "simd/kernels.hpp"
#include "trees/class_tree.hpp"
#include "trees/grower.hpp"
#include "trees/growth_limits.hpp"

namespace rankwright {

struct ClassSplit {
    double gain = -std::numeric_limits<double>::infinity();
    std::size_t slot = 0;  // of the feature among those that may be split on
    int code = 0;          // the last that goes left
    bool missing_left = false;
};

// Every code of the histogram has one packed sum per class, then the number of documents, then padding.
class ClassSearch {
  public:
    ClassSearch(const BinnedMatrix& binned, std::span<const std::uint32_t> features, const GrowthLimits& limits,
                std::vector<ClassSteps> steps, std::size_t width);

    const HistogramLayout& layout() const { return layout_; }
    std::span<const std::uint32_t> features() const { return features_; }
    std::size_t count_position() const { return steps_.size(); }

    ClassSplit best_split(const Packed* histogram, std::span<const Packed> total, int n_threads) const;

  private:
    struct Sides;
    ClassSplit scan(std::size_t slot, const Packed* sums, std::span<const SplitTerms> terms,
                    std::int64_t n_documents) const;
    void gather(std::size_t slot, const Packed* sums, Sides& sides) const;
    template <std::size_t kClasses>
    void gather_classes(std::size_t slot, const Packed* sums, Sides& sides) const;

    const BinnedMatrix& binned_;
    const GrowthLimits& limits_;
    std::vector<std::uint32_t> features_;  // that have different values
    std::vector<ClassSteps> steps_;        // one per class
    HistogramLayout layout_;
    const SimdPath path_ = widest_path();
};

}  // namespace rankwright
