#include "networks/network_training.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rankwright {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;

void step(Adam& adam, Doubles slope) {
    ++adam.n_steps;
    if (adam.mean.empty()) {
        for (std::size_t parameter = 0; parameter < slope.size(); ++parameter)
            adam.parameters[parameter] += adam.learning_rate * slope[parameter];
        return;
    }
    const auto steps = static_cast<double>(adam.n_steps);
    const double mean_correction = 1.0 - std::pow(kBeta1, steps);
    const double square_correction = 1.0 - std::pow(kBeta2, steps);
    for (std::size_t parameter = 0; parameter < slope.size(); ++parameter) {
        double& mean = adam.mean[parameter];
        double& square = adam.mean_square[parameter];
        mean += (1.0 - kBeta1) * (slope[parameter] - mean);
        square += (1.0 - kBeta2) * (slope[parameter] * slope[parameter] - square);
        const double spread = std::sqrt(square / square_correction);
        adam.parameters[parameter] += adam.learning_rate * (mean / mean_correction) / (spread + kEpsilon);
    }
}

}  // namespace

bool train_network(std::span<const std::size_t> widths, Doubles missing, const TrainingQueries& data, Rows queries,
                   const QueryPull& pull, Adam& adam) {
    std::vector<double> scores, pulls, slope(adam.parameters.size());
    const Network network{widths, adam.parameters, missing};
    for (std::int64_t query : queries) {
        const auto number = static_cast<std::size_t>(query);
        const auto begin = static_cast<std::size_t>(data.offsets[number]);
        const std::size_t n_rows = static_cast<std::size_t>(data.offsets[number + 1]) - begin;
        const auto values = data.values.subspan(begin * widths.front(), n_rows * widths.front());
        scores.resize(n_rows);
        pulls.resize(n_rows);
        network_scores(network, values, 1, scores);
        if (!std::all_of(scores.begin(), scores.end(), [](double score) { return std::isfinite(score); }))
            return false;
        pull(number, scores, pulls);
        for (std::size_t row = 0; row < n_rows && !data.weights.empty(); ++row)
            pulls[row] *= data.weights[begin + row];
        network_slope(network, values, pulls, slope);
        step(adam, slope);
    }
    return true;
}

}  // namespace rankwright
