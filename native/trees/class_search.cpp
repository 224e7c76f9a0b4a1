#include "trees/class_search.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

// With fewer sums, waking another thread costs more than it saves.
constexpr std::size_t kSumsPerThread = 200'000;

std::size_t padded(std::size_t n_splits) {
    constexpr std::size_t lanes = kGainLanes;
    return (n_splits + lanes - 1) / lanes * lanes;
}

double gain_of(std::span<const Packed> sums, std::span<const ClassSteps> steps, double l2) {
    double gain = 0.0;
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const double gradient = static_cast<double>(gradient_of(sums[k])) * steps[k].gradient;
        const double hessian = static_cast<double>(hessian_of(sums[k])) * steps[k].hessian + l2;
        if (hessian > 0.0) gain += gradient * gradient / hessian;
    }
    return gain;
}

}  // namespace

// The candidate splits of one feature: after each code that a document has. Other codes give the same two sides.
struct ClassSearch::Sides {
    std::size_t n_splits = 0;
    std::array<int, kCodes> codes;
    std::unique_ptr<Packed[]> left;                   // class by class: sums of the left side of every split
    std::array<std::int64_t, kCodes> left_documents;  // of every split
    alignas(64) std::array<double, kCodes> gains;
};

ClassSearch::ClassSearch(const BinnedMatrix& binned, std::span<const std::uint32_t> features,
                         const GrowthLimits& limits, std::vector<ClassSteps> steps, std::size_t width)
    : binned_(binned), limits_(limits), steps_(std::move(steps)) {
    std::ranges::copy_if(features, std::back_inserter(features_),
                         [&](std::uint32_t feature) { return binned.n_bins(feature) > 1; });
    layout_.width = width;
    for (const std::uint32_t feature : features_) layout_.n_used.push_back(binned.n_bins(feature));
}

// The best split of every feature, and of those the first with the highest gain.
ClassSplit ClassSearch::best_split(const Packed* histogram, std::span<const Packed> total, int n_threads) const {
    if (total[count_position()] / 2 < limits_.min_documents) return {};
    const double parent_gain = gain_of(total, steps_, limits_.l2);
    std::vector<SplitTerms> terms;
    for (std::size_t k = 0; k < steps_.size(); ++k)
        terms.push_back(
            {total[k], steps_[k].gradient, steps_[k].hessian, limits_.l2, limits_.min_hessian, parent_gain});
    std::vector<ClassSplit> candidates(features_.size());
    const int useful = layout_.size() > kSumsPerThread ? n_threads : 1;
    parallel_for(features_.size(), useful, [&](std::size_t slot) {
        candidates[slot] = scan(slot, histogram + slot * layout_.slot_size(), terms, total[count_position()]);
    });
    return *std::max_element(candidates.begin(), candidates.end(),
                             [](const ClassSplit& a, const ClassSplit& b) { return a.gain < b.gain; });
}

ClassSplit ClassSearch::scan(std::size_t slot, const Packed* sums, std::span<const SplitTerms> terms,
                             std::int64_t n_documents) const {
    Sides sides;
    gather(slot, sums, sides);
    const Packed* missing = sums + kMissing * layout_.width;
    const bool any_missing = missing[count_position()] != 0;
    ClassSplit best;
    std::size_t best_index = 0;
    for (const bool missing_left : {false, true}) {
        if (missing_left && !any_missing) break;
        if (missing_left) {
            for (std::size_t k = 0; k < steps_.size(); ++k)
                for (std::size_t i = 0; i < sides.n_splits; ++i) sides.left[k * kCodes + i] += missing[k];
            for (std::size_t i = 0; i < sides.n_splits; ++i) sides.left_documents[i] += missing[count_position()];
        }
        class_gains({sides.left.get(), kCodes, static_cast<std::int64_t>(terms.size()), terms.data()},
                    static_cast<std::int64_t>(sides.n_splits), sides.gains.data(), path_);
        for (std::size_t i = 0; i < sides.n_splits; ++i) {
            const double gain = sides.gains[i];
            // Ties: the lower code wins, then the split that sends missing values right.
            const bool is_better = gain > best.gain || (gain == best.gain && i < best_index);
            const std::int64_t left = sides.left_documents[i];
            if (!is_better || std::min(left, n_documents - left) < limits_.min_documents) continue;
            best = {gain, slot, sides.codes[i], missing_left};
            best_index = i;
        }
    }
    // Without missing values in training, they go to the side with more documents.
    if (!any_missing && best.gain > ClassSplit{}.gain)
        best.missing_left = 2 * sides.left_documents[best_index] >= n_documents;
    return best;
}

void ClassSearch::gather(std::size_t slot, const Packed* sums, Sides& sides) const {
    const std::size_t n_classes = steps_.size();
    sides.left = std::make_unique_for_overwrite<Packed[]>(n_classes * kCodes);
    switch (n_classes) {
        case 3:
            gather_classes<3>(slot, sums, sides);
            break;
        case 5:
            gather_classes<5>(slot, sums, sides);
            break;
        default:
            gather_classes<0>(slot, sums, sides);
    }
    for (std::size_t k = 0; k < n_classes; ++k)
        std::fill(&sides.left[k * kCodes + sides.n_splits], &sides.left[k * kCodes] + padded(sides.n_splits), 0);
}

// With a number of classes known at compile time, the loops over classes are unrolled.
template <std::size_t kClasses>
void ClassSearch::gather_classes(std::size_t slot, const Packed* sums, Sides& sides) const {
    const std::size_t n_classes = kClasses ? kClasses : steps_.size();
    const int last_code = binned_.n_bins(features_[slot]) - 1;
    std::array<Packed, (kClasses ? kClasses : kMostClasses) + 1> below{};
    std::size_t n_splits = 0;
    for (int code = 0; code < last_code; ++code, sums += layout_.width) {
        for (std::size_t k = 0; k < n_classes; ++k) sides.left[k * kCodes + n_splits] = below[k] += sums[k];
        sides.left_documents[n_splits] = below[n_classes] += sums[n_classes];
        sides.codes[n_splits] = code;
        n_splits += code == 0 || sums[n_classes] != 0;  // an empty code's numbers are overwritten by the next
    }
    sides.n_splits = n_splits;
}

}  // namespace rankwright
