// What each feature adds to a document's score: Shapley values of an ensemble of trees, with the documents that
// reached each leaf in training as the background ("path-dependent", Lundberg, Erion & Lee 2018).
//
// Take a leaf of value v and the distinct features D that are split on along its path. For a feature i of D let
// z_i be the share of documents that went the path's way at all of its splits, and o_i be 1 if this document goes
// that way at all of them, or else 0. Then the leaf adds to feature i
//
//   v (o_i - z_i)  integral over t from 0 to 1 of  product over j in D, j != i, of (t o_j + (1 - t) z_j)
//
// since the integral of t^s (1 - t)^(n - 1 - s) is Shapley's weight s! (n - 1 - s)! / n!. The integrand is a
// polynomial of degree |D| - 1, so that Gauss-Legendre quadrature with |D| / 2 points is exact. The sums are those
// of the paper's Algorithm 2, without its subtractions of nearly equal numbers, and at each point one pass down
// the splits and one pass up serve all leaves together: no recursion, time linear in the splits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "rankwright/flat_trees.hpp"

namespace rankwright {

struct CoveredTrees : FlatTrees {
    Doubles cover;  // training documents in each leaf
};

// Row r of `values` holds n_features numbers, row r of `contributions` one more: the expected score, before the
// document is known, comes last, and a row's sum is its score. The share of documents that go left is their share
// of the covers; where both are 0, a half. Memory: about 800 bytes for each split of the largest tree, and thread.
// A document's numbers depend neither on n_threads nor on the documents beside it.
void tree_contributions(const CoveredTrees& trees, std::span<const float> values, std::size_t n_features,
                        int n_threads, std::span<double> contributions);

}  // namespace rankwright
