// The negative log-likelihood of classes whose probabilities are proportional to a sigmoid of their scores.
#pragma once
#include <cstdint>
#include <span>

#include "queries/ranking.hpp"

namespace rankwright {

struct Sigmoid {
    double slope, middle;
};

struct ScoredClasses {
    Doubles scores;                     // n_classes x n_documents
    std::span<const std::int64_t> own;  // the class of each document
};

// Overwrites losses[i] with
//
//   - sum over documents of log(s(own) / sum over classes k of s(k)),
//   s(k) = 1 / (1 + exp(-slope (score_k - middle)))
//
// for sigmoid i. Slopes are positive, and slope x (score - middle) is finite.
void log_sigmoid_losses(const ScoredClasses& classes, std::span<const Sigmoid> sigmoids, std::span<double> losses);

}  // namespace rankwright
