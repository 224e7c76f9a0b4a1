#include "rankwright/grow_vector.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "rankwright/sampling.hpp"
#include "rankwright/threads.hpp"

namespace rankwright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kCodes = 256;
// Below so many additions, waking another thread takes longer than it saves.
constexpr std::size_t kAdditionsAThread = 200'000;

struct Split {
    double gain = -kInfinity;
    std::size_t slot = 0;  // of the feature among those that may be split on
    int code = 0;          // the last that goes left
    bool missing_left = false;
};

using Rows = std::span<std::uint32_t>;
using Sums = std::vector<Packed>;  // of each class, and last the number of documents

struct Leaf : Twig {
    Rows sample, rest;  // slices of the grower's row lists
    std::unique_ptr<Packed[]> histogram;
    Sums sum;
    Split best;
};

// With the width known when this is compiled, a row's sums are added without a loop.
template <std::size_t kWidth>
void add_rows(const std::uint8_t* codes, std::span<const std::uint32_t> rows, const Packed* packed,
              std::size_t width, Packed* sums) {
    const std::size_t n = kWidth ? kWidth : width;
    for (const std::uint32_t row : rows) {
        Packed* to = sums + codes[row] * n;
        const Packed* own = packed + row * n;
        for (std::size_t k = 0; k < n; ++k) to[k] += own[k];
    }
}

using AddRows = decltype(&add_rows<0>);

AddRows adder_for(std::size_t width) {
    constexpr AddRows adders[] = {add_rows<0>, add_rows<0>, add_rows<2>, add_rows<3>,
                                  add_rows<4>, add_rows<5>, add_rows<6>};
    return width < std::size(adders) ? adders[width] : add_rows<0>;
}

class VectorGrower {
  public:
    VectorGrower(const BinnedMatrix& binned, const VectorGrowthTask& task, const GrowthLimits& limits,
                 int n_threads, VectorWorkspace& workspace)
        : binned_(binned),
          task_(task),
          limits_(limits),
          n_threads_(n_threads),
          space_(workspace),
          width_(task.n_classes + 1),
          add_rows_(adder_for(width_)) {
        quantise_classes();
        space_.sample.assign(task.sample.begin(), task.sample.end());
        leave_out(task.sample, binned.n_rows, space_.rest);
        space_.buffer.resize(std::max(space_.sample.size(), space_.rest.size()));
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
        for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) finish(leaf, outputs);
        return std::move(tree_);
    }

  private:
    void quantise_classes() {
        const std::size_t n = binned_.n_rows;
        space_.packed.resize(n * width_);
        space_.gradient_step.resize(task_.n_classes);
        space_.weight_step.resize(task_.n_classes);
        for (std::size_t k = 0; k < task_.n_classes; ++k) {
            quantise(task_.gradient.subspan(k * n, n), task_.hessian.subspan(k * n, n), task_.sample,
                     task_.sample_weights, limits_.levels, n_threads_, space_.quantised);
            space_.gradient_step[k] = space_.quantised.gradient_step;
            space_.weight_step[k] = space_.quantised.weight_step;
            for (const std::uint32_t row : task_.sample)
                space_.packed[row * width_ + k] = pack(space_.quantised.steps[row]);
        }
        for (const std::uint32_t row : task_.sample) space_.packed[row * width_ + task_.n_classes] = 1;
    }

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

    std::size_t feature_size() const { return kCodes * width_; }
    std::size_t histogram_size() const { return task_.features.size() * feature_size(); }

    void fill(Leaf& leaf) {
        if (space_.histograms.empty())
            space_.histograms.push_back(std::make_unique_for_overwrite<Packed[]>(histogram_size()));
        leaf.histogram = std::move(space_.histograms.back());
        space_.histograms.pop_back();
        for_features(leaf.sample.size() * width_, [&](std::size_t slot) {
            Packed* sums = leaf.histogram.get() + slot * feature_size();
            std::fill_n(sums, feature_size(), Packed{0});
            add_rows_(binned_.column(task_.features[slot]), leaf.sample, space_.packed.data(), width_, sums);
        });
        leaf.sum.assign(width_, 0);
        for (std::size_t i = 0; i < feature_size(); ++i) leaf.sum[i % width_] += leaf.histogram[i];
    }

    // Each thread has features of its own, so that nothing needs adding up afterwards.
    template <class Body>
    void for_features(std::size_t additions_a_feature, const Body& body) const {
        const std::size_t useful = task_.features.size() * additions_a_feature / kAdditionsAThread;
        parallel_for(task_.features.size(), useful > 1 ? n_threads_ : 1, body);
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
        if (static_cast<std::int32_t>(leaves_.size()) + 1 < limits_.max_leaves) {
            sum_up(parent, left, right);
            consider_splits(left);
            consider_splits(right);
        } else {  // neither will be split
            space_.histograms.push_back(std::move(parent.histogram));
        }
        leaves_[place] = std::move(left);
        leaves_.push_back(std::move(right));
    }

    // The smaller side is added up row by row; the larger is what it leaves of the parent.
    void sum_up(Leaf& parent, Leaf& left, Leaf& right) {
        const bool left_is_smaller = left.sample.size() <= right.sample.size();
        Leaf& smaller = left_is_smaller ? left : right;
        Leaf& larger = left_is_smaller ? right : left;
        fill(smaller);
        larger.sum = std::move(parent.sum);
        for (std::size_t k = 0; k < width_; ++k) larger.sum[k] -= smaller.sum[k];
        larger.histogram = std::move(parent.histogram);
        for (std::size_t i = 0; i < histogram_size(); ++i) larger.histogram[i] -= smaller.histogram[i];
    }

    void send(Rows rows, const CodeSplit& split, Rows& left, Rows& right) {
        const std::size_t n_left = divide(binned_, split, rows, space_.buffer);
        left = rows.first(n_left);
        right = rows.subspan(n_left);
    }

    // A leaf that will not be split needs its histogram no more: others may have it.
    void consider_splits(Leaf& leaf) {
        find_best(leaf);
        if (leaf.best.gain > limits_.min_gain) return;
        leaf.best = {};
        if (leaf.histogram) space_.histograms.push_back(std::move(leaf.histogram));
    }

    // The best split of every feature, and of those the first with the highest gain.
    void find_best(Leaf& leaf) {
        if (static_cast<std::int64_t>(leaf.sample.size() / 2) < limits_.min_documents) return;
        std::vector<Split> candidates(task_.features.size());
        for_features(feature_size(), [&](std::size_t slot) { candidates[slot] = scan(leaf, slot); });
        for (const Split& candidate : candidates)
            if (candidate.gain > leaf.best.gain) leaf.best = candidate;
    }

    Split scan(const Leaf& leaf, std::size_t slot) const {
        const Packed* sums = leaf.histogram.get() + slot * feature_size();
        const Packed* missing = sums + kMissing * width_;
        const int last_code = binned_.n_bins(task_.features[slot]) - 1;
        const double whole = worth(leaf.sum);
        Split best;
        bool heavier_left = false;
        Sums below(width_, 0), left(width_), right(width_);
        const auto consider = [&](int code, bool missing_left) {
            for (std::size_t k = 0; k < width_; ++k) {
                left[k] = below[k] + (missing_left ? missing[k] : 0);
                right[k] = leaf.sum[k] - left[k];
            }
            if (!is_enough(left) || !is_enough(right)) return;
            const double gain = worth(left) + worth(right) - whole;
            if (!(gain > best.gain)) return;
            best = {gain, slot, code, missing_left};
            heavier_left = left.back() >= right.back();
        };
        for (int code = 0; code < last_code; ++code) {
            const Packed* own = sums + static_cast<std::size_t>(code) * width_;
            if (own[width_ - 1] == 0 && below.back() != 0) continue;  // no better than the code before
            for (std::size_t k = 0; k < width_; ++k) below[k] += own[k];
            consider(code, false);
            if (missing[width_ - 1] != 0) consider(code, true);
        }
        // A value that was never missing in training goes, when it is, with most of the documents.
        if (missing[width_ - 1] == 0) best.missing_left = heavier_left;
        return best;
    }

    bool is_enough(const Sums& sums) const {
        if (sums.back() < limits_.min_documents) return false;
        double weight = 0.0;
        for (std::size_t k = 0; k < task_.n_classes; ++k) weight += weight_of_class(sums, k);
        return weight > 0.0 && weight >= limits_.min_weight;
    }

    double worth(const Sums& sums) const {
        double all = 0.0;
        for (std::size_t k = 0; k < task_.n_classes; ++k) {
            const double gradient = static_cast<double>(gradient_of(sums[k])) * space_.gradient_step[k];
            const double weight = weight_of_class(sums, k) + limits_.l2;
            if (weight > 0.0) all += gradient * gradient / weight;
        }
        return all;
    }

    double weight_of_class(const Sums& sums, std::size_t k) const {
        return static_cast<double>(weight_of(sums[k])) * space_.weight_step[k];
    }

    void finish(std::size_t place, std::span<double> outputs) {
        Leaf& leaf = leaves_[place];
        if (leaf.histogram) space_.histograms.push_back(std::move(leaf.histogram));
        link(leaf, -1 - static_cast<std::int32_t>(place), tree_);
        for (std::size_t k = 0; k < task_.n_classes; ++k) tree_.leaf_value.push_back(give_value(leaf, k, outputs));
        tree_.cover.push_back(static_cast<double>(leaf.sample.size() + leaf.rest.size()));
    }

    double give_value(const Leaf& leaf, std::size_t k, std::span<double> outputs) const {
        const std::size_t first = k * binned_.n_rows;
        double gradient = 0.0, weight = limits_.l2;
        for (const Rows& rows : {leaf.sample, leaf.rest})
            for (const std::uint32_t row : rows) {
                gradient += task_.gradient[first + row];
                weight += task_.hessian[first + row];
            }
        const double value = weight > 0.0 ? gradient / weight : 0.0;
        for (const Rows& rows : {leaf.sample, leaf.rest})
            for (const std::uint32_t row : rows) outputs[first + row] = value;
        return value;
    }

    const BinnedMatrix& binned_;
    const VectorGrowthTask& task_;
    const GrowthLimits& limits_;
    const int n_threads_;
    VectorWorkspace& space_;
    const std::size_t width_;  // packed numbers a row: one a class and the count
    const AddRows add_rows_;
    std::vector<Leaf> leaves_;
    GrownTree tree_;
};

}  // namespace

GrownTree grow_vector_tree(const BinnedMatrix& binned, const VectorGrowthTask& task, const GrowthLimits& limits,
                           int n_threads, VectorWorkspace& workspace, std::span<double> outputs) {
    return VectorGrower(binned, task, limits, n_threads, workspace).grow(outputs);
}

}  // namespace rankwright
