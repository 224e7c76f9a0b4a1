#include "simd/kernels.hpp"

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

// The numbers of neighbouring units. GCC ignores a size that depends on a template's argument.
using Units2 = double __attribute__((vector_size(16)));
using Units4 = double __attribute__((vector_size(32)));
using Units8 = double __attribute__((vector_size(64)));

template <class Units>
constexpr std::int64_t kUnits = sizeof(Units) / sizeof(double);

template <class Units>
Units load(const double* from) {
    Units units;
    __builtin_memcpy(&units, from, sizeof units);
    return units;
}

// The sums of neighbouring units stay in registers; each is summed in the order of the inputs.
template <class Units>
void weigh(const double* inputs, std::int64_t n_inputs, const double* weights, std::int64_t n_units,
           std::int64_t& unit, double* units) {
    for (; unit + kUnits<Units> <= n_units; unit += kUnits<Units>) {
        Units sums = load<Units>(units + unit);
        for (std::int64_t input = 0; input < n_inputs; ++input)
            sums += inputs[input] * load<Units>(weights + input * n_units + unit);
        __builtin_memcpy(units + unit, &sums, sizeof sums);
    }
}

template <class Units>
void add(const double* inputs, std::int64_t n_inputs, const double* pulls, std::int64_t n_units,
         std::int64_t& unit, double* sums) {
    for (; unit + kUnits<Units> <= n_units; unit += kUnits<Units>) {
        const Units pull = load<Units>(pulls + unit);
        for (std::int64_t input = 0; input < n_inputs; ++input) {
            double* const target = sums + input * n_units + unit;
            const Units sum = load<Units>(target) + inputs[input] * pull;
            __builtin_memcpy(target, &sum, sizeof sum);
        }
    }
}

}  // namespace

void weigh_inputs(const double* inputs, std::int64_t n_inputs, const double* weights, std::int64_t n_units,
                  double* units) {
    std::int64_t unit = 0;
    weigh<Units8>(inputs, n_inputs, weights, n_units, unit, units);
    weigh<Units4>(inputs, n_inputs, weights, n_units, unit, units);
    weigh<Units2>(inputs, n_inputs, weights, n_units, unit, units);
    weigh<double>(inputs, n_inputs, weights, n_units, unit, units);
}

void add_products(const double* inputs, std::int64_t n_inputs, const double* pulls, std::int64_t n_units,
                  double* sums) {
    if (n_units == 1) {  // sums of neighbouring inputs are adjacent, and side by side in registers
        const double pull = pulls[0];
        for (std::int64_t input = 0; input < n_inputs; ++input) sums[input] += inputs[input] * pull;
        return;
    }
    std::int64_t unit = 0;
    add<Units8>(inputs, n_inputs, pulls, n_units, unit, sums);
    add<Units4>(inputs, n_inputs, pulls, n_units, unit, sums);
    add<Units2>(inputs, n_inputs, pulls, n_units, unit, sums);
    add<double>(inputs, n_inputs, pulls, n_units, unit, sums);
}

}  // namespace rankwright::RANKWRIGHT_SIMD_PATH
