// The contribution of each feature to a document's score: Shapley values of an ensemble of trees, with the
// training documents in each leaf as the background ("path-dependent", Lundberg, Erion & Lee 2018).
//
// Take a leaf of value v and the set D of distinct features that are split on along its path. For a feature i of D
// let z_i be the fraction of training documents that follow the path at all splits on i, and o_i be 1 if this
// document follows the path at all of them, otherwise 0. Then the leaf adds to feature i
//
//   v (o_i - z_i)  integral over t from 0 to 1 of  product over j in D, j != i, of (t o_j + (1 - t) z_j)
//
// since the integral of t^s (1 - t)^(n - 1 - s) is Shapley's weight s! (n - 1 - s)! / n!. The integrand is a
// polynomial of degree |D| - 1, so that Gauss-Legendre quadrature with |D| / 2 points is exact. The sums are those
// of the paper's Algorithm 2, without its subtractions of nearly equal numbers. At each point, one pass down the
// splits and one pass up serve all leaves together: no recursion, time linear in the number of splits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "scoring/flat_trees.hpp"

namespace rankwright {

struct CoveredTrees : FlatTrees {
    Doubles cover;  // number of training documents in each leaf
};

// Row r of `values` has n_features numbers, row r of `contributions` one more: the last one is the expected score,
// and the sum of a row is the score of the document. The fraction of documents that go left is computed from the
// covers; if the covers of both sides are 0, it is 1/2. Memory: about 800 bytes per thread for each split of the
// largest tree. The contributions of a document depend neither on n_threads nor on the other documents.
void tree_contributions(const CoveredTrees& trees, std::span<const float> values, std::size_t n_features,
                        int n_threads, std::span<double> contributions);

}  // namespace rankwright
