#include "rankwright/classes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "rankwright/threads.hpp"

namespace rankwright {
namespace {

using Sum = std::int64_t;
using Sums = std::vector<Sum>;
using Votes = std::vector<std::int8_t>;

constexpr int kBits = 52;
constexpr std::size_t kCodes = 256;
constexpr std::size_t kRowsAThread = 2000;

std::int8_t sign(Sum sum) { return sum < 0 ? -1 : 1; }

struct Stump : CodeSplit {
    Sum edge = -1;
    Votes left, right;
};

// Signed weights as whole numbers, sums of them a code, and the best stump those sums allow.
class StumpFinder {
  public:
    StumpFinder(const BinnedMatrix& binned, const ClassTask& task, int n_threads, ClassWorkspace& space)
        : binned_(binned),
          n_classes_(task.n_classes),
          opposite_(task.opposite),
          n_threads_(n_threads),
          stride_(kCodes * task.n_classes + 8),  // padded: the same codes of all features share no cache set
          space_(space) {
        if (space_.histogram_size != binned.n_features * stride_) space_.histograms.clear();
        space_.histogram_size = binned.n_features * stride_;
        quantise(task.signed_weights);
    }

    double step() const { return step_; }

    std::unique_ptr<Sum[]> take_histogram() {
        if (space_.histograms.empty())
            return std::make_unique_for_overwrite<Sum[]>(std::max<std::size_t>(1, space_.histogram_size));
        auto histogram = std::move(space_.histograms.back());
        space_.histograms.pop_back();
        return histogram;
    }

    void give_back(std::unique_ptr<Sum[]> histogram) { space_.histograms.push_back(std::move(histogram)); }

    void fill(std::span<const std::uint32_t> rows, Sum* histogram) const {
        std::fill_n(histogram, space_.histogram_size, Sum{0});
        switch (n_classes_) {
            case 2:
                return fill_classes<2>(rows, histogram);
            case 3:
                return fill_classes<3>(rows, histogram);
            case 4:
                return fill_classes<4>(rows, histogram);
            case 5:
                return fill_classes<5>(rows, histogram);
            default:
                return fill_classes<0>(rows, histogram);
        }
    }

    void subtract(const Sum* part, Sum* whole) const {
        for (std::size_t i = 0; i < space_.histogram_size; ++i) whole[i] -= part[i];
    }

    Sums totals(std::span<const std::uint32_t> rows) const {
        Sums totals(n_classes_);
        for (const std::uint32_t row : rows)
            for (std::size_t k = 0; k < n_classes_; ++k) totals[k] += space_.weights[row * n_classes_ + k];
        return totals;
    }

    Stump best(const Sum* histogram, const Sums& totals) const {
        std::vector<Stump> candidates(binned_.n_features);
        parallel_ranges(candidates.size(), features_a_thread(), n_threads_,
                        [&](std::size_t first, std::size_t last) {
                            for (std::size_t feature = first; feature < last; ++feature)
                                candidates[feature] = scan(feature, histogram + feature * stride_, totals);
                        });
        auto winner = std::max_element(candidates.begin(), candidates.end(),
                                       [](const Stump& a, const Stump& b) { return a.edge < b.edge; });
        if (winner == candidates.end() || winner->code < 0) return {};
        vote(histogram + winner->feature * stride_, totals, *winner);
        return std::move(*winner);
    }

  private:
    void quantise(std::span<const double> weights) {
        double total = 0.0;
        for (const double weight : weights) total += std::abs(weight);
        const int exponent = total > 0.0 ? kBits - std::ilogb(total) : 0;
        step_ = std::ldexp(1.0, -exponent);
        space_.weights.resize(weights.size());
        for (std::size_t i = 0; i < weights.size(); ++i)
            space_.weights[i] = std::llrint(std::ldexp(weights[i], exponent));
    }

    std::size_t features_a_thread() const {
        const auto threads = static_cast<std::size_t>(std::max(1, n_threads_));
        return std::max<std::size_t>(1, (binned_.n_features + threads - 1) / threads);
    }

    template <std::size_t Classes>
    void fill_classes(std::span<const std::uint32_t> rows, Sum* histogram) const {
        const std::size_t n_classes = Classes ? Classes : n_classes_;
        const int n_threads = rows.size() < kRowsAThread ? 1 : n_threads_;
        parallel_ranges(binned_.n_features, features_a_thread(), n_threads,
                        [&](std::size_t first, std::size_t last) {
                            for (const std::uint32_t row : rows) {
                                const std::uint8_t* codes = binned_.row(row);
                                const Sum* weights = space_.weights.data() + row * n_classes;
                                for (std::size_t feature = first; feature < last; ++feature) {
                                    Sum* sums = histogram + feature * stride_ + codes[feature] * n_classes;
                                    for (std::size_t k = 0; k < n_classes; ++k) sums[k] += weights[k];
                                }
                            }
                        });
    }

    // The best split of one feature, its votes left for later.
    Stump scan(std::size_t feature, const Sum* sums, const Sums& totals) const {
        switch (n_classes_) {
            case 2:
                return scan_classes<2>(feature, sums, totals);
            case 3:
                return scan_classes<3>(feature, sums, totals);
            case 4:
                return scan_classes<4>(feature, sums, totals);
            case 5:
                return scan_classes<5>(feature, sums, totals);
            default:
                return scan_classes<0>(feature, sums, totals);
        }
    }

    template <std::size_t Classes>
    Stump scan_classes(std::size_t feature, const Sum* sums, const Sums& totals) const {
        const std::size_t n_classes = Classes ? Classes : n_classes_;
        const Sum* missing = sums + kMissing * n_classes;
        const bool any_missing = std::any_of(missing, missing + n_classes, [](Sum sum) { return sum != 0; });
        Sums below(n_classes), with_missing(n_classes);
        Stump best;
        best.feature = feature;
        for (int code = 0; code + 1 < binned_.n_bins(feature); ++code) {
            for (std::size_t k = 0; k < n_classes; ++k)
                below[k] += sums[static_cast<std::size_t>(code) * n_classes + k];
            consider<Classes>(code, false, below.data(), totals.data(), best);
            if (!any_missing) continue;
            for (std::size_t k = 0; k < n_classes; ++k) with_missing[k] = below[k] + missing[k];
            consider<Classes>(code, true, with_missing.data(), totals.data(), best);
        }
        return best;
    }

    template <std::size_t Classes>
    void consider(int code, bool missing_left, const Sum* left, const Sum* totals, Stump& best) const {
        const std::size_t n_classes = Classes ? Classes : n_classes_;
        Sum edge = 0;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const Sum right = totals[k] - left[k];
            edge += opposite_ ? std::abs(right - left[k]) : std::abs(left[k]) + std::abs(right);
        }
        if (edge <= best.edge) return;
        best.edge = edge;
        best.code = code;
        best.missing_left = missing_left;
    }

    void vote(const Sum* sums, const Sums& totals, Stump& stump) const {
        stump.left.resize(n_classes_);
        stump.right.resize(n_classes_);
        for (std::size_t k = 0; k < n_classes_; ++k) {
            Sum left = stump.missing_left ? sums[kMissing * n_classes_ + k] : 0;
            for (int code = 0; code <= stump.code; ++code)
                left += sums[static_cast<std::size_t>(code) * n_classes_ + k];
            const Sum right = totals[k] - left;
            stump.left[k] = opposite_ ? sign(left - right) : sign(left);
            stump.right[k] = opposite_ ? static_cast<std::int8_t>(-stump.left[k]) : sign(right);
        }
    }

    const BinnedMatrix& binned_;
    const std::size_t n_classes_;
    const bool opposite_;
    const int n_threads_;
    const std::size_t stride_;
    double step_ = 0.0;
    ClassWorkspace& space_;
};

Sum edge_of(const Sums& totals, const Votes& votes) {
    Sum edge = 0;
    for (std::size_t k = 0; k < totals.size(); ++k) edge += totals[k] * votes[k];
    return edge;
}

Votes best_constant(const Sums& totals) {
    Votes votes(totals.size());
    std::transform(totals.begin(), totals.end(), votes.begin(), sign);
    return votes;
}

std::span<std::uint32_t> all_rows(const BinnedMatrix& binned, ClassWorkspace& space) {
    space.rows.resize(binned.n_rows);
    space.buffer.resize(binned.n_rows);
    for (std::size_t row = 0; row < binned.n_rows; ++row) space.rows[row] = static_cast<std::uint32_t>(row);
    return space.rows;
}

struct Leaf : Twig {
    std::span<std::uint32_t> rows;
    std::unique_ptr<Sum[]> histogram;
    Sums totals;
    Votes votes;
    Sum edge = 0;  // of these votes
    Stump best;

    Sum gain() const { return best.code < 0 ? 0 : best.edge - edge; }
};

class ClassTreeGrower {
  public:
    ClassTreeGrower(const BinnedMatrix& binned, const ClassTask& task, int n_threads, ClassWorkspace& space)
        : binned_(binned), space_(space), finder_(binned, task, n_threads, space) {}

    ClassTree grow(std::int32_t max_leaves, std::span<double> votes_of_rows) {
        plant();
        while (static_cast<std::int32_t>(leaves_.size()) < max_leaves) {
            const auto best = std::max_element(leaves_.begin(), leaves_.end(),
                                               [](const Leaf& a, const Leaf& b) { return a.gain() < b.gain(); });
            if (best->gain() <= 0) break;
            split(static_cast<std::size_t>(best - leaves_.begin()));
        }
        for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) finish(leaf, votes_of_rows);
        return std::move(tree_);
    }

  private:
    // The root alone would vote by its sums; as long as it may split, it has no edge to lose.
    void plant() {
        Leaf root;
        root.rows = all_rows(binned_, space_);
        root.totals = finder_.totals(root.rows);
        root.votes = best_constant(root.totals);
        root.histogram = finder_.take_histogram();
        finder_.fill(root.rows, root.histogram.get());
        root.best = finder_.best(root.histogram.get(), root.totals);
        leaves_.push_back(std::move(root));
    }

    // Turns a leaf into a split and two leaves; the right one is new. The smaller side is added up row by row, the
    // larger is what it leaves of the parent.
    void split(std::size_t place) {
        Leaf parent = std::move(leaves_[place]);
        const double gain = static_cast<double>(parent.gain()) * finder_.step();
        const std::int32_t node = add_split(parent, binned_, parent.best, gain, tree_);
        Leaf left, right;
        left.parent = right.parent = node;
        left.is_left = true;
        left.votes = parent.best.left;
        right.votes = parent.best.right;
        const std::size_t n_left = divide(binned_, parent.best, parent.rows, space_.buffer);
        left.rows = parent.rows.first(n_left);
        right.rows = parent.rows.subspan(n_left);
        Leaf& smaller = left.rows.size() <= right.rows.size() ? left : right;
        Leaf& larger = left.rows.size() <= right.rows.size() ? right : left;
        smaller.histogram = finder_.take_histogram();
        finder_.fill(smaller.rows, smaller.histogram.get());
        finder_.subtract(smaller.histogram.get(), parent.histogram.get());
        larger.histogram = std::move(parent.histogram);
        for (Leaf* leaf : {&left, &right}) {
            leaf->totals = finder_.totals(leaf->rows);
            leaf->edge = edge_of(leaf->totals, leaf->votes);
            leaf->best = finder_.best(leaf->histogram.get(), leaf->totals);
        }
        leaves_[place] = std::move(left);
        leaves_.push_back(std::move(right));
    }

    void finish(std::size_t place, std::span<double> votes_of_rows) {
        Leaf& leaf = leaves_[place];
        finder_.give_back(std::move(leaf.histogram));
        link(leaf, -1 - static_cast<std::int32_t>(place), tree_);
        tree_.cover.push_back(static_cast<double>(leaf.rows.size()));
        tree_.votes.insert(tree_.votes.end(), leaf.votes.begin(), leaf.votes.end());
        for (const std::uint32_t row : leaf.rows)
            std::copy(leaf.votes.begin(), leaf.votes.end(), votes_of_rows.begin() + row * leaf.votes.size());
    }

    const BinnedMatrix& binned_;
    ClassWorkspace& space_;
    StumpFinder finder_;
    std::vector<Leaf> leaves_;
    ClassTree tree_;
};

// Which values of the features can still arrive at a cell of a product.
struct Arrivals {
    int lowest = 0, highest = kMissing - 1;
    bool missing = true;
};

class ProductFitter {
  public:
    ProductFitter(const BinnedMatrix& binned, const ClassTask& task, std::int32_t max_terms, int n_threads,
                  ClassWorkspace& space)
        : binned_(binned),
          n_classes_(task.n_classes),
          space_(space),
          finder_(binned, task, n_threads, space),
          terms_(static_cast<std::size_t>(max_terms), constant(Votes(task.n_classes, 1))) {}

    ClassTree fit(std::span<double> votes_of_rows) {
        const auto rows = all_rows(binned_, space_);
        auto histogram = finder_.take_histogram();
        std::size_t settled = 0;  // terms in a row that could not be bettered
        for (std::size_t term = 0; settled < terms_.size(); term = (term + 1) % terms_.size())
            settled = refit(term, rows, histogram.get()) ? 1 : settled + 1;
        finder_.give_back(std::move(histogram));
        drop_constants();
        std::vector<Arrivals> arrivals(binned_.n_features);
        add_cell(0, {}, constants_, arrivals);
        gather(votes_of_rows);
        return std::move(tree_);
    }

  private:
    static Stump constant(Votes votes) {
        Stump stump;
        stump.left = stump.right = std::move(votes);
        return stump;
    }

    // Fits a term to the signed weights times the other terms' votes; returns whether the edge has grown. The
    // weights are kept multiplied by all terms.
    bool refit(std::size_t place, std::span<const std::uint32_t> rows, Sum* histogram) {
        multiply(terms_[place]);
        finder_.fill(rows, histogram);
        const Sums totals = finder_.totals(rows);
        Stump best = constant(best_constant(totals));
        best.edge = edge_of(totals, best.left);
        if (Stump stump = finder_.best(histogram, totals); stump.edge > best.edge) best = std::move(stump);
        const bool better = best.edge > edge_;
        if (better) {
            edge_ = best.edge;
            terms_[place] = std::move(best);
        }
        multiply(terms_[place]);
        return better;
    }

    void multiply(const Stump& stump) {
        const std::uint8_t* codes = binned_.column(stump.feature);
        for (std::size_t row = 0; row < binned_.n_rows; ++row) {
            const Votes& votes = stump.sends_left(codes[row]) ? stump.left : stump.right;
            for (std::size_t k = 0; k < n_classes_; ++k) space_.weights[row * n_classes_ + k] *= votes[k];
        }
    }

    void drop_constants() {
        constants_.assign(n_classes_, 1);
        for (const Stump& term : terms_)
            if (term.code < 0) constants_ = product(constants_, term.left);
        std::erase_if(terms_, [](const Stump& term) { return term.code < 0; });
        gain_ = static_cast<double>(edge_) * finder_.step() /
                static_cast<double>(std::max<std::size_t>(1, terms_.size()));
    }

    static Votes product(const Votes& a, const Votes& b) {
        Votes both(a.size());
        for (std::size_t k = 0; k < a.size(); ++k) both[k] = static_cast<std::int8_t>(a[k] * b[k]);
        return both;
    }

    // Adds the cells that the terms from `place` on divide this one into; a term that sends all one way is passed
    // over. The edge is shared among the terms as their gain, and a term's first split has all of it.
    void add_cell(std::size_t place, const Twig& twig, const Votes& votes, std::vector<Arrivals>& arrivals) {
        if (place == terms_.size()) return add_leaf(twig, votes);
        const Stump& term = terms_[place];
        Arrivals& own = arrivals[term.feature];
        const bool any_left = own.lowest <= term.code || (own.missing && term.missing_left);
        const bool any_right = own.highest > term.code || (own.missing && !term.missing_left);
        if (!any_left || !any_right) {
            add_cell(place + 1, twig, product(votes, any_left ? term.left : term.right), arrivals);
            return;
        }
        const std::int32_t node = add_split(twig, binned_, term, place < counted_ ? 0.0 : gain_, tree_);
        term_of_split_.push_back(place);
        counted_ = std::max(counted_, place + 1);
        const Arrivals before = own;
        own = {before.lowest, std::min(before.highest, term.code), before.missing && term.missing_left};
        add_cell(place + 1, {node, true}, product(votes, term.left), arrivals);
        own = {std::max(before.lowest, term.code + 1), before.highest, before.missing && !term.missing_left};
        add_cell(place + 1, {node, false}, product(votes, term.right), arrivals);
        own = before;
    }

    void add_leaf(const Twig& twig, const Votes& votes) {
        link(twig, -1 - static_cast<std::int32_t>(tree_.cover.size()), tree_);
        tree_.cover.push_back(0.0);
        tree_.votes.insert(tree_.votes.end(), votes.begin(), votes.end());
    }

    void gather(std::span<double> votes_of_rows) {
        for (std::size_t row = 0; row < binned_.n_rows; ++row) {
            const std::size_t leaf = leaf_of(row);
            tree_.cover[leaf] += 1.0;
            std::copy_n(tree_.votes.begin() + static_cast<std::ptrdiff_t>(leaf * n_classes_), n_classes_,
                        votes_of_rows.begin() + static_cast<std::ptrdiff_t>(row * n_classes_));
        }
    }

    std::size_t leaf_of(std::size_t row) const {
        const std::uint8_t* codes = binned_.row(row);
        std::int32_t node = tree_.feature.empty() ? -1 : 0;
        while (node >= 0) {
            const auto split = static_cast<std::size_t>(node);
            const Stump& term = terms_[term_of_split_[split]];
            node = term.sends_left(codes[term.feature]) ? tree_.left[split] : tree_.right[split];
        }
        return static_cast<std::size_t>(-1 - node);
    }

    const BinnedMatrix& binned_;
    const std::size_t n_classes_;
    ClassWorkspace& space_;
    StumpFinder finder_;
    std::vector<Stump> terms_;
    Votes constants_;
    Sum edge_ = 0;
    double gain_ = 0.0;
    std::size_t counted_ = 0;  // terms whose gain some split has
    std::vector<std::size_t> term_of_split_;
    ClassTree tree_;
};

}  // namespace

ClassTree grow_class_tree(const BinnedMatrix& binned, const ClassTask& task, std::int32_t max_leaves,
                          int n_threads, ClassWorkspace& workspace, std::span<double> votes_of_rows) {
    return ClassTreeGrower(binned, task, n_threads, workspace).grow(max_leaves, votes_of_rows);
}

ClassTree fit_product(const BinnedMatrix& binned, const ClassTask& task, std::int32_t max_terms, int n_threads,
                      ClassWorkspace& workspace, std::span<double> votes_of_rows) {
    return ProductFitter(binned, task, max_terms, n_threads, workspace).fit(votes_of_rows);
}

}  // namespace rankwright
