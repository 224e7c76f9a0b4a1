#include "networks/network.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "simd/kernels.hpp"
#include "threads/parallel_for.hpp"

namespace rankwright {
namespace {

constexpr std::size_t kRowsPerChunk = 1024;

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

// The activations of all units for one row, and the derivatives of its score by each of them.
class Pass {
  public:
    explicit Pass(const Network& network)
        : network_(network), layers_(layers_of(network.widths)), activations_(n_activations()) {}

    double score(const float* row) {
        for (std::size_t feature = 0; feature < network_.missing.size(); ++feature)
            activations_[feature] =
                std::isnan(row[feature]) ? network_.missing[feature] : static_cast<double>(row[feature]);
        for (const Layer& layer : layers_) activate(layer, &layer == &layers_.back());
        return activations_.back();
    }

    // Adds the slope of the row of the last call of score().
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

    void activate(const Layer& layer, bool last) {
        const double* inputs = &activations_[layer.inputs];
        const double* weights = &network_.parameters[layer.weights];
        double* units = &activations_[layer.units];
        std::copy_n(&network_.parameters[layer.biases], layer.n_units, units);
        weigh_inputs(inputs, static_cast<std::int64_t>(layer.n_inputs), weights,
                     static_cast<std::int64_t>(layer.n_units), units, path_);
        if (!last) std::transform(units, units + layer.n_units, units, [](double x) { return std::tanh(x); });
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
        Pass pass(network);
        for (std::size_t row = first; row < last; ++row)
            scores[row] = pass.score(&values[row * network.widths.front()]);
    });
}

void network_slope(const Network& network, std::span<const float> values, std::span<const double> pull,
                   std::span<double> slope) {
    std::fill(slope.begin(), slope.end(), 0.0);
    Pass pass(network);
    for (std::size_t row = 0; row < pull.size(); ++row) {
        pass.score(&values[row * network.widths.front()]);
        pass.add_slope(pull[row], slope);
    }
}

}  // namespace rankwright
