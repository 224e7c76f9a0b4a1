#include "trees/stumps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr int kBits = 52;
constexpr int kMostExponent = 1000;  // 2 to this power is finite
// With fewer sums, waking another thread costs more than it saves.
constexpr std::size_t kSumsPerThread = 50'000;

// The nearest integer; of two, the even one. Adding 3 x 2^51 leaves no bits for a fraction; beyond 2^51 there may
// be none left for the number itself.
VoteSum nearest(double value) {
    constexpr double kRounder = 0x1.8p52;
    if (std::abs(value) >= 0x1p51) return std::llrint(value);
    return static_cast<VoteSum>((value + kRounder) - kRounder);
}

std::int8_t sign(VoteSum sum) { return sum < 0 ? -1 : 1; }

}  // namespace

VoteSum edge_of(const VoteSums& sums, const Votes& votes) {
    VoteSum edge = 0;
    for (std::size_t k = 0; k < votes.size(); ++k) edge += sums[k] * votes[k];
    return edge;
}

Votes best_constant(const VoteSums& sums) {
    Votes votes(sums.size());
    std::transform(sums.begin(), sums.end(), votes.begin(), sign);
    return votes;
}

StumpFinder::StumpFinder(const BinnedMatrix& binned, const VoteTask& task, GrowthWorkspace& space)
    : binned_(binned),
      n_classes_(task.n_classes),
      opposite_(task.opposite),
      features_(binned.n_features),
      weights_(space.wide) {
    std::iota(features_.begin(), features_.end(), std::uint32_t{0});
    weights_.resize(binned.n_rows, n_classes_);
    quantise(task.signed_weights);
    layout_.width = weights_.width;
    for (const std::uint32_t feature : features_) layout_.n_used.push_back(binned.n_bins(feature));
}

void StumpFinder::quantise(std::span<const double> weights) {
    double total = 0.0;
    for (const double weight : weights) total += std::abs(weight);
    const int exponent = total > 0.0 ? std::min(kBits - std::ilogb(total), kMostExponent) : 0;
    step_ = std::ldexp(1.0, -exponent);
    const double scale = std::ldexp(1.0, exponent);
    for (std::size_t row = 0; row < binned_.n_rows; ++row) {
        VoteSum* row_weights = weights_.row(row);
        for (std::size_t k = 0; k < n_classes_; ++k)
            row_weights[k] = nearest(weights[k * binned_.n_rows + row] * scale);
        std::fill(row_weights + n_classes_, row_weights + weights_.width, 0);
    }
}

void StumpFinder::fill(std::span<const std::uint32_t> rows, int n_threads, VoteSum* histogram) const {
    fill_wide_histogram(binned_, rows, weights_, features_, layout_, n_threads, histogram);
}

VoteSums StumpFinder::total_of_rows() const {
    VoteSums total(n_classes_);
    for (std::size_t row = 0; row < binned_.n_rows; ++row)
        for (std::size_t k = 0; k < n_classes_; ++k) total[k] += weights_.row(row)[k];
    return total;
}

VoteSums StumpFinder::total_of_histogram(const VoteSum* histogram) const {
    VoteSums total = layout_.slot_total(0, histogram);
    total.resize(n_classes_);
    return total;
}

Stump StumpFinder::best(const VoteSum* histogram, const VoteSums& total, int n_threads) const {
    std::vector<Stump> candidates(features_.size());
    const auto threads = static_cast<std::size_t>(std::max(1, layout_.size() < kSumsPerThread ? 1 : n_threads));
    parallel_ranges(candidates.size(), (candidates.size() + threads - 1) / threads, n_threads,
                    [&](std::size_t first, std::size_t last) {
                        for (std::size_t feature = first; feature < last; ++feature)
                            candidates[feature] = scan(feature, histogram + feature * layout_.slot_size(), total);
                    });
    const auto winner = std::max_element(candidates.begin(), candidates.end(),
                                         [](const Stump& a, const Stump& b) { return a.edge < b.edge; });
    if (winner->code < 0) return {};
    set_votes(histogram + winner->feature * layout_.slot_size(), total, *winner);
    return std::move(*winner);
}

// The best split of one feature, without its votes. With a number of classes known at compile time, the loops over
// classes are unrolled.
Stump StumpFinder::scan(std::size_t feature, const VoteSum* sums, const VoteSums& total) const {
    switch (n_classes_) {
        case 2:
            return scan_classes<2>(feature, sums, total);
        case 3:
            return scan_classes<3>(feature, sums, total);
        case 4:
            return scan_classes<4>(feature, sums, total);
        case 5:
            return scan_classes<5>(feature, sums, total);
        default:
            return scan_classes<0>(feature, sums, total);
    }
}

template <std::size_t kClasses>
Stump StumpFinder::scan_classes(std::size_t feature, const VoteSum* sums, const VoteSums& total) const {
    const std::size_t n_classes = kClasses ? kClasses : n_classes_;
    const VoteSum* missing = sums + kMissing * layout_.width;
    const bool any_missing = std::any_of(missing, missing + n_classes, [](VoteSum sum) { return sum != 0; });
    VoteSums below(n_classes), with_missing(n_classes);
    Stump best;
    best.feature = feature;
    const auto consider = [&](int code, bool missing_left, const VoteSum* left) {
        const VoteSum edge = edge_of_split<kClasses>(left, total.data());
        if (edge <= best.edge) return;
        best.edge = edge;
        best.code = code;
        best.missing_left = missing_left;
    };
    for (int code = 0; code + 1 < binned_.n_bins(feature); ++code, sums += layout_.width) {
        for (std::size_t k = 0; k < n_classes; ++k) below[k] += sums[k];
        consider(code, false, below.data());
        if (!any_missing) continue;
        for (std::size_t k = 0; k < n_classes; ++k) with_missing[k] = below[k] + missing[k];
        consider(code, true, with_missing.data());
    }
    return best;
}

template <std::size_t kClasses>
VoteSum StumpFinder::edge_of_split(const VoteSum* left, const VoteSum* total) const {
    const std::size_t n_classes = kClasses ? kClasses : n_classes_;
    VoteSum edge = 0;
    for (std::size_t k = 0; k < n_classes; ++k) {
        const VoteSum right = total[k] - left[k];
        edge += opposite_ ? std::abs(right - left[k]) : std::abs(left[k]) + std::abs(right);
    }
    return edge;
}

void StumpFinder::set_votes(const VoteSum* sums, const VoteSums& total, Stump& stump) const {
    stump.left.resize(n_classes_);
    stump.right.resize(n_classes_);
    for (std::size_t k = 0; k < n_classes_; ++k) {
        VoteSum left = stump.missing_left ? sums[kMissing * layout_.width + k] : 0;
        for (int code = 0; code <= stump.code; ++code)
            left += sums[static_cast<std::size_t>(code) * layout_.width + k];
        const VoteSum right = total[k] - left;
        stump.left[k] = opposite_ ? sign(left - right) : sign(left);
        stump.right[k] = opposite_ ? static_cast<std::int8_t>(-stump.left[k]) : sign(right);
    }
}

}  // namespace rankwright
