#include "networks/query_loss.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rankwright {

void softmax(Doubles values, std::span<double> probabilities) {
    const double highest = *std::max_element(values.begin(), values.end());
    double sum = 0.0;
    for (std::size_t document = 0; document < values.size(); ++document)
        sum += probabilities[document] = std::exp(values[document] - highest);
    for (double& probability : probabilities) probability /= sum;
}

void cross_entropy_pull(Doubles target, Doubles scores, std::span<double> pull) {
    softmax(scores, pull);
    for (std::size_t document = 0; document < pull.size(); ++document)
        pull[document] = target[document] - pull[document];
}

void lambda_pull(PairLoss loss, Doubles scores, const QueryLambdas& lambdas, std::span<double> pull) {
    const std::size_t n = scores.size();
    const std::int64_t offsets[] = {0, static_cast<std::int64_t>(n)};
    std::vector<std::int64_t> rows(n), order(n);
    std::iota(rows.begin(), rows.end(), 0);
    bool tied[1];
    sort_within_queries(offsets, rows, scores, {}, 1, order, tied);
    std::vector<double> hessian(n);
    loss.queries = offsets;
    loss.order = order;
    loss.scores = scores;
    lambdas(loss, {pull, hessian});
}

}  // namespace rankwright
