// Small feed-forward networks: the scores of rows, and the slope of scores along the parameters.
//
// Layer l has widths[l] inputs and widths[l + 1] units; widths starts with the number of features and ends with 1.
// Its weights lie in `parameters` as a row for each input, then its biases; then comes the next layer.
//
//   unit u of a hidden layer  =  tanh(bias_u + sum over inputs i, in order, of input_i x weight_iu)
//   score                     =  the same of the last layer, without tanh
//
// `values` has a row of widths[0] features a document; NaN counts as missing[feature].
#pragma once
#include <cstddef>
#include <span>

namespace rankwright {

struct Network {
    std::span<const std::size_t> widths;
    std::span<const double> parameters;
    std::span<const double> missing;
};

// One a row. A row's score depends on no other row, so neither on n_threads.
void network_scores(const Network& network, std::span<const float> values, int n_threads,
                    std::span<double> scores);

// slope[p] = sum over rows, in order, of pull[row] x the derivative of its score by parameter p. On one thread: a
// step of training takes few rows.
void network_slope(const Network& network, std::span<const float> values, std::span<const double> pull,
                   std::span<double> slope);

}  // namespace rankwright
