#include "trees/gradient_search.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

// Number of features that the first stage of the search (coarse levels) passes to the second (full resolution).
constexpr std::ptrdiff_t kFullResolutionFeatures = 4;
constexpr std::size_t kFirstFeatures = kFullResolutionFeatures / 2;  // see SampleGains
constexpr std::size_t kCountedRows = 64;
constexpr std::size_t kFasterByColumn = 16;  // so many codes of a column are searched while one row is followed

int threads_for(const GradientLeaf& leaf, const Worker& worker) {
    return leaf.sample.size() + leaf.rest.size() >= kRowsPerThread ? worker.n_threads : 1;
}

// Alternates between two arrays: neighbouring rows often have the same code, and an increment of a counter waits
// for the one before it.
void count(const std::uint8_t* codes, RowList rows, CodeCounts& counts) {
    CodeCounts others(kCodes);
    for (std::size_t i = 0; i + 1 < rows.size(); i += 2) {
        ++counts[codes[rows[i]]];
        ++others[codes[rows[i + 1]]];
    }
    if (rows.size() % 2) ++counts[codes[rows.back()]];
    for (std::size_t code = 0; code < kCodes; ++code) counts[code] += others[code];
}

}  // namespace

GradientSearch::GradientSearch(const BinnedMatrix& binned, const GrowthTask& task, const GrowthLimits& limits,
                               const Quantised& quantised, const Quantised& all_quantised)
    : binned_(binned), task_(task), limits_(limits), quantised_(quantised), all_quantised_(all_quantised) {
    std::ranges::copy_if(task.features, std::back_inserter(features_),
                         [&](std::uint32_t feature) { return binned.n_bins(feature) > 1; });
    list_bytes();
}

void GradientSearch::list_bytes() {
    std::vector<int> n_used(binned_.n_bytes, 0);
    for (const std::uint32_t feature : features_)
        n_used[binned_.levels[feature].byte] = binned_.coarse ? static_cast<int>(kCodes) : binned_.n_bins(feature);
    std::vector<std::size_t> starts(binned_.n_bytes);
    for (std::uint32_t byte = 0; byte < binned_.n_bytes; ++byte) {
        if (!n_used[byte]) continue;
        starts[byte] = bytes_.size() * layout_.slot_size();
        bytes_.push_back(byte);
        layout_.n_used.push_back(n_used[byte]);
    }
    for (const std::uint32_t feature : features_) starts_.push_back(starts[binned_.levels[feature].byte]);
}

// The first stage only selects promising features, for which a sample is enough; all rows then choose the split.
bool GradientSearch::all_rows_decide() const { return binned_.coarse && task_.sample.size() < binned_.n_rows; }

std::int64_t GradientSearch::n_judged(const GradientLeaf& leaf) const {
    return static_cast<std::int64_t>(leaf.sample.size() + (all_rows_decide() ? leaf.rest.size() : 0));
}

GradientSplit GradientSearch::best_split(const GradientLeaf& leaf, const Worker& worker) const {
    if (n_judged(leaf) / 2 < limits_.min_documents) return {};
    const JudgedRows screened{leaf.sum, &quantised_, static_cast<std::int64_t>(leaf.sample.size())};
    std::vector<Candidate> candidates = screen(leaf, screened, worker);
    const JudgedRows judged = search_at_full_resolution(leaf, screened, candidates, worker);
    return best_with_enough_documents(leaf, judged, candidates);
}

// The best split of every feature by its sums alone, or a bound of its gain, where that is all that is needed.
std::vector<GradientSearch::Candidate> GradientSearch::screen(const GradientLeaf& leaf, const JudgedRows& judged,
                                                              const Worker& worker) const {
    const GradientScan scan(limits_, judged, leaf.bounds);
    worker.scratch.levels.resize(features_.size() * kCoarseLevels);
    std::vector<Candidate> candidates(features_.size());
    parallel_ranges(
        candidates.size(), std::max<std::size_t>(1, candidates.size() / 4), threads_for(leaf, worker),
        [&](std::size_t first, std::size_t last) {
            for (std::size_t slot = first; slot < last; ++slot) {
                const FeatureSums sums = level_sums(leaf, slot, worker.scratch);
                const bool bounds = !binned_.coarse && scan.can_bound(direction(slot));
                candidates[slot] = {
                    sums,
                    bounds ? GradientSplit{.gain = scan.bound(sums) - optimism(judged, slot), .slot = slot}
                           : best_of(scan, judged, slot, sums, {}),
                    bounds};
            }
        });
    return candidates;
}

// By how much the order of a category, fitted to the gradients, raises the gain of its splits.
double GradientSearch::optimism(const JudgedRows& judged, std::size_t slot) const {
    return binned_.categories.empty() ? 0.0 : binned_.categories[features_[slot]].optimism * judged.sums().hessian;
}

GradientSplit GradientSearch::best_of(const GradientScan& scan, const JudgedRows& judged, std::size_t slot,
                                      const FeatureSums& sums, const CodeCounts& counts) const {
    GradientSplit best = scan.best(slot, sums, direction(slot), counts);
    best.gain -= optimism(judged, slot);
    return best;
}

// A feature's sums by level, summed over the levels of the other features in its byte.
FeatureSums GradientSearch::level_sums(const GradientLeaf& leaf, std::size_t slot, GrowthScratch& scratch) const {
    const FeatureLevels& levels = binned_.levels[features_[slot]];
    const Packed* byte = leaf.histogram + starts_[slot];
    if (levels.n_levels == kCodes) return {byte, binned_.n_bins(features_[slot]), byte[kMissing]};
    Packed* sums = scratch.levels.data() + slot * kCoarseLevels;
    std::fill_n(sums, kCoarseLevels, Packed{0});
    const std::size_t stride = levels.stride, run = stride * levels.n_levels;
    for (std::size_t first = 0; first + run <= kCodes; first += run)
        for (std::size_t level = 0; level < levels.n_levels; ++level)
            for (std::size_t i = 0; i < stride; ++i) sums[level] += byte[first + level * stride + i];
    const int n_known = static_cast<int>(levels.n_levels) - levels.any_missing;
    return {sums, n_known, levels.any_missing ? sums[n_known] : 0};
}

// Keeps the most promising features, searched again at full resolution, and those whose levels are their codes.
JudgedRows GradientSearch::search_at_full_resolution(const GradientLeaf& leaf, const JudgedRows& screened,
                                                     std::vector<Candidate>& candidates,
                                                     const Worker& worker) const {
    const auto first = std::partition(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return !all_rows_decide() && binned_.levels[features_[candidate.best.slot]].exact;
    });
    if (first == candidates.end()) return screened;
    const auto last = first + std::min(kFullResolutionFeatures, candidates.end() - first);
    std::partial_sort(first, last, candidates.end(), [](const Candidate& a, const Candidate& b) { return b < a; });
    candidates.erase(last, candidates.end());
    std::vector<std::uint32_t> features;
    for (auto chosen = first; chosen != last; ++chosen) features.push_back(features_[chosen->best.slot]);
    const JudgedRows judged = sum_codes(leaf, screened, features, worker);
    const GradientScan scan(limits_, judged, leaf.bounds);
    double of_first = 0.0;
    for (std::size_t i = 0; i < features.size(); ++i) {
        Candidate& chosen = first[static_cast<std::ptrdiff_t>(i)];
        const Packed* sums = worker.scratch.codes.data() + i * kCodes;
        const std::size_t slot = chosen.best.slot;
        chosen.feature = {sums, binned_.n_bins(features[i]), sums[kMissing]};
        chosen.best = best_of(scan, judged, slot, chosen.feature, {});
        if (i < kFirstFeatures) of_first = std::max(of_first, chosen.best.gain);
    }
    for (auto chosen = first; chosen != last; ++chosen) chosen->best.of_first = of_first;
    return judged;
}

// The sums of these features' codes, over all documents of the leaf if all rows choose the split.
JudgedRows GradientSearch::sum_codes(const GradientLeaf& leaf, const JudgedRows& screened,
                                     std::span<const std::uint32_t> features, const Worker& worker) const {
    std::vector<Packed>& codes = worker.scratch.codes;
    codes.assign(features.size() * kCodes, 0);
    const Quantised& numbers = all_rows_decide() ? all_quantised_ : quantised_;
    add_codes(binned_, leaf.sample, numbers, features, threads_for(leaf, worker), codes);
    if (!all_rows_decide()) return screened;
    add_codes(binned_, leaf.rest, numbers, features, threads_for(leaf, worker), codes);
    return {std::accumulate(codes.begin(), codes.begin() + kCodes, Packed{0}), &numbers, n_judged(leaf)};
}

// The split with the highest gain that leaves enough documents on both sides. Features are searched, and their
// documents counted, only as long as they may have a higher gain.
GradientSplit GradientSearch::best_with_enough_documents(const GradientLeaf& leaf, const JudgedRows& judged,
                                                         std::vector<Candidate>& candidates) const {
    const GradientScan scan(limits_, judged, leaf.bounds);
    GradientSplit best;
    std::make_heap(candidates.begin(), candidates.end());
    for (; !candidates.empty() && candidates.front().best.gain > limits_.min_gain; candidates.pop_back()) {
        std::pop_heap(candidates.begin(), candidates.end());
        const auto& [feature, promised, is_bound] = candidates.back();
        if (promised.gain < best.gain) break;
        const std::size_t slot = promised.slot;
        GradientSplit split = is_bound ? best_of(scan, judged, slot, feature, {}) : promised;
        if (!(best < split)) continue;
        if (!leaves_enough(leaf, feature, split))
            split = best_of(scan, judged, slot, feature, count_documents(leaf, slot));
        if (!(best < split)) continue;
        best = split;
        best.of_first = promised.of_first;
    }
    return best;
}

// Whether a split that was found without counting is the best with enough documents on both sides too.
bool GradientSearch::leaves_enough(const GradientLeaf& leaf, const FeatureSums& feature,
                                   const GradientSplit& split) const {
    if (limits_.min_documents <= 1) return true;
    if (direction(split.slot) != 0 || !leaf.bounds.are_open()) return false;
    const std::uint8_t* codes = binned_.column(features_[split.slot]);
    // Missing values without hessian have been left out of the search, but count as documents.
    if (feature.missing == 0 && any_missing(leaf, codes)) return false;
    const CodeSplit sides{features_[split.slot], split.code, split.missing_left};
    std::int64_t n_left = 0, n_counted = 0;
    // Counts until both sides have enough, which in most leaves is soon.
    const auto suffices = [&](RowList rows) {
        for (std::size_t first = 0; first < rows.size(); first += kCountedRows) {
            const RowList counted = rows.subspan(first, std::min(kCountedRows, rows.size() - first));
            for (const std::uint32_t row : counted) n_left += sides.sends_left(codes[row]);
            n_counted += static_cast<std::int64_t>(counted.size());
            if (std::min(n_left, n_counted - n_left) >= limits_.min_documents) return true;
        }
        return false;
    };
    return suffices(leaf.sample) || (all_rows_decide() && suffices(leaf.rest));
}

// Whether a document of those that choose the split has a missing value. Searching the whole column is faster than
// following the rows of a leaf, and most columns have none.
bool GradientSearch::any_missing(const GradientLeaf& leaf, const std::uint8_t* codes) const {
    const bool is_large = static_cast<std::size_t>(n_judged(leaf)) >= binned_.n_rows / kFasterByColumn;
    if (is_large && std::memchr(codes, kMissing, binned_.n_rows) == nullptr) return false;
    const auto is_missing = [&](std::uint32_t row) { return codes[row] == kMissing; };
    return std::ranges::any_of(leaf.sample, is_missing) ||
           (all_rows_decide() && std::ranges::any_of(leaf.rest, is_missing));
}

CodeCounts GradientSearch::count_documents(const GradientLeaf& leaf, std::size_t slot) const {
    if (limits_.min_documents <= 1) return {};
    const std::uint8_t* codes = binned_.column(features_[slot]);
    CodeCounts counts(kCodes);
    count(codes, leaf.sample, counts);
    if (all_rows_decide()) count(codes, leaf.rest, counts);
    return counts;
}

}  // namespace rankwright
