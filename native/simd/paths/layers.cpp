#include "simd/kernels.hpp"

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

template <std::int64_t kUnits>
using Units = double __attribute__((vector_size(8 * kUnits), aligned(8), may_alias));

// The sums of neighbouring units stay in registers; each is summed in the order of the inputs.
template <std::int64_t kUnits>
void weigh(const double* inputs, std::int64_t n_inputs, const double* weights, std::int64_t n_units,
           std::int64_t& unit, double* units) {
    for (; unit + kUnits <= n_units; unit += kUnits) {
        auto& target = *reinterpret_cast<Units<kUnits>*>(units + unit);
        Units<kUnits> sums = target;
        for (std::int64_t input = 0; input < n_inputs; ++input)
            sums += inputs[input] * *reinterpret_cast<const Units<kUnits>*>(weights + input * n_units + unit);
        target = sums;
    }
}

template <std::int64_t kUnits>
void add(const double* inputs, std::int64_t n_inputs, const double* pulls, std::int64_t n_units,
         std::int64_t& unit, double* sums) {
    for (; unit + kUnits <= n_units; unit += kUnits) {
        const Units<kUnits> pull = *reinterpret_cast<const Units<kUnits>*>(pulls + unit);
        for (std::int64_t input = 0; input < n_inputs; ++input)
            *reinterpret_cast<Units<kUnits>*>(sums + input * n_units + unit) += inputs[input] * pull;
    }
}

}  // namespace

void weigh_inputs(const double* inputs, std::int64_t n_inputs, const double* weights, std::int64_t n_units,
                  double* units) {
    std::int64_t unit = 0;
    weigh<8>(inputs, n_inputs, weights, n_units, unit, units);
    weigh<4>(inputs, n_inputs, weights, n_units, unit, units);
    weigh<2>(inputs, n_inputs, weights, n_units, unit, units);
    weigh<1>(inputs, n_inputs, weights, n_units, unit, units);
}

void add_products(const double* inputs, std::int64_t n_inputs, const double* pulls, std::int64_t n_units,
                  double* sums) {
    std::int64_t unit = 0;
    add<8>(inputs, n_inputs, pulls, n_units, unit, sums);
    add<4>(inputs, n_inputs, pulls, n_units, unit, sums);
    add<2>(inputs, n_inputs, pulls, n_units, unit, sums);
    add<1>(inputs, n_inputs, pulls, n_units, unit, sums);
}

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
