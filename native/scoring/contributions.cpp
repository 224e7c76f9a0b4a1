#include "scoring/contributions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

// Number of documents that are processed together: enough to share the cost of a split's factors, few enough
// that the data of a tree of 31 leaves stay in the first-level cache.
constexpr std::size_t kBlock = 32;

using Lanes = std::array<double, kBlock>;

// A quadrature point in [0, 1].
struct Point {
    double t, rest;  // rest = 1 - t, computed without cancellation
    double weight;
};

// One of the two branches of a split: 0 is left, 1 is right.
struct Branch {
    std::int32_t child;  // a split, or a leaf if negative
    double leaf_value;
    double fraction;  // fraction of the split's documents
    double z;         // product of the fractions of all branches on this feature, down to this one
};

struct Split {
    std::size_t feature;
    float threshold;
    LevelSet set;  // empty if it has a threshold
    bool missing_left;
    std::int64_t above;  // the last branch on the same feature above this split, 2 x split + branch; -1 if none
    double z_above;
    std::array<Branch, 2> branches;
};

struct Tree {
    std::vector<Split> splits;
    const std::vector<Point>* points;
};

struct Plan {
    std::vector<Tree> trees;
    std::map<std::size_t, std::vector<Point>> quadratures;  // by number of points
    double expected = 0.0;
    std::size_t most_splits = 0;
};

// A zero of the Legendre polynomial of degree n near x, and the derivative there.
std::pair<double, double> legendre_zero(std::size_t n, double x) {
    double slope = 0.0;
    for (int step = 0; step < 6; ++step) {
        double value = x, previous = 1.0;
        for (std::size_t k = 2; k <= n; ++k) {
            const auto order = static_cast<double>(k);
            previous = std::exchange(value, ((2 * order - 1) * x * value - (order - 1) * previous) / order);
        }
        slope = static_cast<double>(n) * (x * value - previous) / (x * x - 1.0);
        x -= value / slope;
    }
    return {x, slope};
}

std::vector<Point> gauss_legendre(std::size_t n) {
    std::vector<Point> points;
    for (std::size_t k = 0; k < n; ++k) {
        const double guess =
            std::cos(std::numbers::pi * (static_cast<double>(k) + 0.75) / (static_cast<double>(n) + 0.5));
        const auto [x, slope] = legendre_zero(n, guess);
        points.push_back({(1.0 - x) / 2, (1.0 + x) / 2, 1.0 / ((1.0 - x * x) * slope * slope)});
    }
    return points;
}

// Up to 144 features on a path the quadrature is exact. For more features this number of points is accurate to the
// last digits: the integrand is a mixture of binomial bumps, none narrower than 1 / (2 sqrt(n)), which these
// points resolve.
std::size_t points_for(std::size_t n_features) {
    const auto enough = static_cast<std::size_t>(6.0 * std::sqrt(static_cast<double>(n_features)));
    return std::min((n_features + 1) / 2, enough);
}

std::vector<Split> read_splits(const CoveredTrees& trees, std::size_t begin, std::size_t end, Doubles leaves) {
    std::vector<Split> splits;
    for (std::size_t split = begin; split < end; ++split) {
        const auto branch = [&](std::int32_t child) {
            return Branch{child, child < 0 ? leaves[static_cast<std::size_t>(-1 - child)] : 0.0, 0.5, 1.0};
        };
        splits.push_back({static_cast<std::size_t>(trees.feature[split]),
                          trees.threshold[split],
                          trees.sets[split],
                          trees.missing_left[split] != 0,
                          -1,
                          1.0,
                          {branch(trees.left[split]), branch(trees.right[split])}});
    }
    return splits;
}

void set_fractions(std::vector<Split>& splits, Doubles covers) {
    // Fewer than 2^32 covers, none above 2^991, have a finite sum.
    const double scale = *std::max_element(covers.begin(), covers.end()) > 0x1p991 ? 0x1p-33 : 1.0;
    std::vector<double> reached(splits.size());
    const auto cover = [&](std::int32_t child) {
        return child >= 0 ? reached[static_cast<std::size_t>(child)]
                          : scale * covers[static_cast<std::size_t>(-1 - child)];
    };
    for (std::size_t split = splits.size(); split-- > 0;) {
        auto& [left, right] = splits[split].branches;
        const double to_left = cover(left.child), to_right = cover(right.child);
        reached[split] = to_left + to_right;
        if (reached[split] == 0.0) continue;  // both fractions stay 1/2
        left.fraction = to_left / reached[split];
        right.fraction = to_right / reached[split];
    }
}

// Visits all paths and sets `above`, `z_above` and `z` of every split. `last` has the last branch on each feature;
// it is -1 before and after. Returns the maximum number of distinct features on a path.
std::size_t follow_paths(std::vector<Split>& splits, std::vector<std::int64_t>& last) {
    std::vector<std::int64_t> pending;  // branches to enter, and, as -1 - branch, branches to leave
    std::vector<std::size_t> distinct(splits.size());
    std::size_t most = 0;
    const auto arrive = [&](std::size_t index, std::size_t above_here) {
        Split& split = splits[index];
        split.above = last[split.feature];
        if (split.above >= 0) {
            const auto above = static_cast<std::size_t>(split.above);
            split.z_above = splits[above / 2].branches[above % 2].z;
        }
        for (Branch& branch : split.branches) branch.z = split.z_above * branch.fraction;
        distinct[index] = above_here + (split.above < 0);
        most = std::max(most, distinct[index]);
        for (std::size_t branch : {1, 0}) pending.push_back(static_cast<std::int64_t>(2 * index + branch));
    };
    if (!splits.empty()) arrive(0, 0);
    while (!pending.empty()) {
        const std::int64_t next = pending.back();
        pending.pop_back();
        const auto branch = static_cast<std::size_t>(next < 0 ? -1 - next : next);
        const Split& split = splits[branch / 2];
        const std::int32_t child = split.branches[branch % 2].child;
        if (next < 0) {
            last[split.feature] = split.above;
        } else if (child >= 0) {
            last[split.feature] = next;
            pending.push_back(-1 - next);
            arrive(static_cast<std::size_t>(child), distinct[branch / 2]);
        }
    }
    return most;
}

double expected_value(const std::vector<Split>& splits) {
    std::vector<double> reach(splits.size(), 1.0);
    double sum = 0.0;
    for (std::size_t split = 0; split < splits.size(); ++split)
        for (const Branch& branch : splits[split].branches) {
            const double fraction = reach[split] * branch.fraction;
            if (branch.child < 0)
                sum += fraction * branch.leaf_value;
            else
                reach[static_cast<std::size_t>(branch.child)] = fraction;
        }
    return sum;
}

Plan plan_of(const CoveredTrees& trees, std::size_t n_features) {
    Plan plan;
    std::vector<std::int64_t> last(n_features, -1);
    for (std::size_t tree = 0; tree + 1 < trees.splits.size(); ++tree) {
        const auto begin = static_cast<std::size_t>(trees.splits[tree]);
        const auto end = static_cast<std::size_t>(trees.splits[tree + 1]);
        const Doubles leaves = trees.leaf_value.subspan(begin + tree, end - begin + 1);
        if (begin == end) {
            plan.expected += leaves[0];
            continue;
        }
        std::vector<Split> splits = read_splits(trees, begin, end, leaves);
        set_fractions(splits, trees.cover.subspan(begin + tree, end - begin + 1));
        const std::size_t n_points = points_for(follow_paths(splits, last));
        std::vector<Point>& points = plan.quadratures[n_points];
        if (points.empty()) points = gauss_legendre(n_points);
        plan.expected += expected_value(splits);
        plan.most_splits = std::max(plan.most_splits, splits.size());
        plan.trees.push_back({std::move(splits), &points});
    }
    return plan;
}

// At a point t, the factor of feature i in the product is f_i = t o_i + (1 - t) z_i. A branch replaces the factor
// of the last branch on the same feature above it (1 if there is none), and adds the change of (o_i - z_i) / f_i
// times the sum over the leaves below. If o_i is 0, that quotient is -1 / (1 - t): nothing is divided by z, which
// may be 0.
//
// `goes` is for a document that has followed the path at all splits on the feature, including this one; `turns` is
// for one that leaves the path at this split. A document that left it earlier multiplies by the fraction and adds
// nothing.
struct BranchFactors {
    double goes, turns, fraction;
    double goes_change, turns_change;
};

BranchFactors factors(const Split& split, const Branch& branch, const Point& at) {
    const double old = at.t + at.rest * split.z_above, own = at.t + at.rest * branch.z;
    const double old_quotient = (1.0 - split.z_above) / old;
    return {own / old, at.rest * branch.z / old, branch.fraction, (1.0 - branch.z) / own - old_quotient,
            -1.0 / at.rest - old_quotient};
}

// A block of documents, and the intermediate results of one tree for them.
class Walk {
  public:
    Walk(const Plan& plan, std::size_t n_features, std::span<const float> rows)
        : rows_(rows),
          n_features_(n_features),
          n_(rows.size() / n_features),
          goes_(plan.most_splits),
          product_(plan.most_splits),
          factors_(plan.most_splits),
          sums_(n_features) {
        all_.fill(1.0);
    }

    void add(const Tree& tree) {
        choose_branches(tree.splits);
        for (const Point& point : *tree.points) {
            multiply_down(tree.splits, point);
            add_up(tree.splits);
        }
    }

    void write(double expected, std::span<double> contributions) const {
        for (std::size_t lane = 0; lane < n_; ++lane) {
            double* row = contributions.data() + lane * (n_features_ + 1);
            for (std::size_t feature = 0; feature < n_features_; ++feature) row[feature] = sums_[feature][lane];
            row[n_features_] = expected;
        }
    }

  private:
    // goes_[split][branch][lane] is o of the split's feature after that branch: 1 or 0.
    void choose_branches(const std::vector<Split>& splits) {
        for (std::size_t index = 0; index < splits.size(); ++index) {
            const Split& split = splits[index];
            const auto above = static_cast<std::size_t>(split.above);
            const Lanes& before = split.above < 0 ? all_ : goes_[above / 2][above % 2];
            auto& [goes_left, goes_right] = goes_[index];
            for (std::size_t lane = 0; lane < n_; ++lane) {
                const float x = rows_[lane * n_features_ + split.feature];
                const bool left = x != x              ? split.missing_left
                                  : split.set.empty() ? x <= split.threshold
                                                      : contains(split.set, split.threshold, x);
                goes_left[lane] = left ? before[lane] : 0.0;
                goes_right[lane] = before[lane] - goes_left[lane];
            }
        }
    }

    // A parent comes before its children.
    void multiply_down(const std::vector<Split>& splits, const Point& point) {
        product_[0].fill(point.weight);
        for (std::size_t index = 0; index < splits.size(); ++index)
            for (std::size_t side : {0, 1}) {
                const Branch& branch = splits[index].branches[side];
                factors_[index][side] = factors(splits[index], branch, point);
                if (branch.child >= 0) follow(index, side, 1.0, product_[static_cast<std::size_t>(branch.child)]);
            }
    }

    // Of three products two are zero: their sum selects without a conditional jump, so that the loop compiles to
    // SIMD instructions.
    void follow(std::size_t index, std::size_t side, double scale, Lanes& out) const {
        const BranchFactors by = factors_[index][side];
        const Lanes &in = product_[index], &goes = goes_[index][side], &turns = goes_[index][1 - side];
        for (std::size_t lane = 0; lane < n_; ++lane) {
            const double has_left = 1.0 - goes[lane] - turns[lane];
            out[lane] =
                scale * in[lane] * (goes[lane] * by.goes + turns[lane] * by.turns + has_left * by.fraction);
        }
    }

    // Replaces the product of each split by the sum over the leaves below it, from the last split to the first.
    void add_up(const std::vector<Split>& splits) {
        Lanes leaf[2];
        for (std::size_t index = splits.size(); index-- > 0;) {
            const Lanes* below[2];
            for (std::size_t side : {0, 1}) {
                const Branch& branch = splits[index].branches[side];
                if (branch.child < 0) follow(index, side, branch.leaf_value, leaf[side]);
                below[side] = branch.child < 0 ? &leaf[side] : &product_[static_cast<std::size_t>(branch.child)];
            }
            join(index, *below[0], *below[1], sums_[splits[index].feature]);
        }
    }

    void join(std::size_t index, const Lanes& from_left, const Lanes& from_right, Lanes& sums) {
        const auto [left, right] = factors_[index];
        const Lanes &goes_left = goes_[index][0], &goes_right = goes_[index][1];
        Lanes& both = product_[index];
        for (std::size_t lane = 0; lane < n_; ++lane) {
            const double change_left = goes_left[lane] * left.goes_change + goes_right[lane] * left.turns_change;
            const double change_right =
                goes_right[lane] * right.goes_change + goes_left[lane] * right.turns_change;
            sums[lane] += from_left[lane] * change_left + from_right[lane] * change_right;
            both[lane] = from_left[lane] + from_right[lane];
        }
    }

    std::span<const float> rows_;
    std::size_t n_features_, n_;
    Lanes all_;  // ones: before any split every document has followed the path
    std::vector<std::array<Lanes, 2>> goes_;
    std::vector<Lanes> product_;
    std::vector<std::array<BranchFactors, 2>> factors_;
    std::vector<Lanes> sums_;  // one per feature
};

}  // namespace

void tree_contributions(const CoveredTrees& trees, std::span<const float> values, std::size_t n_features,
                        int n_threads, std::span<double> contributions) {
    if (values.empty()) return;
    const Plan plan = plan_of(trees, n_features);
    parallel_ranges(values.size() / n_features, kBlock, n_threads, [&](std::size_t begin, std::size_t end) {
        Walk walk(plan, n_features, values.subspan(begin * n_features, (end - begin) * n_features));
        for (const Tree& tree : plan.trees) walk.add(tree);
        walk.write(plan.expected,
                   contributions.subspan(begin * (n_features + 1), (end - begin) * (n_features + 1)));
    });
}

}  // namespace rankwright
