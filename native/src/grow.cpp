#include "rankwright/grow.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "rankwright/histogram.hpp"
#include "rankwright/threads.hpp"
#include "rankwright/vectors.hpp"

namespace rankwright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Below so many rows or bins, waking another thread takes longer than it saves.
constexpr std::size_t kRowsAThread = 50'000;
// Features with coarse levels that are looked at code by code.
constexpr std::ptrdiff_t kRefined = 4;

struct Sums {
    double gradient = 0.0, weight = 0.0;
};

struct Split {
    double gain = -kInfinity;
    std::size_t slot = 0;  // of the feature among those that may be split on
    int code = 0;          // the last that goes left
    bool missing_left = false;
    bool operator<(const Split& other) const {
        return gain != other.gain ? gain < other.gain : slot > other.slot;  // the first feature wins a tie
    }
};

using Rows = std::span<std::uint32_t>;

struct Leaf : Twig {
    Rows sample, rest;  // slices of the grower's row lists
    std::unique_ptr<Packed[]> histogram;
    Packed sum = 0;
    double low = -kInfinity, high = kInfinity;  // what monotone constraints leave for its value
    Split best;
};

class TreeGrower {
  public:
    TreeGrower(const BinnedMatrix& binned, const GrowthTask& task, const GrowthLimits& limits, int n_threads,
               GrowthWorkspace& workspace)
        : binned_(binned), task_(task), limits_(limits), n_threads_(n_threads), space_(workspace) {
        quantise(task.gradient, task.hessian, task.sample, task.sample_weights, limits.levels, n_threads,
                 space_.quantised);
        if (looks_at_all()) quantise(task.gradient, task.hessian, {}, {}, limits.levels, n_threads, space_.whole);
        space_.sample.assign(task.sample.begin(), task.sample.end());
        space_.rest.assign(task.rest.begin(), task.rest.end());
        space_.buffer.resize(std::max(task.sample.size(), task.rest.size()));
        list_bytes();
        if (space_.histogram_size != histogram_size()) space_.histograms.clear();
        space_.histogram_size = histogram_size();
    }

    GrownTree grow(std::span<double> outputs) {
        plant();
        while (static_cast<std::int32_t>(leaves_.size()) < limits_.max_leaves) {
            const auto best = std::max_element(leaves_.begin(), leaves_.end(), [](const Leaf& a, const Leaf& b) {
                return a.best.gain < b.best.gain;
            });
            if (!(best->best.gain > limits_.min_gain)) break;
            split(static_cast<std::size_t>(best - leaves_.begin()));
        }
        tree_.leaf_value.resize(leaves_.size());
        tree_.cover.resize(leaves_.size());
        const int n_threads = space_.sample.size() + space_.rest.size() >= kRowsAThread ? n_threads_ : 1;
        parallel_for(leaves_.size(), n_threads, [&](std::size_t leaf) { finish(leaf, outputs); });
        for (Leaf& leaf : leaves_)
            if (leaf.histogram) space_.histograms.push_back(std::move(leaf.histogram));
        return std::move(tree_);
    }

  private:
    void plant() {
        Leaf root;
        root.sample = space_.sample;
        root.rest = space_.rest;
        if (limits_.max_leaves > 1 && !task_.features.empty()) {
            fill(root);
            consider_splits(root);
        }
        leaves_.push_back(std::move(root));
    }

    // The bytes in which the features are found, a slot of the histogram each.
    void list_bytes() {
        std::vector<std::uint32_t> slots(binned_.n_bytes, 0);
        for (const std::uint32_t feature : task_.features) slots[binned_.places[feature].byte] = 1;
        for (std::uint32_t byte = 0; byte < binned_.n_bytes; ++byte) {
            if (!slots[byte]) continue;
            slots[byte] = static_cast<std::uint32_t>(bytes_.size());
            bytes_.push_back(byte);
        }
        for (const std::uint32_t feature : task_.features)
            starts_.push_back(slots[binned_.places[feature].byte] * kBinStride);
        space_.levels.resize(task_.features.size() * kCoarseLevels);
    }

    // Coarse levels only tell which features promise most; so a sample may do that, and all rows decide.
    bool looks_at_all() const { return binned_.coarse && !task_.rest.empty(); }

    std::size_t histogram_size() const { return bytes_.size() * kBinStride; }

    void fill(Leaf& leaf) {
        if (space_.histograms.empty())
            space_.histograms.push_back(std::make_unique_for_overwrite<Packed[]>(histogram_size()));
        leaf.histogram = std::move(space_.histograms.back());
        space_.histograms.pop_back();
        fill_histogram(binned_, leaf.sample, space_.quantised.packed, bytes_, n_threads_,
                       {leaf.histogram.get(), histogram_size()});
        leaf.sum = 0;
        for (std::size_t value = 0; value < 256; ++value) leaf.sum += leaf.histogram[value];
    }

    // Turns a leaf into a split and two leaves; the right one is new.
    void split(std::size_t place) {
        const Split chosen = leaves_[place].best;
        Leaf parent = std::move(leaves_[place]);
        const CodeSplit by_code{task_.features[chosen.slot], chosen.code, chosen.missing_left};
        const std::int32_t node = add_split(parent, binned_, by_code, chosen.gain, tree_);
        Leaf left, right;
        left.parent = right.parent = node;
        left.is_left = true;
        send(parent.sample, by_code, left.sample, right.sample);
        send(parent.rest, by_code, left.rest, right.rest);
        sum_up(parent, left, right);
        constrain(parent, chosen, left, right);
        if (!is_last_split()) {
            consider_splits(left);
            consider_splits(right);
        }
        leaves_[place] = std::move(left);
        leaves_.push_back(std::move(right));
    }

    // A leaf that will not be split needs its histogram no more: others may have it.
    void consider_splits(Leaf& leaf) {
        find_best(leaf);
        if (leaf.best.gain > limits_.min_gain) return;
        leaf.best = {};
        if (leaf.histogram) space_.histograms.push_back(std::move(leaf.histogram));
    }

    // The leaves of the last split are never split, so that only their constraints may ask for their sums.
    bool is_last_split() const { return static_cast<std::int32_t>(leaves_.size()) + 1 >= limits_.max_leaves; }

    // The smaller side is added up row by row; the larger is what it leaves of the parent.
    void sum_up(Leaf& parent, Leaf& left, Leaf& right) {
        if (is_last_split() && task_.monotone.empty()) {
            space_.histograms.push_back(std::move(parent.histogram));
            return;
        }
        const bool left_is_smaller = left.sample.size() <= right.sample.size();
        Leaf& smaller = left_is_smaller ? left : right;
        Leaf& larger = left_is_smaller ? right : left;
        fill(smaller);
        larger.sum = parent.sum - smaller.sum;
        larger.histogram = std::move(parent.histogram);
        for (std::size_t i = 0; i < histogram_size(); ++i) larger.histogram[i] -= smaller.histogram[i];
    }

    void send(Rows rows, const CodeSplit& split, Rows& left, Rows& right) {
        const std::size_t n_left = divide(binned_, split, rows, space_.buffer);
        left = rows.first(n_left);
        right = rows.subspan(n_left);
    }

    // Under a monotone constraint the two sides meet half way between their values.
    void constrain(const Leaf& parent, const Split& chosen, Leaf& left, Leaf& right) {
        left.low = right.low = parent.low;
        left.high = right.high = parent.high;
        const int direction = direction_of(chosen.slot);
        if (direction == 0) return;
        const Quantised& units = space_.quantised;
        const double middle =
            (value_of(sums_of(left.sum, units), left) + value_of(sums_of(right.sum, units), right)) / 2.0;
        (direction > 0 ? left.high : left.low) = middle;
        (direction > 0 ? right.low : right.high) = middle;
    }

    int direction_of(std::size_t slot) const {
        return task_.monotone.empty() ? 0 : task_.monotone[task_.features[slot]];
    }

    static Sums sums_of(Packed sum, const Quantised& units) {
        return {static_cast<double>(gradient_of(sum)) * units.gradient_step,
                static_cast<double>(weight_of(sum)) * units.weight_step};
    }

    double value_of(const Sums& sums, const Leaf& leaf) const {
        const double weight = sums.weight + limits_.l2;
        return std::clamp(weight > 0.0 ? sums.gradient / weight : 0.0, leaf.low, leaf.high);
    }

    // What a side gains with its best value, or with the nearest that the constraints allow.
    double worth(const Sums& sums, const Leaf& leaf) const {
        const double weight = sums.weight + limits_.l2;
        if (!(weight > 0.0)) return 0.0;
        if (leaf.low == -kInfinity && leaf.high == kInfinity) return sums.gradient * sums.gradient / weight;
        const double value = value_of(sums, leaf);
        return (2.0 * sums.gradient - weight * value) * value;
    }

    // The documents of a leaf that splits are judged by: the sum of all and its units, and how many they are.
    struct Judged {
        Packed sum;
        const Quantised& units;
        std::int64_t n_documents;
        Sums sums() const { return sums_of(sum, units); }
    };

    // A feature's sums, of so many codes or levels in their order, and those of missing values.
    struct Profile {
        const Packed* sums;
        int n_codes;
        Packed missing;
    };

    struct Candidate {
        Profile profile;
        Split best;
        bool operator<(const Candidate& other) const { return best < other.best; }
    };

    // The best split of every feature by its sums alone, then the first of them, in order of gain, that leaves
    // enough documents on both sides. Documents are counted only for features that come first.
    void find_best(Leaf& leaf) {
        if (n_judged(leaf) / 2 < limits_.min_documents) return;
        const Judged screened{leaf.sum, space_.quantised, static_cast<std::int64_t>(leaf.sample.size())};
        std::vector<Candidate> candidates(task_.features.size());
        parallel_ranges(candidates.size(), std::max<std::size_t>(1, candidates.size() / 4), threads_for(leaf),
                        [&](std::size_t first, std::size_t last) {
                            for (std::size_t slot = first; slot < last; ++slot) {
                                const Profile profile = level_sums(leaf, slot);
                                candidates[slot] = {profile, scan(leaf, screened, slot, profile, {})};
                            }
                        });
        const Judged judged = refine(leaf, screened, candidates);
        std::make_heap(candidates.begin(), candidates.end());
        while (!candidates.empty() && candidates.front().best.gain > limits_.min_gain) {
            std::pop_heap(candidates.begin(), candidates.end());
            const auto& [profile, best] = candidates.back();
            if (leaf.best.gain > -kInfinity && !(leaf.best < best)) return;
            const Split counted = scan(leaf, judged, best.slot, profile, count_documents(leaf, best.slot));
            if (leaf.best < counted) leaf.best = counted;
            candidates.pop_back();
        }
    }

    // Keeps the features that promise most, looked at code by code, and those whose levels are their codes.
    Judged refine(const Leaf& leaf, const Judged& screened, std::vector<Candidate>& candidates) {
        const auto first = std::partition(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
            return !looks_at_all() && binned_.places[task_.features[candidate.best.slot]].exact;
        });
        if (first == candidates.end()) return screened;
        const auto last = first + std::min<std::ptrdiff_t>(kRefined, candidates.end() - first);
        std::partial_sort(first, last, candidates.end(),
                          [](const Candidate& a, const Candidate& b) { return b < a; });
        candidates.erase(last, candidates.end());
        std::vector<std::uint32_t> features;
        for (auto chosen = first; chosen != last; ++chosen) features.push_back(task_.features[chosen->best.slot]);
        const Judged judged = sum_codes(leaf, screened, features);
        for (std::size_t i = 0; i < features.size(); ++i) {
            Candidate& chosen = first[static_cast<std::ptrdiff_t>(i)];
            const Packed* sums = space_.codes.data() + i * 256;
            chosen.profile = {sums, binned_.n_bins(features[i]), sums[kMissing]};
            chosen.best = scan(leaf, judged, chosen.best.slot, chosen.profile, {});
        }
        return judged;
    }

    // The sums of these features' codes, over all documents of the leaf if those are to decide.
    Judged sum_codes(const Leaf& leaf, const Judged& screened, std::span<const std::uint32_t> features) {
        space_.codes.assign(features.size() * 256, 0);
        const Quantised& units = looks_at_all() ? space_.whole : space_.quantised;
        add_codes(binned_, leaf.sample, units.packed, features, threads_for(leaf), space_.codes);
        if (!looks_at_all()) return screened;
        add_codes(binned_, leaf.rest, units.packed, features, threads_for(leaf), space_.codes);
        const auto sums = std::span(space_.codes).first(256);
        return {std::accumulate(sums.begin(), sums.end(), Packed{0}), units, n_judged(leaf)};
    }

    std::int64_t n_judged(const Leaf& leaf) const {
        return static_cast<std::int64_t>(leaf.sample.size() + (looks_at_all() ? leaf.rest.size() : 0));
    }

    int threads_for(const Leaf& leaf) const {
        return leaf.sample.size() + leaf.rest.size() >= kRowsAThread ? n_threads_ : 1;
    }

    // What the leaf's histogram tells of a feature; the others that share its byte are added up.
    Profile level_sums(const Leaf& leaf, std::size_t slot) {
        const Place& place = binned_.places[task_.features[slot]];
        const Packed* byte = leaf.histogram.get() + starts_[slot];
        if (place.n_levels == 256) return {byte, binned_.n_bins(task_.features[slot]), byte[kMissing]};
        Packed* sums = space_.levels.data() + slot * kCoarseLevels;
        std::fill_n(sums, kCoarseLevels, Packed{0});
        const std::size_t stride = place.stride, run = stride * place.n_levels;
        for (std::size_t first = 0; first + run <= 256; first += run)
            for (std::size_t level = 0; level < place.n_levels; ++level)
                for (std::size_t i = 0; i < stride; ++i) sums[level] += byte[first + level * stride + i];
        const int n_known = static_cast<int>(place.n_levels) - place.any_missing;
        return {sums, n_known, place.any_missing ? sums[n_known] : 0};
    }

    using Counts = std::vector<std::int64_t>;

    Counts count_documents(const Leaf& leaf, std::size_t slot) const {
        if (limits_.min_documents <= 1) return {};
        const std::uint8_t* codes = binned_.column(task_.features[slot]);
        Counts counts(256);
        count(codes, leaf.sample, counts);
        if (looks_at_all()) count(codes, leaf.rest, counts);
        return counts;
    }

    // Two counters by turns: neighbouring rows often have the same code, and counting would wait for itself.
    static void count(const std::uint8_t* codes, Rows rows, Counts& counts) {
        Counts others(256);
        for (std::size_t i = 0; i + 1 < rows.size(); i += 2) {
            ++counts[codes[rows[i]]];
            ++others[codes[rows[i + 1]]];
        }
        if (rows.size() % 2) ++counts[codes[rows.back()]];
        for (std::size_t code = 0; code < 256; ++code) counts[code] += others[code];
    }

    bool is_free(const Leaf& leaf, std::size_t slot) const {
        return direction_of(slot) == 0 && leaf.low == -kInfinity && leaf.high == kInfinity;
    }

    // The best split of one feature where nothing but weight is asked of a side: all gains at once.
    Split scan_freely(const Leaf& leaf, const Judged& judged, std::size_t slot, const Profile& profile) const {
        alignas(64) std::array<Packed, 256> below{};
        alignas(64) std::array<double, 256> gains, gains_with_missing;
        Packed sum = 0;
        const int n_splits = profile.n_codes - 1;
        for (int code = 0; code < n_splits; ++code)
            below[static_cast<std::size_t>(code)] = sum += profile.sums[code];
        const auto& [all, units, _] = judged;
        const SplitTerms terms{all,        units.gradient_step, units.weight_step,
                               limits_.l2, limits_.min_weight,  worth(judged.sums(), leaf)};
        split_gains(below.data(), n_splits, terms, gains.data(), path_);
        if (profile.missing != 0) {
            for (int code = 0; code < n_splits; ++code) below[code] += profile.missing;
            split_gains(below.data(), n_splits, terms, gains_with_missing.data(), path_);
        }
        Split best;
        best.slot = slot;
        for (int code = 0; code < n_splits; ++code) {
            if (gains[code] > best.gain) best = {gains[code], slot, code, false};
            if (profile.missing != 0 && gains_with_missing[code] > best.gain)
                best = {gains_with_missing[code], slot, code, true};
        }
        if (profile.missing == 0 && best.gain > -kInfinity)
            best.missing_left = left_is_heavier(profile.sums, best.code, all);
        return best;
    }

    // The best split of one feature; with counts, among those that leave enough documents on both sides.
    Split scan(const Leaf& leaf, const Judged& judged, std::size_t slot, const Profile& profile,
               const Counts& counts) const {
        if (counts.empty() && is_free(leaf, slot)) return scan_freely(leaf, judged, slot, profile);
        const auto [sums, n_codes, missing] = profile;
        const double whole = worth(judged.sums(), leaf);
        // Missing documents may weigh nothing, and yet be needed for a side to hold enough.
        const bool any_missing = missing != 0 || (!counts.empty() && counts[kMissing] > 0);
        Split best;
        best.slot = slot;
        Packed below = 0;
        std::int64_t documents = 0;
        for (int code = 0; code + 1 < n_codes; ++code) {
            if (sums[code] == 0 && below != 0 && counts.empty()) continue;  // no better than the code before
            below += sums[code];
            if (!counts.empty()) documents += counts[static_cast<std::size_t>(code)];
            consider(leaf, judged, slot, code, false, below, documents, counts, whole, best);
            if (any_missing)
                consider(leaf, judged, slot, code, true, below + missing,
                         documents + (counts.empty() ? 0 : counts[kMissing]), counts, whole, best);
        }
        if (!any_missing && best.gain > -kInfinity)
            best.missing_left = left_is_heavier(sums, best.code, judged.sum);
        return best;
    }

    void consider(const Leaf& leaf, const Judged& judged, std::size_t slot, int code, bool missing_left,
                  Packed left_sum, std::int64_t left_documents, const Counts& counts, double whole,
                  Split& best) const {
        const Packed right_sum = judged.sum - left_sum;
        if (weight_of(left_sum) == 0 || weight_of(right_sum) == 0) return;
        const Sums left = sums_of(left_sum, judged.units), right = sums_of(right_sum, judged.units);
        if (left.weight < limits_.min_weight || right.weight < limits_.min_weight) return;
        const std::int64_t right_documents = judged.n_documents - left_documents;
        if (!counts.empty() && std::min(left_documents, right_documents) < limits_.min_documents) return;
        const int direction = direction_of(slot);
        if (direction != 0 && direction * (value_of(right, leaf) - value_of(left, leaf)) < 0.0) return;
        const double gain = worth(left, leaf) + worth(right, leaf) - whole;
        if (gain > best.gain) best = {gain, slot, code, missing_left};
    }

    // A value that was never missing in training goes, when it is, with most of the documents.
    static bool left_is_heavier(const Packed* sums, int code, Packed all) {
        Packed below = 0;
        for (int c = 0; c <= code; ++c) below += sums[c];
        return 2 * weight_of(below) >= weight_of(all);
    }

    void finish(std::size_t place, std::span<double> outputs) {
        const Leaf& leaf = leaves_[place];
        link(leaf, -1 - static_cast<std::int32_t>(place), tree_);
        Sums sums;
        for (const Rows& rows : {leaf.sample, leaf.rest})
            for (const std::uint32_t row : rows) {
                sums.gradient += task_.gradient[row];
                sums.weight += task_.hessian[row];
            }
        const double value = value_of(sums, leaf);
        for (const Rows& rows : {leaf.sample, leaf.rest})
            for (const std::uint32_t row : rows) outputs[row] = value;
        tree_.leaf_value[place] = value;
        tree_.cover[place] = static_cast<double>(leaf.sample.size() + leaf.rest.size());
    }

    const BinnedMatrix& binned_;
    const GrowthTask& task_;
    const GrowthLimits& limits_;
    const int n_threads_;
    GrowthWorkspace& space_;
    const VectorPath path_ = widest_path();
    std::vector<std::uint32_t> bytes_;  // that histograms are made of
    std::vector<std::size_t> starts_;   // where the sums of each feature's byte begin
    std::vector<Leaf> leaves_;
    GrownTree tree_;
};

}  // namespace

GrownTree grow_tree(const BinnedMatrix& binned, const GrowthTask& task, const GrowthLimits& limits, int n_threads,
                    GrowthWorkspace& workspace, std::span<double> outputs) {
    return TreeGrower(binned, task, limits, n_threads, workspace).grow(outputs);
}

}  // namespace rankwright
