#include "trees/gradient_scan.hpp"

#include <algorithm>

#include "histograms/binning.hpp"
#include "histograms/histogram.hpp"

namespace rankwright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

GradientSums scaled(Packed sum, const Quantised& units) {
    return {static_cast<double>(gradient_of(sum)) * units.gradient_step,
            static_cast<double>(hessian_of(sum)) * units.hessian_step};
}

// Overwrites `below` with the sums of each code and all lower ones. An addition waits for the one before it: here
// only one in four does.
void add_up(const Packed* sums, std::size_t size, Packed* below) {
    Packed last = 0;
    std::size_t code = 0;
    for (; code + 4 <= size; code += 4) {
        const Packed two = sums[code] + sums[code + 1], three = two + sums[code + 2];
        const Packed four = two + (sums[code + 2] + sums[code + 3]);
        below[code] = last + sums[code];
        below[code + 1] = last + two;
        below[code + 2] = last + three;
        below[code + 3] = last += four;
    }
    for (; code < size; ++code) below[code] = last += sums[code];
}

}  // namespace

GradientSums JudgedRows::sums() const { return scaled(sum, *units); }

double leaf_value(const GradientSums& sums, double l2, const ValueBounds& bounds) {
    const double hessian = sums.hessian + l2;
    return std::clamp(hessian > 0.0 ? sums.gradient / hessian : 0.0, bounds.low, bounds.high);
}

GradientScan::GradientScan(const GrowthLimits& limits, const JudgedRows& judged, const ValueBounds& bounds)
    : limits_(limits),
      judged_(judged),
      bounds_(bounds),
      parent_gain_(gain_of(judged.sums())),
      unit_gain_(unit_gain()),
      side_terms_(side_terms()) {}

double GradientScan::unit_gain() const {
    constexpr double kSmall = 1e-100, kLarge = 1e100, kMostL2 = 1e18;  // the cube of an l2 in steps is no overflow
    const double gradient_step = judged_.units->gradient_step, hessian_step = judged_.units->hessian_step;
    const bool fits = kSmall < std::min(gradient_step, hessian_step) &&
                      std::max(gradient_step, hessian_step) < kLarge && limits_.l2 / hessian_step < kMostL2;
    return fits ? gradient_step * gradient_step / hessian_step : 0.0;
}

SideTerms GradientScan::side_terms() const {
    const double hessian_step = judged_.units->hessian_step;
    const double least = limits_.min_hessian / hessian_step * (1.0 - 1e-9);  // rounding must not forbid a split
    return {static_cast<std::int32_t>(gradient_of(judged_.sum)),
            static_cast<std::int32_t>(hessian_of(judged_.sum)),
            static_cast<std::int32_t>(std::clamp(least, 1.0, 2e9)), static_cast<float>(limits_.l2 / hessian_step)};
}

// The gain of a leaf with its best value, or with the nearest value that its bounds allow.
double GradientScan::gain_of(const GradientSums& sums) const {
    const double hessian = sums.hessian + limits_.l2;
    if (!(hessian > 0.0)) return 0.0;
    if (bounds_.are_open()) return sums.gradient * sums.gradient / hessian;
    const double value = leaf_value(sums, limits_.l2, bounds_);
    return (2.0 * sums.gradient - hessian * value) * value;
}

struct GradientScan::Side {
    Packed sum = 0;
    std::int64_t n_documents = 0;
};

GradientSplit GradientScan::best(std::size_t slot, const FeatureSums& feature, int direction,
                                 const CodeCounts& counts) const {
    if (counts.empty() && direction == 0 && bounds_.are_open()) return best_of_all(slot, feature);
    const bool counted = !counts.empty();
    const Side missing{feature.missing, counted ? counts[kMissing] : 0};
    // Documents with a missing value may have hessian 0 and still count towards the minimum of a side.
    const bool any_missing = missing.sum != 0 || missing.n_documents > 0;
    GradientSplit best{.slot = slot};
    Side below;
    for (int code = 0; code + 1 < feature.n_codes; ++code) {
        if (feature.sums[code] == 0 && below.sum != 0 && !counted) continue;  // no better than the code before
        below.sum += feature.sums[code];
        if (counted) below.n_documents += counts[static_cast<std::size_t>(code)];
        GradientSplit split{.slot = slot, .code = code};
        consider(below, direction, counted, split, best);
        if (!any_missing) continue;
        split.missing_left = true;
        consider({below.sum + missing.sum, below.n_documents + missing.n_documents}, direction, counted, split,
                 best);
    }
    if (!any_missing && best.gain > -kInfinity) best.missing_left = left_is_heavier(feature, best.code);
    return best;
}

void GradientScan::consider(const Side& left, int direction, bool counted, GradientSplit& split,
                            GradientSplit& best) const {
    const Packed right_sum = judged_.sum - left.sum;
    if (hessian_of(left.sum) == 0 || hessian_of(right_sum) == 0) return;
    const GradientSums left_sums = scaled(left.sum, *judged_.units),
                       right_sums = scaled(right_sum, *judged_.units);
    if (std::min(left_sums.hessian, right_sums.hessian) < limits_.min_hessian) return;
    const std::int64_t fewer = std::min(left.n_documents, judged_.n_documents - left.n_documents);
    if (counted && fewer < limits_.min_documents) return;
    const double left_value = leaf_value(left_sums, limits_.l2, bounds_);
    const double right_value = leaf_value(right_sums, limits_.l2, bounds_);
    if (direction * (right_value - left_value) < 0.0) return;
    split.gain = gain_of(left_sums) + gain_of(right_sums) - parent_gain_;
    split.middle = (left_value + right_value) / 2.0;
    if (split.gain > best.gain) best = split;
}

// Without constraints and counts, all gains at once.
GradientSplit GradientScan::best_of_all(std::size_t slot, const FeatureSums& feature) const {
    alignas(64) std::array<Packed, kCodes> below{};
    alignas(64) std::array<double, kCodes> gains, gains_with_missing;
    std::array<int, kCodes> codes;  // the first, and those that documents have; others give the same sides
    Packed sum = 0;
    std::size_t n_splits = 0;
    for (int code = 0; code + 1 < feature.n_codes; ++code) {
        codes[n_splits] = code;
        below[n_splits] = sum += feature.sums[code];
        n_splits += code == 0 || feature.sums[code] != 0;
    }
    const SplitTerms terms{judged_.sum, judged_.units->gradient_step, judged_.units->hessian_step,
                           limits_.l2,  limits_.min_hessian,          parent_gain_};
    const auto size = static_cast<std::int64_t>(n_splits);
    split_gains(below.data(), size, terms, gains.data(), path_);
    if (feature.missing != 0) {
        for (std::size_t i = 0; i < n_splits; ++i) below[i] += feature.missing;
        split_gains(below.data(), size, terms, gains_with_missing.data(), path_);
    }
    GradientSplit best{.slot = slot};
    for (std::size_t i = 0; i < n_splits; ++i) {
        if (gains[i] > best.gain) best = {gains[i], slot, codes[i], false, 0.0};
        if (feature.missing != 0 && gains_with_missing[i] > best.gain)
            best = {gains_with_missing[i], slot, codes[i], true, 0.0};
    }
    if (feature.missing == 0 && best.gain > -kInfinity) best.missing_left = left_is_heavier(feature, best.code);
    return best;
}

void GradientScan::add_gains(const FeatureSums& feature, bool any_missing, std::span<double> gains,
                             std::span<double> with_missing) const {
    alignas(64) std::array<Packed, kCodes> below{};
    alignas(64) std::array<double, kCodes> own;
    const auto size = static_cast<std::size_t>(std::max(0, feature.n_codes - 1));
    add_up(feature.sums, size, below.data());
    const SplitTerms terms{judged_.sum, judged_.units->gradient_step, judged_.units->hessian_step,
                           limits_.l2,  limits_.min_hessian,          parent_gain_};
    for (const std::span<double> totals : {gains, with_missing}) {
        split_gains(below.data(), static_cast<std::int64_t>(size), terms, own.data(), path_);
        for (std::size_t code = 0; code < size; ++code) totals[code] += own[code] > -kInfinity ? own[code] : 0.0;
        if (!any_missing) return;
        for (std::size_t code = 0; code < size; ++code) below[code] += feature.missing;
    }
}

double GradientScan::gain(const FeatureSums& feature, int code, bool missing_left) const {
    Packed left = missing_left ? feature.missing : 0;
    for (int c = 0; c <= code; ++c) left += feature.sums[c];
    GradientSplit split, best;
    consider({left, 0}, 0, false, split, best);
    return best.gain;
}

double GradientScan::bound(const FeatureSums& feature) const {
    const auto size = static_cast<std::int64_t>(std::max(0, feature.n_codes - 1));
    double highest = highest_sides(feature.sums, size, 0, side_terms_, path_);
    if (feature.missing != 0)
        highest =
            std::max<double>(highest, highest_sides(feature.sums, size, feature.missing, side_terms_, path_));
    return highest > 0.0 ? highest * (1.0 + kSidesError) * unit_gain_ - parent_gain_ : -kInfinity;
}

// Without missing values in training, they go to the side with the larger hessian.
bool GradientScan::left_is_heavier(const FeatureSums& feature, int code) const {
    Packed below = 0;
    for (int c = 0; c <= code; ++c) below += feature.sums[c];
    return 2 * hessian_of(below) >= hessian_of(judged_.sum);
}

}  // namespace rankwright
