// The best split of one feature, from its sums of gradient and hessian.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "histograms/quantise.hpp"
#include "simd/kernels.hpp"
#include "trees/growth_limits.hpp"
#include "trees/row_store.hpp"

namespace rankwright {

struct GradientSums {
    double gradient = 0.0, hessian = 0.0;
};

// The range that monotone constraints allow for the value of a leaf.
struct ValueBounds {
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    bool are_open() const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return low == -infinity && high == infinity;
    }
};

double leaf_value(const GradientSums& sums, double l2, const ValueBounds& bounds);

struct GradientSplit {
    double gain = -std::numeric_limits<double>::infinity();
    std::size_t slot = 0;  // of the feature among those that may be split on
    int code = 0;          // the last that goes left
    bool missing_left = false;
    double middle = 0.0;    // between the values of both sides, where the feature is constrained
    double of_first = 0.0;  // the gain of the best split of the features that the sample puts first
    bool divides() const { return gain > -std::numeric_limits<double>::infinity(); }
    bool operator<(const GradientSplit& other) const {
        return gain != other.gain ? gain < other.gain : slot > other.slot;  // the first feature wins a tie
    }
};

// A feature's sums for its codes or levels in ascending order, and for missing values.
struct FeatureSums {
    const Packed* sums = nullptr;
    int n_codes = 0;
    Packed missing = 0;
};

// The rows that splits of a leaf are judged by.
struct JudgedRows {
    Packed sum;
    const Quantised* units;
    std::int64_t n_documents;
    GradientSums sums() const;
};

// Scans the splits of one leaf, feature by feature.
class GradientScan {
  public:
    GradientScan(const GrowthLimits& limits, const JudgedRows& judged, const ValueBounds& bounds);

    // The best split; with counts, of those that leave enough documents on both sides. A feature's direction is
    // its monotone constraint: +1, 0 or -1.
    GradientSplit best(std::size_t slot, const FeatureSums& feature, int direction,
                       const CodeCounts& counts) const;

    // Adds the gains of all splits of the feature to `gains` and, if any leaf has missing values, those with these
    // on the left to the others; a split that is not allowed changes nothing.
    void add_gains(const FeatureSums& feature, bool any_missing, std::span<double> gains,
                   std::span<double> with_missing) const;
    // The gain of one split, -infinity if it is not allowed.
    double gain(const FeatureSums& feature, int code, bool missing_left) const;

    // Whether `bound` knows more than that any gain is possible.
    bool can_bound(int direction) const { return direction == 0 && bounds_.are_open() && unit_gain_ > 0.0; }
    // No split of the feature has a higher gain. Much faster than the best split.
    double bound(const FeatureSums& feature) const;

  private:
    struct Side;
    double unit_gain() const;
    SideTerms side_terms() const;
    GradientSplit best_of_all(std::size_t slot, const FeatureSums& feature) const;
    void consider(const Side& left, int direction, bool counted, GradientSplit& split, GradientSplit& best) const;
    double gain_of(const GradientSums& sums) const;
    bool left_is_heavier(const FeatureSums& feature, int code) const;

    const GrowthLimits& limits_;
    const JudgedRows& judged_;
    const ValueBounds& bounds_;
    const double parent_gain_;
    const double unit_gain_;  // of one step of gradient and of hessian; 0 if single precision cannot bound gains
    const SideTerms side_terms_;
    const SimdPath path_ = widest_path();
};

}  // namespace rankwright
