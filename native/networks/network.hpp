// Small feed-forward networks: scores of rows, and derivatives of scores by the parameters.
//
// Layer l has widths[l] inputs and widths[l + 1] units; widths starts with the number of features and ends with 1.
// `parameters` has the weights of the first layer, one row per input, then its biases, then the next layer.
//
//   unit u of a hidden layer  =  tanh(bias_u + sum over inputs i, in order, of input_i x weight_iu)
//   score                     =  the same of the last layer, without tanh
//
// `values` has one row of widths[0] features per document; NaN is replaced by missing[feature].
#pragma once
#include <cstddef>
#include <span>

namespace rankwright {

struct Network {
    std::span<const std::size_t> widths;
    std::span<const double> parameters;
    std::span<const double> missing;
};

// One score per row. The score of a row depends neither on other rows nor on n_threads.
void network_scores(const Network& network, std::span<const float> values, int n_threads,
                    std::span<double> scores);

// slope[p] = sum over rows, in order, of pull[row] x the derivative of its score by parameter p. Uses one thread,
// because a training step has few rows.
void network_slope(const Network& network, std::span<const float> values, std::span<const double> pull,
                   std::span<double> slope);

}  // namespace rankwright
