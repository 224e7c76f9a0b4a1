#include "networks/query_loss.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rankwright {

void softmax(Doubles values, std::span<double> chances) {
    const double most = *std::max_element(values.begin(), values.end());
    double sum = 0.0;
    for (std::size_t place = 0; place < values.size(); ++place)
        sum += chances[place] = std::exp(values[place] - most);
    for (double& chance : chances) chance /= sum;
}

void cross_entropy_pull(Doubles wanted, Doubles scores, std::span<double> pull) {
    softmax(scores, pull);
    for (std::size_t place = 0; place < pull.size(); ++place) pull[place] = wanted[place] - pull[place];
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
