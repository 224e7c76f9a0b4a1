// Smoothed DCG, the objective of SmoothGrad (Chapelle & Wu 2010): the gain at a rank is a weighted mean over
// documents with close scores.
#pragma once
#include <span>

#include "queries/ranking.hpp"

namespace rankwright {

// Overwrites values[query] with
//
//   sum over ranks t = 1, 2, ... of discount(t) x (sum over i of gain_i closeness(i, j_t)) / (sum over i of
//   closeness(i, j_t)),
//   closeness(i, j) = exp(-(score_i - score_j)^2 / sigma),  discount(t) = 1 / log2(1 + t),
//
// where j_t is the document at rank t. Closeness below exp(-40) is taken as 0. Query q has the rows offsets[q] to
// offsets[q + 1] - 1; there is one score and one gain per row, and one value per query. The order of equal scores
// does not matter.
void smooth_dcg(Offsets offsets, Doubles scores, Doubles gains, double sigma, int n_threads,
                std::span<double> values);

}  // namespace rankwright
