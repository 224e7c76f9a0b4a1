// Losses of one query at a time, for methods that make one training step per query.
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "pairs/lambdas.hpp"
#include "queries/ranking.hpp"

namespace rankwright {

// Overwrites `pull`, for each document of a query in order, with the negative derivative of the query's loss by
// the document's score: how far, and which way, the score should move. Scores are finite.
using QueryPull = std::function<void(std::size_t query, Doubles scores, std::span<double> pull)>;

// probabilities[i] = exp(values[i]) / sum over j, in order, of exp(values[j]); no value is too large.
void softmax(Doubles values, std::span<double> probabilities);

// Of the cross entropy of ListNet (Cao, Qin, Liu, Tsai & Li 2007): target - softmax(scores).
void cross_entropy_pull(Doubles target, Doubles scores, std::span<double> pull);

// Adds the pairs of the only query of `loss`, whose rows are numbered from 0, to `lambdas`.
using QueryLambdas = std::function<void(const PairLoss& loss, Lambdas lambdas)>;

// The gradient of pairs/lambdas.hpp for one query. `loss` has the query's labels, its weight if there are any, and
// the options; its order and scores are ignored.
void lambda_pull(PairLoss loss, Doubles scores, const QueryLambdas& lambdas, std::span<double> pull);

}  // namespace rankwright
