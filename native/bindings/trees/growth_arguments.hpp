// Checks of the arguments of growth.
#pragma once
#include <algorithm>
#include <bit>

#include "bindings/arguments/arrays.hpp"
#include "histograms/quantise.hpp"
#include "trees/following.hpp"
#include "trees/growth_limits.hpp"

namespace rankwright::bindings {

inline constexpr const char* kSample = "sample must list existing rows in ascending order";
inline constexpr const char* kFeatures = "features must list existing features in ascending order";

// Ascending numbers below n.
inline std::span<const std::uint32_t> checked_subset(const Array<std::uint32_t>& members, std::size_t n,
                                                     const char* sentence) {
    const auto subset = view(members);
    std::size_t falls = 0;
    for (std::size_t i = 1; i < subset.size(); ++i) falls += subset[i - 1] >= subset[i];
    require(falls == 0 && (subset.empty() || subset.back() < n), sentence);
    return subset;
}

inline void check_finite(Doubles values, std::size_t n, const char* sentence) {
    require(values.size() == n && all_finite(values), sentence);
}

inline void check_weights(Doubles hessian, Doubles sample_weights, std::size_t n_drawn) {
    if (!sample_weights.empty())
        check_finite(sample_weights, n_drawn, "there must be one finite weight per row drawn");
    for (Doubles values : {hessian, sample_weights})
        require(values.empty() || std::ranges::min(values) >= 0.0, "hessians and weights must not be negative");
}

inline std::span<const std::int8_t> checked_directions(const Array<std::int8_t>& monotone,
                                                       std::size_t n_features) {
    require(monotone.size() == 0 || monotone.size() == n_features, "monotone must have one value per feature");
    require(std::ranges::all_of(view(monotone),
                                [](std::int8_t direction) { return -1 <= direction && direction <= 1; }),
            "monotone must be -1, 0 or 1");
    return view(monotone);
}

inline GrowthLimits checked_limits(std::int32_t max_leaves, std::int64_t min_documents, double min_hessian,
                                   double l2, double min_gain, std::int32_t levels) {
    require(max_leaves >= 1 && min_documents >= 1, "limits must be at least 1");
    require(kFineLevels <= levels && levels <= kMostLevels, "levels must be from 0 to 127");
    require(min_hessian >= 0.0 && l2 >= 0.0 && min_gain >= 0.0, "limits must not be negative");
    return {max_leaves, min_documents, min_hessian, l2, min_gain, levels};
}

// Levels share splits only where a histogram has all bins, documents are not counted and no side is constrained.
inline GrowthLimits with_symmetry(GrowthLimits limits, bool symmetric, const BinnedMatrix& binned,
                                  std::span<const std::int8_t> monotone) {
    require(!symmetric || !binned.coarse, "symmetric trees must have bins at full resolution");
    require(!symmetric || limits.min_documents == 1, "min_documents must be 1 for symmetric trees");
    require(!symmetric || std::ranges::count(monotone, 0) == std::ssize(monotone),
            "symmetric trees must have no monotone constraint");
    limits.symmetric = symmetric;
    return limits;
}

}  // namespace rankwright::bindings
