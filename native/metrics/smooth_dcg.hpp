// Smoothed DCG of SmoothGrad (Chapelle & Wu 2010).
#pragma once
#include <span>

#include "queries/ranking.hpp"

namespace rankwright {

// Overwrites values[query] with
//
//   sum over ranks t of discount(t) x (sum over i of gain_i near(i, j_t)) / (sum over i of near(i, j_t)),
//   near(i, j) = exp(-(score_i - score_j)^2 / sigma),  discount(t) = 1 / log2(1 + t),
//
// where j_t is the document at rank t. Documents with near below exp(-40) are left out. Query q has the rows
// offsets[q] to offsets[q + 1] - 1; there is one score and one gain per row. The order of equal scores does not
// matter.
void smooth_dcg(Offsets offsets, Doubles scores, Doubles gains, double sigma, int n_threads,
                std::span<double> values);

}  // namespace rankwright
