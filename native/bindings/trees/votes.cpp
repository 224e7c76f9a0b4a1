#include <algorithm>
#include <cmath>

#include "bindings/arguments/arrays.hpp"
#include "bindings/trees/following.hpp"
#include "bindings/trees/tree_arrays.hpp"
#include "bindings/trees/workspace.hpp"
#include "trees/hamming_tree.hpp"
#include "trees/product.hpp"
#include "trees/vote_rounds.hpp"

namespace rankwright::bindings {
namespace {

constexpr std::int32_t kMostTerms = 16;  // a product has up to 2^terms cells

Doubles numbers_of(const Matrix<double>& matrix) { return {matrix.data(), matrix.size()}; }

// A kind of weak classifier and its size, checked.
struct Shape {
    VoteLearner fit;
    std::int32_t size;
};

Shape tree_of(std::int32_t max_leaves) {
    require(max_leaves >= 1, "max_leaves must be at least 1");
    return {&grow_hamming_tree, max_leaves};
}

Shape product_of(std::int32_t max_terms) {
    require(1 <= max_terms && max_terms <= kMostTerms, "max_terms must be from 1 to 16");
    return {&fit_product, max_terms};
}

nb::tuple arrays_of(const VoteTree& tree, std::size_t n_classes) {
    Output<double, 2> votes({tree.cover.size(), n_classes});
    std::copy(tree.votes.begin(), tree.votes.end(), votes.span().begin());
    return nb::make_tuple(shape_arrays(tree), votes.numpy());
}

nb::tuple fitted(const Shape& shape, const BinnedMatrix& binned, const Matrix<double>& signed_weights,
                 bool opposite, int n_threads, GuardedWorkspace& workspace) {
    const std::size_t n_classes = signed_weights.shape(0);
    const Doubles weights = numbers_of(signed_weights);
    require_numbers(binned);
    require(signed_weights.shape(1) == binned.n_rows && n_classes >= 1,
            "there must be one row of weights per class, one column per document");
    require(binned.n_rows >= 1 && binned.n_features >= 1, "there must be documents and features");
    double total = 0.0;
    for (const double weight : weights) total += std::abs(weight);
    require(total - total == 0.0, "weights must be finite, and so must their sum");
    Output<double, 2> outputs({n_classes, binned.n_rows});
    const VoteTree tree = grow_alone(workspace, [&] {
        return shape.fit(binned, {weights, n_classes, opposite}, shape.size, n_threads, workspace, outputs.span());
    });
    const nb::tuple arrays = arrays_of(tree, n_classes);
    return nb::make_tuple(arrays[0], arrays[1], outputs.numpy());
}

// The rule as an object of Python: checked when it is made.
class BoundVoteRule {
  public:
    BoundVoteRule(const Matrix<double>& targets, const Matrix<double>& weights, double learning_rate)
        : n_classes(targets.shape(0)),
          n_rows(targets.shape(1)),
          targets_(targets),
          weights_(weights),
          learning_rate_(learning_rate) {
        require(n_classes >= 1 && n_rows >= 1, "there must be classes and documents");
        require(weights.shape(0) == n_classes && weights.shape(1) == n_rows,
                "there must be one weight per target");
        for (const double target : numbers_of(targets))
            require(std::abs(target) == 1.0, "targets must be 1 or -1");
        for (const double weight : numbers_of(weights))
            require(weight >= 0.0 && weight <= 1.0, "weights must be from 0 to 1");
        require(learning_rate > 0.0 && learning_rate - learning_rate == 0.0,
                "the learning rate must be finite and above 0");
    }

    VoteRule rule() const { return {numbers_of(targets_), numbers_of(weights_), learning_rate_}; }

    Doubles checked_scores(const Matrix<double>& scores) const {
        require(scores.shape(0) == n_classes && scores.shape(1) == n_rows && all_finite(numbers_of(scores)),
                "there must be one finite score per class and document");
        return numbers_of(scores);
    }

    const std::size_t n_classes, n_rows;

  private:
    Matrix<double> targets_, weights_;
    double learning_rate_;
};

auto weights_at(const BoundVoteRule& rule, Matrix<double> scores) {
    const Doubles checked = rule.checked_scores(scores);
    Output<double, 2> weights({rule.n_classes, rule.n_rows});
    {
        nb::gil_scoped_release release;
        class_weights(rule.rule(), checked, weights.span());
    }
    return weights.numpy();
}

double edge(Matrix<double> signed_weights, Matrix<double> votes) {
    require(signed_weights.shape(0) == votes.shape(0) && signed_weights.shape(1) == votes.shape(1),
            "there must be one vote per weight");
    return edge_of_votes(numbers_of(signed_weights), numbers_of(votes));
}

// Returns the arrays and the votes of each tree, the steps, the scores after each round, the outputs of each tree
// for the documents that follow, and why it ended.
nb::tuple boosted(const Shape& shape, const BinnedMatrix& binned, const BoundVoteRule& rule,
                  const Matrix<double>& scores, std::size_t n_rounds, bool opposite,
                  const Matrix<float>& following, const Array<std::int64_t>& sources, int n_threads,
                  GuardedWorkspace& workspace) {
    require_numbers(binned);
    require(rule.n_rows == binned.n_rows && binned.n_features >= 1,
            "the rule and the matrix must have the same rows, and there must be features");
    const Doubles start = rule.checked_scores(scores);
    const FollowingDocuments documents = checked_following(following, sources, binned.n_features);
    Output<double, 3> sums({n_rounds, rule.n_classes, rule.n_rows});
    Output<double, 3> outputs({n_rounds, rule.n_classes, documents.size()});
    VoteResults results{{}, {}, sums.span(), outputs.span()};
    const VoteRounds rounds{binned, rule.rule(), rule.n_classes, shape.fit, shape.size, opposite, n_threads};
    const RoundsEnd end =
        grow_alone(workspace, [&] { return boost_votes(rounds, start, n_rounds, documents, workspace, results); });
    nb::list trees;
    for (const VoteTree& tree : results.trees) trees.append(arrays_of(tree, rule.n_classes));
    return nb::make_tuple(trees, to_numpy(results.steps), sums.first(results.trees.size()),
                          outputs.first(results.trees.size()), static_cast<int>(end));
}

template <Shape (*shape_of)(std::int32_t)>
nb::tuple fitted_as(const BinnedMatrix& binned, Matrix<double> signed_weights, bool opposite, std::int32_t size,
                    int n_threads, GuardedWorkspace& workspace) {
    return fitted(shape_of(size), binned, signed_weights, opposite, n_threads, workspace);
}

template <Shape (*shape_of)(std::int32_t)>
nb::tuple boosted_as(const BinnedMatrix& binned, const BoundVoteRule& rule, Matrix<double> scores,
                     std::size_t n_rounds, bool opposite, std::int32_t size, Matrix<float> following,
                     Array<std::int64_t> sources, int n_threads, GuardedWorkspace& workspace) {
    return boosted(shape_of(size), binned, rule, scores, n_rounds, opposite, following, sources, n_threads,
                   workspace);
}

template <Shape (*shape_of)(std::int32_t)>
void bind_shape(nb::module_& m, const char* fit, const char* boost, const char* size) {
    m.def(fit, &fitted_as<shape_of>, nb::arg("binned"), nb::arg("signed_weights"), nb::arg("opposite"),
          nb::arg(size), nb::arg("n_threads"), nb::arg("workspace"));
    m.def(boost, &boosted_as<shape_of>, nb::arg("binned"), nb::arg("rule"), nb::arg("scores"), nb::arg("n_rounds"),
          nb::arg("opposite"), nb::arg(size), nb::arg("following"), nb::arg("sources"), nb::arg("n_threads"),
          nb::arg("workspace"));
}

}  // namespace

void bind_votes(nb::module_& m) {
    nb::class_<BoundVoteRule>(m, "VoteRule")
        .def(nb::init<const Matrix<double>&, const Matrix<double>&, double>(), nb::arg("targets"),
             nb::arg("weights"), nb::arg("learning_rate"))
        .def("signed_weights", &weights_at, nb::arg("scores"));
    m.def("edge_of_votes", &edge, nb::arg("signed_weights"), nb::arg("votes"));
    bind_shape<tree_of>(m, "grow_hamming_tree", "boost_hamming_trees", "max_leaves");
    bind_shape<product_of>(m, "fit_product", "boost_products", "max_terms");
}

}  // namespace rankwright::bindings
