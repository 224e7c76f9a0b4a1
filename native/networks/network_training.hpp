// Training a network of networks/network.hpp by one step of gradient descent per query.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "networks/network.hpp"
#include "networks/query_loss.hpp"

namespace rankwright {

// The state of Adam (Kingma & Ba 2015). Step t, with the slope of the query's scores along the pull of its loss:
//
//   mean        += .1   (slope - mean)
//   mean_square += .001 (slope^2 - mean_square)
//   parameters  += learning_rate x mean / (1 - .9^t) / (sqrt(mean_square / (1 - .999^t)) + 1e-8)
//
// If `mean` and `mean_square` are empty, the step is plain gradient descent: parameters += learning_rate x slope.
struct Adam {
    double learning_rate;
    std::span<double> parameters, mean, mean_square;
    std::int64_t n_steps;  // so far
};

// Documents in the order of queries: query q has rows [offsets[q], offsets[q + 1]) of `values` and `weights`.
struct TrainingQueries {
    Offsets offsets;
    std::span<const float> values;
    Doubles weights;  // factors of the pull, one per row, or none: all 1
};

// Makes one step for each of `queries`, in this order, on one thread: each step starts from where the last one
// ended. Returns false, and stops, once a score is no longer finite. `missing` is as in networks/network.hpp.
bool train_network(std::span<const std::size_t> widths, Doubles missing, const TrainingQueries& data, Rows queries,
                   const QueryPull& pull, Adam& adam);

}  // namespace rankwright
