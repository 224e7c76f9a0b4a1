// Pairwise gradients of neighbours in random orders (YetiRank: Gulin, Kuralenok & Pavlov 2011).
//
// The documents of a query are put in order by sigma x score + noise, where the noise has the standard logistic
// distribution, `n_orders` times; scores more than 80 / sigma below the best one count as 80 / sigma below it. Two
// documents i, j with label_i > label_j that are neighbours in such an order, at ranks r and r + 1 (from 1), add
//
//   weight = scale (label_i - label_j) / (n_orders log2(r + 1))
//   rho    = 1 / (1 + exp(sigma (score_i - score_j)))
//   gradient_i += weight rho        gradient_j -= weight rho        (positive: the score should rise)
//   hessian_i, hessian_j += weight sigma rho (1 - rho)
//
// of the scores without noise. The query's sums are multiplied by its weight. `truncation` and `normalise` are not
// used. The noise is a function of the seed and of the query's scores and labels (rounded to 1/1024), best
// document first: no state is kept, and it changes with the scores from round to round. One thread owns one query,
// so the result does not depend on n_threads. Memory is linear in the longest query.
#pragma once
#include <cstdint>

#include "pairs/lambdas.hpp"

namespace rankwright {

struct RandomOrders {
    double scale;
    std::int32_t n_orders;
    std::uint64_t seed;
};

void neighbour_lambdas(const PairLoss& loss, const RandomOrders& orders, int n_threads, Lambdas lambdas);

}  // namespace rankwright
