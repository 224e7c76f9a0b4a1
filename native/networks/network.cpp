#include "networks/network.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "simd/kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kRowsPerChunk = 1024;
constexpr std::size_t kTogether = 8;

struct Layer {
    std::size_t n_inputs, n_units;
    std::size_t weights, biases;  // start in the parameters
    std::size_t inputs, units;    // start in a row's activations
};

std::vector<Layer> layers_of(std::span<const std::size_t> widths) {
    std::vector<Layer> layers;
    std::size_t parameter = 0, activation = 0;
    for (std::size_t index = 0; index + 1 < widths.size(); ++index) {
        const std::size_t n_inputs = widths[index], n_units = widths[index + 1];
        layers.push_back(
            {n_inputs, n_units, parameter, parameter + n_inputs * n_units, activation, activation + n_inputs});
        parameter += (n_inputs + 1) * n_units;
        activation += n_inputs;
    }
    return layers;
}

// The features of a row, with numbers for missing values.
void read(const Network& network, const float* row, double* features) {
    for (std::size_t feature = 0; feature < network.missing.size(); ++feature)
        features[feature] =
            std::isnan(row[feature]) ? network.missing[feature] : static_cast<double>(row[feature]);
}

// Scores rows by a network without hidden layers. An addition to a score waits for the one before it: the scores
// of other rows fill the wait.
template <std::size_t kRows>
void score_linear(const Network& network, const float* values, std::vector<double>& features, double* scores) {
    const std::size_t n = network.widths.front();
    features.resize(kRows * n);
    double sums[kRows];
    for (std::size_t row = 0; row < kRows; ++row) {
        read(network, values + row * n, features.data() + row * n);
        sums[row] = network.parameters[n];
    }
    for (std::size_t feature = 0; feature < n; ++feature)
#pragma GCC unroll 8
        for (std::size_t row = 0; row < kRows; ++row)
            sums[row] += features[row * n + feature] * network.parameters[feature];
    std::copy_n(sums, kRows, scores);
}

// The activations of all units for one row, and the derivatives of its score by each of them.
class Pass {
  public:
    explicit Pass(const Network& network)
        : network_(network), layers_(layers_of(network.widths)), activations_(n_activations()) {}

    double score(const float* row) {
        activate_inputs(row);
        activate(layers_.back());
        return activations_.back();
    }

    // The activations of all units but the last.
    void activate_inputs(const float* row) {
        read(network_, row, activations_.data());
        for (std::size_t index = 0; index + 1 < layers_.size(); ++index) {
            activate(layers_[index]);
            double* units = &activations_[layers_[index].units];
            std::transform(units, units + layers_[index].n_units, units, [](double x) { return std::tanh(x); });
        }
    }

    // Adds the slope of the row of the last call of activate_inputs().
    void add_slope(double pull, std::span<double> slope) {
        pulls_.resize(activations_.size());
        pulls_.back() = pull;
        for (std::size_t index = layers_.size(); index-- > 0;) {
            add_slope(layers_[index], slope);
            if (index > 0) pull_inputs(layers_[index]);
        }
    }

  private:
    std::size_t n_activations() const {
        std::size_t count = 0;
        for (std::size_t width : network_.widths) count += width;
        return count;
    }

    void activate(const Layer& layer) {
        const double* inputs = &activations_[layer.inputs];
        const double* weights = &network_.parameters[layer.weights];
        double* units = &activations_[layer.units];
        std::copy_n(&network_.parameters[layer.biases], layer.n_units, units);
        weigh_inputs(inputs, static_cast<std::int64_t>(layer.n_inputs), weights,
                     static_cast<std::int64_t>(layer.n_units), units, path_);
    }

    void add_slope(const Layer& layer, std::span<double> slope) const {
        const double* inputs = &activations_[layer.inputs];
        const double* pulls = &pulls_[layer.units];
        double* biases = &slope[layer.biases];
        add_products(inputs, static_cast<std::int64_t>(layer.n_inputs), pulls,
                     static_cast<std::int64_t>(layer.n_units), &slope[layer.weights], path_);
        for (std::size_t unit = 0; unit < layer.n_units; ++unit) biases[unit] += pulls[unit];
    }

    // Propagates from the units of a layer to its inputs, which are the units of a layer with tanh.
    void pull_inputs(const Layer& layer) {
        const double* weights = &network_.parameters[layer.weights];
        const double* pulls = &pulls_[layer.units];
        for (std::size_t input = 0; input < layer.n_inputs; ++input) {
            double sum = 0.0;
            for (std::size_t unit = 0; unit < layer.n_units; ++unit)
                sum += weights[input * layer.n_units + unit] * pulls[unit];
            const double output = activations_[layer.inputs + input];
            pulls_[layer.inputs + input] = sum * (1.0 - output * output);
        }
    }

    const Network& network_;
    const SimdPath path_ = widest_path();
    std::vector<Layer> layers_;
    std::vector<double> activations_, pulls_;
};

}  // namespace

void network_scores(const Network& network, std::span<const float> values, int n_threads,
                    std::span<double> scores) {
    parallel_ranges(scores.size(), kRowsPerChunk, n_threads, [&](std::size_t first, std::size_t last) {
        std::size_t row = first;
        std::vector<double> features;
        for (; network.widths.size() == 2 && row + kTogether <= last; row += kTogether)
            score_linear<kTogether>(network, &values[row * network.widths.front()], features, &scores[row]);
        for (Pass pass(network); row < last; ++row)
            scores[row] = pass.score(&values[row * network.widths.front()]);
    });
}

void network_slope(const Network& network, std::span<const float> values, std::span<const double> pull,
                   std::span<double> slope) {
    std::fill(slope.begin(), slope.end(), 0.0);
    Pass pass(network);
    for (std::size_t row = 0; row < pull.size(); ++row) {
        pass.activate_inputs(&values[row * network.widths.front()]);
        pass.add_slope(pull[row], slope);
    }
}

}  // namespace rankwright
