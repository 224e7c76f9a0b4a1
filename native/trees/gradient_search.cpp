#include "trees/gradient_search.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

// Number of features that the first stage of the search (coarse levels) passes to the second (full resolution).
constexpr std::ptrdiff_t kFullResolutionFeatures = 4;
constexpr std::size_t kFirstFeatures = kFullResolutionFeatures / 2;  // see SampleGains

// With fewer searches of a feature, another thread costs more than it saves.
constexpr std::size_t kSearchesPerLoop = 32;

int threads_for(const GradientLeaf& leaf, const Worker& worker) {
    return leaf.rows.size() >= kRowsPerThread ? worker.n_threads : 1;
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

HistogramLayout GradientSearch::sent_layout() const {
    if (!binned_.coarse) return layout_;
    HistogramLayout sent;
    sent.by_level = true;
    for (const std::uint32_t feature : features_)
        sent.n_used.push_back(static_cast<int>(binned_.levels[feature].n_levels));
    return sent;
}

void GradientSearch::write_sent(const Packed* histogram, Packed* sent) const {
    if (!binned_.coarse) {
        std::copy_n(histogram, layout_.size(), sent);
        return;
    }
    for (std::size_t slot = 0; slot < features_.size(); ++slot)
        level_sums(histogram, slot, sent + slot * kCoarseLevels);
}

void GradientSearch::read_sent() {
    layout_ = sent_layout();
    if (!layout_.by_level) return;
    for (std::size_t slot = 0; slot < features_.size(); ++slot) starts_[slot] = slot * layout_.slot_size();
}

// With a coarse sample, the first stage only selects promising features; all rows then choose the split.
std::int64_t GradientSearch::n_judged(const GradientLeaf& leaf) const {
    return static_cast<std::int64_t>(task_.all_rows_judge ? leaf.rows.size() : leaf.rows.n_sample);
}

std::vector<GradientSplit> GradientSearch::best_splits(std::span<const GradientLeaf> leaves, RowStore& store,
                                                       Worker& worker) const {
    std::vector<LeafScratch>& scratch = worker.scratch.leaves;
    scratch.resize(std::max(scratch.size(), leaves.size()));
    // Stores that take batches count the documents of one leaf at a time.
    const bool is_small = leaves.size() * features_.size() < kSearchesPerLoop;
    const int n_threads = is_small || store.takes_batches() ? 1 : worker.n_threads;
    std::vector<Search> searches(leaves.size());
    parallel_for(leaves.size(), n_threads,
                 [&](std::size_t i) { searches[i] = screened(leaves[i], scratch[i], worker); });
    std::vector<CodeRequest> requests;
    for (const Search& search : searches)
        if (!search.request.features.empty() || !search.request.counted.empty())
            requests.push_back(search.request);
    if (!requests.empty()) store.sum_codes(requests, worker);
    std::vector<GradientSplit> splits(leaves.size());
    parallel_for(leaves.size(), n_threads, [&](std::size_t i) {
        search_at_full_resolution(leaves[i], searches[i]);
        splits[i] = best_with_enough_documents(leaves[i], searches[i], store);
    });
    return splits;
}

JudgedRows GradientSearch::judged_rows(const GradientLeaf& leaf) const {
    return {leaf.sum, &quantised_, static_cast<std::int64_t>(leaf.rows.n_sample)};
}

GradientSearch::SharedSplit GradientSearch::shared_split(std::span<const GradientLeaf> leaves,
                                                         int n_threads) const {
    std::vector<GradientSplit> best(features_.size());
    if (leaves.size() * best.size() < kSearchesPerLoop) n_threads = 1;
    parallel_ranges(best.size(), std::max<std::size_t>(1, best.size() / 4), n_threads,
                    [&](std::size_t first, std::size_t last) {
                        for (std::size_t slot = first; slot < last; ++slot) best[slot] = best_shared(leaves, slot);
                    });
    const GradientSplit shared = *std::max_element(best.begin(), best.end());
    SharedSplit result{{}, shared.gain};
    std::array<Packed, kCoarseLevels> buffer;
    for (const GradientLeaf& leaf : leaves) {
        GradientSplit own = shared;
        const JudgedRows judged = judged_rows(leaf);
        own.gain =
            GradientScan(limits_, judged, leaf.bounds)
                .gain(level_sums(leaf.histogram, shared.slot, buffer.data()), shared.code, shared.missing_left);
        result.of_leaf.push_back(own);
    }
    return result;
}

GradientSplit GradientSearch::best_shared(std::span<const GradientLeaf> leaves, std::size_t slot) const {
    std::array<double, kCodes> gains{}, with_missing{};
    std::array<Packed, kCoarseLevels> buffer;
    std::array<std::int64_t, kCodes> hessian{};  // of each code, over all leaves
    std::int64_t total = 0;
    const bool any_missing = std::ranges::any_of(leaves, [&](const GradientLeaf& leaf) {
        return level_sums(leaf.histogram, slot, buffer.data()).missing != 0;
    });
    double optimistic = 0.0;
    int n_codes = 0;
    for (const GradientLeaf& leaf : leaves) {
        const FeatureSums sums = level_sums(leaf.histogram, slot, buffer.data());
        const JudgedRows judged = judged_rows(leaf);
        GradientScan(limits_, judged, leaf.bounds).add_gains(sums, any_missing, gains, with_missing);
        optimistic += optimism(judged, slot);
        n_codes = sums.n_codes;
        for (int code = 0; code < n_codes; ++code)
            hessian[static_cast<std::size_t>(code)] += hessian_of(sums.sums[code]);
        total += hessian_of(leaf.sum);
    }
    GradientSplit best{.slot = slot};
    std::int64_t below = 0;
    for (int code = 0; code + 1 < n_codes; ++code) {
        const auto i = static_cast<std::size_t>(code);
        below += hessian[i];
        const bool heavier = 2 * below >= total;  // without missing values, these go to the heavier side
        if (gains[i] - optimistic > best.gain)
            best = {.gain = gains[i] - optimistic,
                    .slot = slot,
                    .code = code,
                    .missing_left = !any_missing && heavier};
        if (any_missing && with_missing[i] - optimistic > best.gain)
            best = {.gain = with_missing[i] - optimistic, .slot = slot, .code = code, .missing_left = true};
    }
    return best;
}

// The first stage, on the sums of the sample.
GradientSearch::Search GradientSearch::screened(const GradientLeaf& leaf, LeafScratch& scratch,
                                                const Worker& worker) const {
    Search search{judged_rows(leaf), {}, 0, {&leaf.rows, {}, {}}};
    if (n_judged(leaf) / 2 < limits_.min_documents) return search;
    search.candidates = screen(leaf, search.judged, scratch, worker);
    select(search, scratch);
    return search;
}

// The best split of every feature by its sums alone, or a bound of its gain, where that is all that is needed.
std::vector<GradientSearch::Candidate> GradientSearch::screen(const GradientLeaf& leaf, const JudgedRows& judged,
                                                              LeafScratch& scratch, const Worker& worker) const {
    const GradientScan scan(limits_, judged, leaf.bounds);
    scratch.levels.resize(features_.size() * kCoarseLevels);
    std::vector<Candidate> candidates(features_.size());
    parallel_ranges(
        candidates.size(), std::max<std::size_t>(1, candidates.size() / 4), threads_for(leaf, worker),
        [&](std::size_t first, std::size_t last) {
            for (std::size_t slot = first; slot < last; ++slot) {
                const FeatureSums sums =
                    level_sums(leaf.histogram, slot, scratch.levels.data() + slot * kCoarseLevels);
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
FeatureSums GradientSearch::level_sums(const Packed* histogram, std::size_t slot, Packed* sums) const {
    const FeatureLevels& levels = binned_.levels[features_[slot]];
    const Packed* byte = histogram + starts_[slot];
    if (levels.n_levels == kCodes) return {byte, binned_.n_bins(features_[slot]), byte[kMissing]};
    const int n_known = static_cast<int>(levels.n_levels) - levels.any_missing;
    if (layout_.by_level) return {byte, n_known, levels.any_missing ? byte[n_known] : 0};
    std::fill_n(sums, kCoarseLevels, Packed{0});
    const std::size_t stride = levels.stride, run = stride * levels.n_levels;
    for (std::size_t first = 0; first + run <= kCodes; first += run)
        for (std::size_t level = 0; level < levels.n_levels; ++level)
            for (std::size_t i = 0; i < stride; ++i) sums[level] += byte[first + level * stride + i];
    return {sums, n_known, levels.any_missing ? sums[n_known] : 0};
}

bool GradientSearch::left_is_lighter(const Packed* histogram, Packed sum, const GradientSplit& split) const {
    std::array<Packed, kCoarseLevels> buffer;
    const FeatureSums sums = level_sums(histogram, split.slot, buffer.data());
    const FeatureLevels& levels = binned_.levels[features_[split.slot]];
    const auto code = static_cast<std::size_t>(split.code);
    const std::size_t last = levels.n_levels == kCodes ? code : levels.level[code];
    Packed left = split.missing_left ? sums.missing : 0;
    for (std::size_t level = 0; level <= last; ++level) left += sums.sums[level];
    return 2 * hessian_of(left) < hessian_of(sum);
}

// Keeps the most promising features, to be searched again at full resolution, and those whose levels are their
// codes.
void GradientSearch::select(Search& search, LeafScratch& scratch) const {
    std::vector<Candidate>& candidates = search.candidates;
    if (candidates.empty()) return;
    if (limits_.min_documents > 1)
        search.request.counted.push_back(
            features_[std::max_element(candidates.begin(), candidates.end())->best.slot]);
    const auto first = std::partition(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return !task_.all_rows_judge && binned_.levels[features_[candidate.best.slot]].exact;
    });
    const auto last = first + std::min(kFullResolutionFeatures, candidates.end() - first);
    std::partial_sort(first, last, candidates.end(), [](const Candidate& a, const Candidate& b) { return b < a; });
    candidates.erase(last, candidates.end());
    search.first = static_cast<std::size_t>(first - candidates.begin());
    for (auto chosen = first; chosen != last; ++chosen)
        search.request.features.push_back(features_[chosen->best.slot]);
    scratch.codes.resize(search.request.features.size() * kCodes);
    search.request.sums = scratch.codes.data();
}

void GradientSearch::search_at_full_resolution(const GradientLeaf& leaf, Search& search) const {
    const std::vector<std::uint32_t>& features = search.request.features;
    if (features.empty()) return;
    const Packed* sums = search.request.sums;
    if (task_.all_rows_judge)
        search.judged = {std::accumulate(sums, sums + kCodes, Packed{0}), &all_quantised_, n_judged(leaf)};
    const GradientScan scan(limits_, search.judged, leaf.bounds);
    double of_first = 0.0;
    for (std::size_t i = 0; i < features.size(); ++i, sums += kCodes) {
        Candidate& chosen = search.candidates[search.first + i];
        chosen.feature = {sums, binned_.n_bins(features[i]), sums[kMissing]};
        chosen.best = best_of(scan, search.judged, chosen.best.slot, chosen.feature, {});
        if (i < kFirstFeatures) of_first = std::max(of_first, chosen.best.gain);
    }
    for (std::size_t i = search.first; i < search.candidates.size(); ++i)
        search.candidates[i].best.of_first = of_first;
}

// The split with the highest gain that leaves enough documents on both sides. Features are searched, and their
// documents counted, only as long as they may have a higher gain.
GradientSplit GradientSearch::best_with_enough_documents(const GradientLeaf& leaf, Search& search,
                                                         RowStore& store) const {
    std::vector<Candidate>& candidates = search.candidates;
    const JudgedRows& judged = search.judged;
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
        if (!leaves_enough(leaf, feature, split, store)) {
            const bool counts = limits_.min_documents > 1;
            split = best_of(scan, judged, slot, feature,
                            counts ? store.count(leaf.rows, features_[slot]) : CodeCounts());
        }
        if (!(best < split)) continue;
        best = split;
        best.of_first = promised.of_first;
    }
    return best;
}

// Whether a split that was found without counting is the best with enough documents on both sides too.
bool GradientSearch::leaves_enough(const GradientLeaf& leaf, const FeatureSums& feature,
                                   const GradientSplit& split, RowStore& store) const {
    if (limits_.min_documents <= 1) return true;
    if (direction(split.slot) != 0 || !leaf.bounds.are_open()) return false;
    const std::size_t number = features_[split.slot];
    // Missing values without hessian have been left out of the search, but count as documents.
    if (feature.missing == 0 && store.any_missing(leaf.rows, number)) return false;
    return store.leaves_enough(leaf.rows, {number, split.code, split.missing_left}, limits_.min_documents);
}

}  // namespace rankwright
