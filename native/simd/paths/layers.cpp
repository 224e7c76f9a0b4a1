#include "simd/kernels.hpp"

namespace rankwright::RANKWRIGHT_SIMD_PATH {
namespace {

// The numbers of neighbouring units.
template <std::int64_t kUnits>
struct Units {
    using Numbers = double __attribute__((vector_size(8 * kUnits)));

    explicit Units(const double* from) { __builtin_memcpy(&numbers, from, sizeof numbers); }
    void store(double* to) const { __builtin_memcpy(to, &numbers, sizeof numbers); }

    Numbers numbers;
};

// The sums of neighbouring units stay in registers; each is summed in the order of the inputs.
template <std::int64_t kUnits>
void weigh(const double* inputs, std::int64_t n_inputs, const double* weights, std::int64_t n_units,
           std::int64_t& unit, double* units) {
    for (; unit + kUnits <= n_units; unit += kUnits) {
        Units<kUnits> sums(units + unit);
        for (std::int64_t input = 0; input < n_inputs; ++input)
            sums.numbers += inputs[input] * Units<kUnits>(weights + input * n_units + unit).numbers;
        sums.store(units + unit);
    }
}

template <std::int64_t kUnits>
void add(const double* inputs, std::int64_t n_inputs, const double* pulls, std::int64_t n_units,
         std::int64_t& unit, double* sums) {
    for (; unit + kUnits <= n_units; unit += kUnits) {
        const Units<kUnits> pull(pulls + unit);
        for (std::int64_t input = 0; input < n_inputs; ++input) {
            double* const target = sums + input * n_units + unit;
            Units<kUnits> sum(target);
            sum.numbers += inputs[input] * pull.numbers;
            sum.store(target);
        }
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
