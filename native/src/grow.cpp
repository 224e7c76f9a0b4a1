#include "rankwright/grow.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>

#include "rankwright/histogram.hpp"
#include "rankwright/sampling.hpp"
#include "rankwright/threads.hpp"
#include "rankwright/vectors.hpp"

namespace rankwright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Below so many rows, waking another thread takes longer than it saves.
constexpr std::size_t kRowsAThread = 50'000;
// Rows that are summed up one after another for leaf values; another number would round them otherwise.
constexpr std::size_t kRowsARun = 1 << 15;
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
    double middle = 0.0;  // between the values of its sides, where the feature is constrained
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
    std::vector<Leaf> sides;  // left and right, once it is divided

    std::size_t n_rows() const { return sample.size() + rest.size(); }
};

// Who divides a leaf: with own scratch paper, and threads that help.
struct Worker {
    GrowthScratch& scratch;
    int n_threads;
    int threads_for(const Leaf& leaf) const { return leaf.n_rows() >= kRowsAThread ? n_threads : 1; }
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
        leave_out(task.sample, binned.n_rows, space_.rest);
        space_.scratch.resize(static_cast<std::size_t>(std::clamp(n_threads, 1, limits.max_leaves)));
        std::ranges::copy_if(task.features, std::back_inserter(features_),
                             [&](std::uint32_t feature) { return binned.n_bins(feature) > 1; });
        list_bytes();
        if (space_.histogram_size != histogram_size()) space_.histograms.clear();
        space_.histogram_size = histogram_size();
    }

    GrownTree grow(std::span<double> outputs) {
        plant();
        while (splits_left() > 0) {
            const auto best = std::max_element(leaves_.begin(), leaves_.end(), [](const Leaf& a, const Leaf& b) {
                return a.best.gain < b.best.gain;
            });
            if (!may_split(*best)) break;
            if (best->sides.empty()) divide_ahead();
            split(*best);
        }
        finish(outputs);
        for (Leaf& leaf : leaves_) give_up(leaf);
        return std::move(tree_);
    }

  private:
    void plant() {
        Leaf& root = leaves_.emplace_back();
        root.sample = space_.sample;
        root.rest = space_.rest;
        if (limits_.max_leaves <= 1 || features_.empty()) return;
        const Worker worker{space_.scratch.front(), n_threads_};
        fill(root, worker);
        consider_splits(root, worker);
    }

    std::int32_t splits_left() const { return limits_.max_leaves - static_cast<std::int32_t>(leaves_.size()); }
    bool may_split(const Leaf& leaf) const { return leaf.best.gain > limits_.min_gain; }

    // Divides the leaf that gains most, and beside it those that come next, for they are likely to be split soon:
    // threads on leaves of their own wait for each other less than threads on one leaf.
    void divide_ahead() {
        std::vector<Leaf*> next;
        for (Leaf& leaf : leaves_)
            if (leaf.sides.empty() && may_split(leaf)) next.push_back(&leaf);
        std::stable_sort(next.begin(), next.end(),
                         [](const Leaf* a, const Leaf* b) { return a->best.gain > b->best.gain; });
        next.resize(std::min({next.size(), space_.scratch.size(), static_cast<std::size_t>(splits_left())}));
        if (next.size() == 1 || next[0]->n_rows() < kRowsAThread) {
            divide_leaf(*next[0], {space_.scratch[0], n_threads_});
        } else {
            const int each = std::max(1, n_threads_ / static_cast<int>(next.size()));
            parallel_for(next.size(), n_threads_,
                         [&](std::size_t i) { divide_leaf(*next[i], {space_.scratch[i], each}); });
        }
    }

    // The bytes in which the features are found, a slot of the histogram each.
    void list_bytes() {
        std::vector<std::uint32_t> slots(binned_.n_bytes, 0);
        for (const std::uint32_t feature : features_) slots[binned_.places[feature].byte] = 1;
        for (std::uint32_t byte = 0; byte < binned_.n_bytes; ++byte) {
            if (!slots[byte]) continue;
            slots[byte] = static_cast<std::uint32_t>(bytes_.size());
            bytes_.push_back(byte);
        }
        for (const std::uint32_t feature : features_)
            starts_.push_back(slots[binned_.places[feature].byte] * kBinStride);
        for (GrowthScratch& scratch : space_.scratch) scratch.levels.resize(features_.size() * kCoarseLevels);
    }

    // Coarse levels only tell which features promise most; so a sample may do that, and all rows decide.
    bool looks_at_all() const { return binned_.coarse && task_.sample.size() < binned_.n_rows; }

    std::size_t histogram_size() const { return bytes_.size() * kBinStride; }

    void fill(Leaf& leaf, const Worker& worker) {
        leaf.histogram = spare_histogram();
        fill_histogram(binned_, leaf.sample, space_.quantised.steps, bytes_, worker.n_threads,
                       {leaf.histogram.get(), histogram_size()});
        leaf.sum = 0;
        for (std::size_t value = 0; value < 256; ++value) leaf.sum += leaf.histogram[value];
    }

    using Histogram = std::unique_ptr<Packed[]>;

    Histogram spare_histogram() {
        {
            const std::lock_guard lock(histograms_);
            if (!space_.histograms.empty()) {
                Histogram spare = std::move(space_.histograms.back());
                space_.histograms.pop_back();
                return spare;
            }
        }
        return std::make_unique_for_overwrite<Packed[]>(histogram_size());
    }

    // Others may have the histograms of a leaf that will not be split.
    void give_up(Leaf& leaf) {
        for (Leaf& side : leaf.sides) give_up(side);
        if (leaf.histogram) keep(std::move(leaf.histogram));
    }

    void keep(Histogram spare) {
        const std::lock_guard lock(histograms_);
        space_.histograms.push_back(std::move(spare));
    }

    // Turns a divided leaf into a split and two leaves; the right one is new.
    void split(Leaf& leaf) {
        if (leaf.histogram) keep(std::move(leaf.histogram));
        const std::int32_t node = add_split(leaf, binned_, by_code(leaf.best), leaf.best.gain, tree_);
        std::vector<Leaf> sides = std::move(leaf.sides);
        for (Leaf& side : sides) side.parent = node;
        leaf = std::move(sides[0]);
        leaves_.push_back(std::move(sides[1]));
    }

    CodeSplit by_code(const Split& split) const { return {features_[split.slot], split.code, split.missing_left}; }

    // Finds the two sides of a leaf, and how each is best split.
    void divide_leaf(Leaf& leaf, const Worker& worker) {
        std::vector<Leaf> sides(2);
        Leaf &left = sides[0], &right = sides[1];
        left.is_left = true;
        send(leaf.sample, by_code(leaf.best), worker, left.sample, right.sample);
        send(leaf.rest, by_code(leaf.best), worker, left.rest, right.rest);
        constrain(leaf, left, right);
        if (splits_left() > 1) {
            sum_up(leaf, left, right, worker);
            for (Leaf& side : sides) consider_splits(side, worker);
        }
        leaf.sides = std::move(sides);
    }

    void consider_splits(Leaf& leaf, const Worker& worker) {
        find_best(leaf, worker);
        if (may_split(leaf)) return;
        leaf.best = {};
        give_up(leaf);
    }

    // The smaller side is added up row by row; the larger is what it leaves of the parent.
    void sum_up(Leaf& parent, Leaf& left, Leaf& right, const Worker& worker) {
        const bool left_is_smaller = left.sample.size() <= right.sample.size();
        Leaf& smaller = left_is_smaller ? left : right;
        Leaf& larger = left_is_smaller ? right : left;
        fill(smaller, worker);
        larger.sum = parent.sum - smaller.sum;
        larger.histogram = std::move(parent.histogram);
        for (std::size_t i = 0; i < histogram_size(); ++i) larger.histogram[i] -= smaller.histogram[i];
    }

    void send(Rows rows, const CodeSplit& split, const Worker& worker, Rows& left, Rows& right) {
        worker.scratch.buffer.resize(std::max(worker.scratch.buffer.size(), rows.size()));
        const std::size_t n_left = divide(binned_, split, rows, worker.scratch.buffer);
        left = rows.first(n_left);
        right = rows.subspan(n_left);
    }

    // Under a monotone constraint the two sides meet half way between their values.
    void constrain(const Leaf& parent, Leaf& left, Leaf& right) {
        left.low = right.low = parent.low;
        left.high = right.high = parent.high;
        const int direction = direction_of(parent.best.slot);
        if (direction == 0) return;
        (direction > 0 ? left.high : left.low) = parent.best.middle;
        (direction > 0 ? right.low : right.high) = parent.best.middle;
    }

    int direction_of(std::size_t slot) const {
        return task_.monotone.empty() ? 0 : task_.monotone[features_[slot]];
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
    void find_best(Leaf& leaf, const Worker& worker) {
        if (n_judged(leaf) / 2 < limits_.min_documents) return;
        const Judged screened{leaf.sum, space_.quantised, static_cast<std::int64_t>(leaf.sample.size())};
        std::vector<Candidate> candidates(features_.size());
        parallel_ranges(candidates.size(), std::max<std::size_t>(1, candidates.size() / 4),
                        worker.threads_for(leaf), [&](std::size_t first, std::size_t last) {
                            for (std::size_t slot = first; slot < last; ++slot) {
                                const Profile profile = level_sums(leaf, slot, worker);
                                candidates[slot] = {profile, scan(leaf, screened, slot, profile, {})};
                            }
                        });
        const Judged judged = refine(leaf, screened, candidates, worker);
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
    Judged refine(const Leaf& leaf, const Judged& screened, std::vector<Candidate>& candidates,
                  const Worker& worker) {
        const auto first = std::partition(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
            return !looks_at_all() && binned_.places[features_[candidate.best.slot]].exact;
        });
        if (first == candidates.end()) return screened;
        const auto last = first + std::min<std::ptrdiff_t>(kRefined, candidates.end() - first);
        std::partial_sort(first, last, candidates.end(),
                          [](const Candidate& a, const Candidate& b) { return b < a; });
        candidates.erase(last, candidates.end());
        std::vector<std::uint32_t> features;
        for (auto chosen = first; chosen != last; ++chosen) features.push_back(features_[chosen->best.slot]);
        const Judged judged = sum_codes(leaf, screened, features, worker);
        for (std::size_t i = 0; i < features.size(); ++i) {
            Candidate& chosen = first[static_cast<std::ptrdiff_t>(i)];
            const Packed* sums = worker.scratch.codes.data() + i * 256;
            chosen.profile = {sums, binned_.n_bins(features[i]), sums[kMissing]};
            chosen.best = scan(leaf, judged, chosen.best.slot, chosen.profile, {});
        }
        return judged;
    }

    // The sums of these features' codes, over all documents of the leaf if those are to decide.
    Judged sum_codes(const Leaf& leaf, const Judged& screened, std::span<const std::uint32_t> features,
                     const Worker& worker) {
        std::vector<Packed>& codes = worker.scratch.codes;
        codes.assign(features.size() * 256, 0);
        const Quantised& units = looks_at_all() ? space_.whole : space_.quantised;
        add_codes(binned_, leaf.sample, units.steps, features, worker.threads_for(leaf), codes);
        if (!looks_at_all()) return screened;
        add_codes(binned_, leaf.rest, units.steps, features, worker.threads_for(leaf), codes);
        return {std::accumulate(codes.begin(), codes.begin() + 256, Packed{0}), units, n_judged(leaf)};
    }

    std::int64_t n_judged(const Leaf& leaf) const {
        return static_cast<std::int64_t>(leaf.sample.size() + (looks_at_all() ? leaf.rest.size() : 0));
    }

    // What the leaf's histogram tells of a feature; the others that share its byte are added up.
    Profile level_sums(const Leaf& leaf, std::size_t slot, const Worker& worker) {
        const Place& place = binned_.places[features_[slot]];
        const Packed* byte = leaf.histogram.get() + starts_[slot];
        if (place.n_levels == 256) return {byte, binned_.n_bins(features_[slot]), byte[kMissing]};
        Packed* sums = worker.scratch.levels.data() + slot * kCoarseLevels;
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
        const std::uint8_t* codes = binned_.column(features_[slot]);
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
        std::array<int, 256> codes;  // the first, and those that documents have: others split no better
        Packed sum = 0;
        std::size_t n_splits = 0;
        for (int code = 0; code + 1 < profile.n_codes; ++code) {
            codes[n_splits] = code;
            below[n_splits] = sum += profile.sums[code];
            n_splits += code == 0 || profile.sums[code] != 0;
        }
        const auto& [all, units, _] = judged;
        const SplitTerms terms{all,        units.gradient_step, units.weight_step,
                               limits_.l2, limits_.min_weight,  worth(judged.sums(), leaf)};
        const auto size = static_cast<std::int64_t>(n_splits);
        split_gains(below.data(), size, terms, gains.data(), path_);
        if (profile.missing != 0) {
            for (std::size_t i = 0; i < n_splits; ++i) below[i] += profile.missing;
            split_gains(below.data(), size, terms, gains_with_missing.data(), path_);
        }
        Split best;
        best.slot = slot;
        for (std::size_t i = 0; i < n_splits; ++i) {
            if (gains[i] > best.gain) best = {gains[i], slot, codes[i], false, 0.0};
            if (profile.missing != 0 && gains_with_missing[i] > best.gain)
                best = {gains_with_missing[i], slot, codes[i], true, 0.0};
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
        const double left_value = value_of(left, leaf), right_value = value_of(right, leaf);
        if (direction_of(slot) * (right_value - left_value) < 0.0) return;
        const double gain = worth(left, leaf) + worth(right, leaf) - whole;
        if (gain > best.gain) best = {gain, slot, code, missing_left, (left_value + right_value) / 2.0};
    }

    // A value that was never missing in training goes, when it is, with most of the documents.
    static bool left_is_heavier(const Packed* sums, int code, Packed all) {
        Packed below = 0;
        for (int c = 0; c <= code; ++c) below += sums[c];
        return 2 * weight_of(below) >= weight_of(all);
    }

    // Values come from sums in row order, run by run: leaf by leaf, rows would be fetched from all over memory.
    void finish(std::span<double> outputs) {
        const std::size_t n_leaves = leaves_.size(), n_rows = binned_.n_rows;
        const int n_threads = n_rows >= kRowsAThread ? n_threads_ : 1;
        space_.leaf_of_row.resize(n_rows);
        parallel_for(n_leaves, n_threads, [&](std::size_t leaf) {
            for (const Rows& rows : {leaves_[leaf].sample, leaves_[leaf].rest})
                for (const std::uint32_t row : rows) space_.leaf_of_row[row] = static_cast<std::uint32_t>(leaf);
        });
        std::vector<Sums> sums((n_rows + kRowsARun - 1) / kRowsARun * n_leaves);
        parallel_ranges(n_rows, kRowsARun, n_threads, [&](std::size_t first, std::size_t last) {
            Sums* own = sums.data() + first / kRowsARun * n_leaves;
            for (std::size_t row = first; row < last; ++row) {
                Sums& sum = own[space_.leaf_of_row[row]];
                sum.gradient += task_.gradient[row];
                sum.weight += task_.hessian[row];
            }
        });
        for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) finish_leaf(leaf, sums);
        parallel_ranges(n_rows, kRowsARun, n_threads, [&](std::size_t first, std::size_t last) {
            for (std::size_t row = first; row < last; ++row)
                outputs[row] = tree_.leaf_value[space_.leaf_of_row[row]];
        });
    }

    void finish_leaf(std::size_t place, std::span<const Sums> runs) {
        const Leaf& leaf = leaves_[place];
        Sums sum;
        for (std::size_t run = place; run < runs.size(); run += leaves_.size()) {
            sum.gradient += runs[run].gradient;
            sum.weight += runs[run].weight;
        }
        link(leaf, -1 - static_cast<std::int32_t>(place), tree_);
        tree_.leaf_value.push_back(value_of(sum, leaf));
        tree_.cover.push_back(static_cast<double>(leaf.n_rows()));
    }

    const BinnedMatrix& binned_;
    const GrowthTask& task_;
    const GrowthLimits& limits_;
    const int n_threads_;
    GrowthWorkspace& space_;
    const VectorPath path_ = widest_path();
    std::vector<std::uint32_t> features_;  // that have different values
    std::vector<std::uint32_t> bytes_;     // that histograms are made of
    std::vector<std::size_t> starts_;      // where the sums of each feature's byte begin
    std::vector<Leaf> leaves_;
    std::mutex histograms_;  // guards the spare ones
    GrownTree tree_;
};

}  // namespace

GrownTree grow_tree(const BinnedMatrix& binned, const GrowthTask& task, const GrowthLimits& limits, int n_threads,
                    GrowthWorkspace& workspace, std::span<double> outputs) {
    return TreeGrower(binned, task, limits, n_threads, workspace).grow(outputs);
}

}  // namespace rankwright
